"""Fleets: how often nodes fail, what a restart and a checkpoint cost, and what that leaves.

``failures``: published rates. ``failure_model``: those of one system, by cause. ``recovery``: the
parts of a restart. ``checkpoints``: tiers and their costs. ``intervals``: Young, Daly, the complete
model. ``goodput``: the share of time that trains. ``spares``: nodes to keep, nines. ``machine``:
how a job goes on after a failure, as a pure state machine.
"""
