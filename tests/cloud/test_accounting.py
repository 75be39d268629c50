"""Accounts by hand, and what must hold for all of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from artery.cloud.accounting import GOOGLE, TELLING, Activity, Span, account


def steps(start: float, end: float, first: int, last: int, lane: str | None = None) -> Span:
    return Span(start, end, "step", lane, first, last)


def test_the_most_telling_span_counts_and_gaps_are_unexplained() -> None:
    found = account(
        [
            Span(0, 100, "running"),
            steps(10, 50, 1, 4),
            Span(20, 25, "save"),
            Span(120, 130, "queue"),
        ]
    )
    assert found.wall == 130
    assert found.seconds == {
        "running": 60, "step": 35, "save": 5, "unexplained": 20, "queue": 10,
    }  # fmt: skip
    assert found.dlrover_goodput == pytest.approx(35 / 120)
    assert found.google_scheduling == pytest.approx(120 / 130)
    assert found.google_scheduling * found.google_runtime == pytest.approx(found.meta_ettr)


def test_steps_done_again_were_lost_the_first_time() -> None:
    """Steps 1 to 10 in 10 s, back to 6, steps 6 to 12: 5 of the first ten were in vain."""
    found = account([steps(0, 10, 1, 10), Span(10, 13, "load"), steps(13, 20, 6, 12)])
    assert found.seconds == {"step": 5 + 7, "redone": 5, "load": 3}
    assert (found.steps, found.redone_steps) == (12, 5)


def test_steps_lost_twice_are_lost_twice() -> None:
    found = account([steps(0, 4, 1, 4), steps(4, 7, 2, 4), steps(7, 12, 3, 7)])
    assert found.seconds["redone"] == pytest.approx(3 + 2)
    assert (found.steps, found.redone_steps) == (7, 5)


def test_lanes_are_averaged() -> None:
    found = account([steps(0, 10, 1, 5, "0"), steps(0, 4, 1, 5, "1"), Span(4, 10, "stall", "1")])
    assert found.seconds == {"step": 7, "stall": 3}
    assert found.lanes == 2
    assert found.steps == 5


def test_every_loss_has_a_name_of_googles() -> None:
    assert set(GOOGLE) == (set(TELLING) | {"unexplained"}) - {"step"}


def test_nothing_told_is_no_account() -> None:
    with pytest.raises(ValueError, match="no span"):
        account([Span(1, 1, "step")])


spans = st.builds(
    lambda start, length, activity, lane: Span(start, start + length, activity, lane),
    st.floats(0, 1e6), st.floats(0.001, 1e5), st.sampled_from(TELLING),
    st.sampled_from([None, "0", "1", "2"]),
)  # fmt: skip


@given(st.lists(spans, min_size=1, max_size=30))
def test_all_time_is_accounted_for(told: list[Span]) -> None:
    found = account(told)
    assert sum(found.seconds.values()) == pytest.approx(found.wall)
    assert sum(found.google_classes().values()) + found.productive == pytest.approx(found.wall)
    assert found.wall == max(s.end for s in told) - min(s.start for s in told)


@given(st.lists(spans, min_size=1, max_size=10), st.sampled_from(TELLING))
def test_one_more_span_never_takes_from_what_tells_more(
    told: list[Span], activity: Activity
) -> None:
    begin, end = min(s.start for s in told), max(s.end for s in told)
    more = account([*told, Span(begin, end, activity)])
    before, rank = account(told), TELLING.index(activity)
    for each in TELLING[:rank]:
        assert more.seconds.get(each, 0.0) == pytest.approx(before.seconds.get(each, 0.0))
