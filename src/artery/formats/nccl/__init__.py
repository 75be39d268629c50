"""NCCL and RCCL: their logs, their graphs, and the tables of nccl-tests."""
