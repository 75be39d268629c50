"""Recursive halving (reduce-scatter) and doubling (all-gather).

Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
IJHPCA 2005, section 4.5 (Rabenseifner's algorithm). Few steps and the bytes of a ring.
"""

from __future__ import annotations

import numpy as np

from artery.collective.schedules.fold import Fold, reversed_bits
from artery.collective.schedules.registry import builds
from artery.collective.schedules.transfers import (
    Steps,
    backwards,
    once,
    one_after_another,
    together,
    transfers,
)
from artery.core.arrays import Ints
from artery.core.pricing import Collective
from artery.core.schedule import Schedule, Step

SOURCE = "Thakur, Rabenseifner and Gropp, IJHPCA 2005"


@builds("halving_doubling", "all_reduce", "all_gather", "reduce_scatter")
def halving_doubling(collective: Collective, ranks: int) -> Schedule:
    """Return the schedule over the largest power of two p, log2 p steps each way.

    The halves are halved between neighbours first, so that the most data take the shortest
    ways; that packs the blocks in bit-reversed order. Ranks beyond p hand their data to a
    neighbour before and get the result after: two more steps, and up to the whole size more
    for that neighbour to send. All-reduce: 2·log2 p steps, 2(p-1)/p of the size.
    """
    return _reduced(ranks) if collective == "all_reduce" else _spread(collective, ranks)


def _doubling(fold: Fold, starts: Ints) -> Steps:
    """Return the steps of an all-gather over the core.

    ``starts`` says where the data of each member begins, in bit-reversed order, and ends with
    the number of chunks. Partners are p/2 apart in the first step and neighbours in the last.
    """
    member = np.arange(fold.core)
    rank, packed = fold.rank(member), reversed_bits(member, fold.bits)

    def step(k: int) -> Step:
        low = packed >> k << k
        first = starts[low]
        partner = fold.rank(member ^ (fold.core >> (k + 1)))
        return transfers(rank, partner, first, starts[low + (1 << k)] - first)

    return step


def _reduced(ranks: int) -> Schedule:
    fold = Fold.of(ranks)
    doubling = _doubling(fold, np.arange(fold.core + 1))
    core = one_after_another((backwards(doubling, fold.bits), fold.bits), (doubling, fold.bits))
    step, steps = one_after_another(*fold.around(core, chunks=fold.core))
    return Schedule(
        name="halving_doubling",
        collective="all_reduce",
        ranks=ranks,
        chunks=fold.core,
        steps=steps,
        step=step,
        wire=2 * (fold.core - 1) + (fold.core if fold.rest else 0),
        source=SOURCE,
    )


def _spread(collective: Collective, ranks: int) -> Schedule:
    """Return an all-gather; backwards it is the reduce-scatter."""
    fold = Fold.of(ranks)
    member = reversed_bits(np.arange(fold.core), fold.bits)
    held = np.where(member < fold.rest, 2, 1)
    starts = np.r_[0, np.cumsum(held)]
    owner = np.repeat(fold.rank(member), held)
    owner[starts[:-1][held == 2]] -= 1
    parts = [(_doubling(fold, starts), fold.bits)]
    if fold.rest:
        parts = [_handed_over(fold, owner), *parts, _handed_back(fold, owner)]
    step, steps = one_after_another(*parts)
    sent = sum(starts[(p := np.arange(fold.core) >> k << k) + (1 << k)] - starts[p]
               for k in range(fold.bits))  # fmt: skip
    busiest = int(np.max(sent + np.where(held == 2, ranks - 1, 0)))
    gathers = collective == "all_gather"
    return Schedule(
        name="halving_doubling",
        collective=collective,
        ranks=ranks,
        chunks=ranks,
        steps=steps,
        step=step if gathers else backwards(step, steps),
        wire=busiest if gathers else ranks - 1,
        source=SOURCE,
        owner=owner,
    )


def _places(fold: Fold, owner: Ints) -> Ints:
    """Return the chunk of each rank that sits out."""
    return np.argsort(owner)[fold.idle]


def _handed_over(fold: Fold, owner: Ints) -> tuple[Steps, int]:
    own = _places(fold, owner)
    return once(lambda: transfers(fold.idle, fold.idle + 1, own))


def _handed_back(fold: Fold, owner: Ints) -> tuple[Steps, int]:
    """Return the step in which each that sat out gets everything but its own chunk."""
    own, blocks = _places(fold, owner), len(owner)
    idle = fold.idle
    below, above = np.flatnonzero(own > 0), np.flatnonzero(own < blocks - 1)

    return once(
        lambda: together(
            transfers(idle[below] + 1, idle[below], 0, own[below]),
            transfers(idle[above] + 1, idle[above], own[above] + 1, blocks - 1 - own[above]),
        )
    )
