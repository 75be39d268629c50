"""Recursive halving and doubling, and trees of doubling distance (PAT).

Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
IJHPCA 2005. Few steps, all bytes of a ring; but partners at a distance need a network that is
not tapered. gloo has it for all-reduce; NCCL does not.
"""

from __future__ import annotations

from artery.collective.groups import Groups
from artery.collective.tree import tree_depth
from artery.collective.work import Work
from artery.core.pricing import Collective


def halving_doubling(groups: Groups, collective: Collective) -> Work:
    """Return the work of recursive halving (reduce-scatter) and doubling (all-gather).

    log2 n steps each, rounded up (a group that is no power of two first folds its excess, one
    more step); 2(n-1)/n of the size per chip for all-reduce. Exchanges between nodes come after
    those inside, each chip with 1/m of the data: 2(k-1)/k of the size per node.
    """
    m, k = groups.fullest, groups.nodes
    rounds = 2.0 if collective == "all_reduce" else 1.0
    inner = rounds * (m - 1) / m
    outer = rounds * (k - 1) / k
    return Work(
        inner_steps=rounds * tree_depth(m),
        outer_steps=rounds * tree_depth(k),
        inner_bytes=inner,
        outer_bytes=outer,
        inner_seconds=inner / groups.inner_rate,
        outer_seconds=outer / groups.node_rate,
    )


def pat(groups: Groups, collective: Collective) -> Work:
    """Return the work of NCCL's PAT (parallel aggregated trees, 2.23) on one chip per node.

    Bruck's pattern reversed, buffers bounded: log2 n steps, (n-1)/n of the size per chip
    (Jeaugey, "PAT: a new algorithm for all-gather and reduce-scatter operations at scale",
    2025).
    """
    return halving_doubling(groups, collective)
