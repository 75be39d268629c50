"""Bruck's algorithms: any number of ranks in the fewest steps.

Bruck, Ho, Kipnis, Upfal and Weathersby, "Efficient algorithms for all-to-all communications in
multiport message-passing systems", IEEE TPDS 1997. Backwards, the all-gather is the
reduce-scatter of Träff, "Optimal, non-pipelined reduce-scatter and allreduce algorithms", 2024.
"""

from __future__ import annotations

import numpy as np

from artery.collective.schedules.registry import builds
from artery.collective.schedules.transfers import (
    Steps,
    backwards,
    one_after_another,
    together,
    transfers,
)
from artery.core.pricing import Collective
from artery.core.schedule import Schedule, Step

SOURCE = "Bruck et al., IEEE TPDS 1997"


@builds("bruck", "all_gather", "reduce_scatter", "all_reduce", "alltoall")
def bruck(collective: Collective, ranks: int) -> Schedule:
    """Return the schedule, in log2 n steps rounded up (all-reduce: twice that).

    All-gather: rank r passes what it holds, blocks r, r+1, ..., on to the rank 2^k before it;
    (n-1)/n of the size. All-to-all: in step k a block travels 2^k ranks on if bit k of the
    distance to its target is set; about log2(n)/2 of the size.
    """
    if collective == "alltoall":
        return _exchange(ranks)
    steps = (ranks - 1).bit_length()
    gather = _gather(ranks)
    scatter = backwards(gather, steps)
    step, count = {
        "all_gather": (gather, steps),
        "reduce_scatter": (scatter, steps),
        "all_reduce": one_after_another((scatter, steps), (gather, steps)),
    }[collective]
    wire = (2 if collective == "all_reduce" else 1) * (ranks - 1)
    return Schedule("bruck", collective, ranks, ranks, count, step, wire, source=SOURCE)


def _gather(ranks: int) -> Steps:
    rank = np.arange(ranks)

    def step(k: int) -> Step:
        count = min(1 << k, ranks - (1 << k))
        target = (rank - (1 << k)) % ranks
        over = np.maximum(rank + count - ranks, 0)
        wraps = np.flatnonzero(over)
        return together(
            transfers(rank, target, rank, count - over),
            transfers(rank[wraps], target[wraps], 0, over[wraps]),
        )

    return step


def _exchange(ranks: int) -> Schedule:
    rank = np.arange(ranks)[:, None]

    def step(k: int) -> Step:
        distance = np.arange(ranks)
        distance = distance[(distance >> k) & 1 == 1]
        source = (rank - distance % (1 << k)) % ranks
        target = (source + distance) % ranks
        return transfers(rank, (rank + (1 << k)) % ranks, source * ranks + target)

    return Schedule(
        name="bruck",
        collective="alltoall",
        ranks=ranks,
        chunks=ranks * ranks,
        steps=(ranks - 1).bit_length(),
        step=step,
        wire=int(sum(distance.bit_count() for distance in range(ranks))),
        source=SOURCE,
    )
