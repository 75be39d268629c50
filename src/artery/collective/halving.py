"""Recursive halving and doubling, and trees of doubling distance (PAT).

Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
IJHPCA 2005. Few steps, all bytes of a ring; but partners at a distance need a network that is
not tapered. gloo has it for all-reduce; NCCL does not.
"""

from __future__ import annotations

import numpy as np

from artery.collective.groups import Groups
from artery.collective.partners import Rates, walked
from artery.collective.tree import tree_depth
from artery.collective.work import Work
from artery.core.arrays import Floats
from artery.core.pricing import Collective


def halving_doubling(groups: Groups, collective: Collective) -> Work:
    """Return the work of recursive halving (reduce-scatter) and doubling (all-gather).

    log2 n steps each and 2(n-1)/n of the size per chip for all-reduce. A group that is no power
    of two first folds its excess onto the rest and hands it the result at last: log2 of the
    largest power of two p in n and two steps more. A chip has one partner at a time: on a mesh a
    single link. Where ranks are packed into nodes the steps are walked, each with the links that
    its partners have; elsewhere chips per node and nodes are each taken to fold by themselves.
    """
    found = _folding(groups, collective)
    for i in np.flatnonzero(groups.packed & (groups.ranks > 1)):
        for name, value in _walked(groups, int(i), collective).items():
            getattr(found, name)[i] = value
    return found


def _walked(groups: Groups, i: int, collective: Collective) -> dict[str, float]:
    """Return the work of the packed group number ``i``, message by message."""
    rates = Rates(
        inside=min(float(groups.inner_rate[i]), float(groups.pair_rate[i])),
        share=float(groups.apart_rate[i] / groups.fewest[i]),
        most=float(groups.outer_pair[i]),
    )
    found = walked(groups.node, rates, int(groups.ranks[i]), collective)
    chain = found.longest
    # Cables of another class hold a chain back where it takes longer with them than without.
    held = chain.every > (chain.inside + chain.between) * (1 + 1e-9)
    return {
        "inner_steps": float(found.steps - chain.crossings),
        "outer_steps": float(chain.crossings),
        "inner_bytes": found.sent,
        "outer_bytes": found.left,
        "inner_seconds": float(chain.inside),
        "outer_seconds": float(chain.between),
        "least_seconds": float(chain.every) if held else 0.0,
    }


def _folding(groups: Groups, collective: Collective) -> Work:
    """Return the work where chips per node and nodes fold by themselves.

    The chips that stand in for others send 2(p-1)/p + 1 of the size (all-gather and reduce-scatter:
    up to 2(n-1)/n) and wait for what is handed to them: 2(p-1)/p + 2 go by one after the other
    (all-gather: one block, then the rounds, in which they hold two blocks, then all; reduce-scatter
    the same backwards). Exchanges between nodes come after those inside, each chip with 1/m of the
    data: 2(k-1)/k of the size per node.
    """
    rounds = 2.0 if collective == "all_reduce" else 1.0
    inner_steps, inner, inner_time = _folded(groups.fullest, rounds)
    outer_steps, outer, outer_time = _folded(groups.nodes, rounds)
    return Work(
        inner_steps=inner_steps,
        outer_steps=outer_steps,
        inner_bytes=inner,
        outer_bytes=outer,
        inner_seconds=inner_time / np.minimum(groups.inner_rate, groups.pair_rate),
        outer_seconds=outer_time / groups.apart_rate,
        least_seconds=np.zeros_like(groups.ranks),
        in_turn=True,
    )


def _folded(n: Floats, rounds: float) -> tuple[Floats, Floats, Floats]:
    """Return one or two rounds over ``n`` members: steps, and what the busiest sends, and waits.

    Both are per byte of size.
    """
    members = np.maximum(n, 1.0)
    levels = np.floor(np.log2(members))
    core = 2.0**levels
    excess = members - core
    folds = np.where(excess > 0, 1.0, 0.0)
    steps = rounds * levels + 2 * folds
    if rounds > 1:
        share = 2 * (core - 1) / core
        return np.asarray(steps), np.asarray(share + folds), np.asarray(share + 2 * folds)
    # A round over blocks that lie as far apart as partners do: so many of them are double.
    double = sum(
        np.where(level < levels, np.ceil(excess * 2.0**level / core), 0.0)
        for level in range(int(levels.max(initial=0)))
    )
    share = (members - 1) / members
    waits = (core - 1 + double) / members + folds * (1.0 + 1.0 / members)
    return np.asarray(steps), np.asarray(share * (1 + folds)), np.asarray(waits)


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
