"""The layout that a library's buffers share with the schedules."""

from __future__ import annotations

import numpy as np

from artery.collective.schedules import schedule
from artery.collective.verify import asked, own
from artery.core.pricing import Collective
from artery.meter.collectives import columns, row, whole_elements
from artery.runner.executor.program import bounds


def held(collective: Collective, name: str, rank: int, *, end: bool) -> list[int]:
    """Return the elements of a buffer that a schedule gives a rank, or asks of it."""
    plan = schedule(name, collective, 3)
    cut = bounds(plan, 12)
    chosen = (asked if end else own)(plan)[rank]
    return [
        element
        for chunk in np.flatnonzero(chosen)
        for element in range(int(cut[chunk]), int(cut[chunk + 1]))
    ]


def test_blocks_lie_where_the_schedules_have_them() -> None:
    gathered = np.arange(12)
    exchanged = np.arange(36)
    for rank in range(3):
        assert row(gathered, rank, 3).tolist() == held("all_gather", "ring", rank, end=False)
        assert row(gathered, rank, 3).tolist() == held("reduce_scatter", "ring", rank, end=True)
        assert row(exchanged, rank, 3).tolist() == held("alltoall", "pairwise", rank, end=False)
        mine = [element for part in columns(exchanged, rank, 3) for element in part.tolist()]
        assert mine == held("alltoall", "pairwise", rank, end=True)
        assert row(exchanged, rank, 3).tolist() == held("sendrecv", "sendrecv", rank, end=False)
        after = row(exchanged, (rank - 1) % 3, 3)
        assert after.tolist() == held("sendrecv", "sendrecv", rank, end=True)


def test_elements_are_rounded_up_to_whole_blocks() -> None:
    assert whole_elements("all_gather", 7, 4) == 8
    assert whole_elements("alltoall", 8, 4) == 8
    assert whole_elements("all_reduce", 7, 4) == 7
