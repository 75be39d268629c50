"""Benchmarks of message passing: MPI's and UCX's."""
