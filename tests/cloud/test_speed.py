"""The speed law of jobs: its pieces by hand, and what must hold for all jobs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from artery.cloud.speed import JobSpeed, Links, Placement


def _where(*each: int) -> Placement:
    return Placement(*(np.array([float(x)]) for x in (len(each), sum(each), max(each))))


JOB = JobSpeed(fixed=0.1, per_sample=0.01, exchange=0.2, hidden=0.5)


def test_one_chip_exchanges_nothing() -> None:
    assert JOB.step(_where(1), 10, Links()) == pytest.approx([0.2])


def test_what_cannot_hide_shows() -> None:
    # Four chips: 0.2·2·3/4 = 0.3 s of exchange, of which 0.5·0.2 s hide.
    assert JOB.step(_where(4), 10, Links()) == pytest.approx([0.2 + 0.3 - 0.1])


def test_a_fiftieth_always_shows() -> None:
    assert JOB.step(_where(2), 90, Links()) == pytest.approx([1.0 + 0.02 * 0.2])


@pytest.mark.parametrize(
    ("each", "slow"),
    [((4,), 0.1), ((1, 1), 2.0), ((4, 4), 2.6), ((1, 1, 1), 1.0), ((1, 3, 1), 1.4)],
)
def test_links_by_placement(each: tuple[int, ...], slow: float) -> None:
    assert Links(inside=0.1, sharing=0.2).slow(_where(*each)) == pytest.approx([slow])


@given(
    st.builds(
        JobSpeed, st.floats(1e-3, 1), st.floats(1e-5, 0.1), st.floats(1e-4, 2), st.floats(0, 1)
    ),
    st.integers(2, 64),
    st.integers(1, 256),
)
def test_never_faster_than_its_compute_nor_slower_than_no_overlap(
    job: JobSpeed, chips: int, batch: int
) -> None:
    compute = job.fixed + job.per_sample * batch
    (step,) = job.step(_where(chips), batch, Links())
    volume = 2 * (chips - 1) / chips
    assert compute <= step <= compute + job.exchange * volume * (1 + 1e-12)
