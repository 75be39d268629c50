"""Recursive halving and doubling, and trees of doubling distance (PAT).

Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
IJHPCA 2005. Few steps, all bytes of a ring; but partners at a distance need a network that is
not tapered. gloo has it for all-reduce; NCCL does not.
"""

from __future__ import annotations

import numpy as np

from artery.collective.arrays import Floats
from artery.collective.groups import Groups
from artery.collective.tree import tree_depth
from artery.collective.work import Work
from artery.core.pricing import Collective


def halving_doubling(groups: Groups, collective: Collective) -> Work:
    """Return the work of recursive halving (reduce-scatter) and doubling (all-gather).

    log2 n steps each and 2(n-1)/n of the size per chip for all-reduce. A group that is no power
    of two first folds its excess onto the rest and hands it the result at last: log2 of the
    largest power of two p in n and two steps more; the chips that stand in for others send
    2(p-1)/p + 1 of the size (all-gather and reduce-scatter: up to 2(n-1)/n). Exchanges between
    nodes come after those inside, each chip with 1/m of the data: 2(k-1)/k of the size per node.
    Where neither chips per node nor nodes are powers of two, each is taken to fold by itself.
    """
    rounds = 2.0 if collective == "all_reduce" else 1.0
    inner_steps, inner = _folded(groups.fullest, rounds)
    outer_steps, outer = _folded(groups.nodes, rounds)
    return Work(
        inner_steps=inner_steps,
        outer_steps=outer_steps,
        inner_bytes=inner,
        outer_bytes=outer,
        inner_seconds=inner / groups.inner_rate,
        outer_seconds=outer / groups.apart_rate,
    )


def _folded(n: Floats, rounds: float) -> tuple[Floats, Floats]:
    """Return steps, and bytes per byte of size, of one or two rounds over ``n`` members."""
    members = np.maximum(n, 1.0)
    levels = np.floor(np.log2(members))
    excess = members > 2.0**levels
    core = np.where(excess & (rounds > 1), 2.0**levels, members)
    handed = np.where(rounds > 1, 1.0, (members - 1) / members)
    steps = rounds * levels + np.where(excess, 2.0, 0.0)
    share = rounds * (core - 1) / core + np.where(excess, handed, 0.0)
    return np.asarray(steps), np.asarray(share)


def pat(groups: Groups, collective: Collective) -> Work:  # noqa: ARG001 - one shape for both
    """Return the work of NCCL's PAT (parallel aggregated trees, 2.23) on one chip per node.

    Bruck's pattern reversed, buffers bounded: log2 n steps, rounded up, (n-1)/n of the size per
    chip (Jeaugey, "PAT: a new algorithm for all-gather and reduce-scatter operations at scale",
    2025).
    """
    k = groups.nodes
    nothing = np.zeros_like(k)
    share = (k - 1) / k
    return Work(nothing, tree_depth(k), nothing, share, nothing, share / groups.apart_rate)
