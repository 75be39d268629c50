"""NVLS: the switch inside a node adds what a chip reads, and copies what it writes, to all.

Klenk et al., "An in-network architecture for accelerating shared-memory multiprocessor
collectives", ISCA 2020. The switch is a vertex beyond the ranks, so one access through it is
two steps: to the switch and from it.
"""

from __future__ import annotations

import numpy as np

from artery.collective.schedules.limits import NVLS
from artery.collective.schedules.registry import builds
from artery.collective.schedules.transfers import Steps, one_after_another, transfers
from artery.core.pricing import Collective
from artery.core.schedule import Pipe, Schedule, Step

SOURCE = "Klenk et al., ISCA 2020"


@builds("nvls", "all_reduce", "all_gather", "reduce_scatter")
def nvls(
    collective: Collective, ranks: int, *, operation: str = "sum", dtype: str = "bf16"
) -> Schedule:
    """Return the schedule in one node whose switch is one vertex.

    All-reduce: each rank reads 1/n of the sum (for which everybody sends all its data) and has
    the switch write it to all: 1 + 1/n of the size to the switch and from it. All-gather is the
    second half of that, reduce-scatter the first.
    Raises :class:`artery.errors.InputError` if the switch does not add such data.
    """
    if collective != "all_gather":
        NVLS.hold(operation, dtype)
    read, write = _read(ranks), _write(ranks)
    parts = {
        "all_reduce": (read, write),
        "reduce_scatter": (read,),
        "all_gather": (write,),
    }[collective]
    step, steps = one_after_another(*parts)
    rank, switch = np.arange(ranks), np.full(ranks, ranks)
    up = (collective != "all_gather") + (collective != "reduce_scatter") / ranks
    down = (collective != "reduce_scatter") + (collective != "all_gather") / ranks
    return Schedule(
        name="nvls",
        collective=collective,
        ranks=ranks,
        chunks=ranks,
        steps=steps,
        step=step,
        wire=up * ranks,
        pipes=(
            Pipe("star", 1.0, rank, switch, up, steps),
            Pipe("star", 1.0, switch, rank, down, steps),
        ),
        source=SOURCE,
        limits=NVLS.words,
        switches=1,
    )


def _read(ranks: int) -> tuple[Steps, int]:
    """Return the two steps in which rank r gets the sum of chunk r."""
    rank = np.arange(ranks)

    def step(k: int) -> Step:
        if k == 0:
            return transfers(rank, ranks, 0, ranks, reduce=True)
        return transfers(ranks, rank, rank)

    return step, 2


def _write(ranks: int) -> tuple[Steps, int]:
    """Return the two steps in which chunk r of rank r gets to all, its sender included."""
    rank = np.arange(ranks)

    def step(k: int) -> Step:
        return transfers(rank, ranks, rank) if k == 0 else transfers(ranks, rank, 0, ranks)

    return step, 2
