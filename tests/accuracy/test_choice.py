"""Choice among alternatives, by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accuracy.choice import Candidate, choices, groups_of, pairs, random_regret, regret
from accuracy.groups import era, group_of
from accuracy.record import read_records
from accuracy.rows import read_rows

BY_ID = {record.id: record for record in read_records()}
ROWS = {row.id: row for row in read_rows()[0]}


def candidate(plan: str, measured: float, predicted: float, group: str = "g") -> Candidate:
    return Candidate("s", group, plan, measured, predicted)


def test_regret_of_the_pick_and_of_chance() -> None:
    group = [candidate("a", 10.0, 3.0), candidate("b", 12.0, 2.0), candidate("c", 17.0, 4.0)]
    assert regret(group) == pytest.approx(0.2)
    assert random_regret(group) == pytest.approx(0.3)


def test_two_measurements_of_the_picked_plan_count_with_their_mean() -> None:
    group = [candidate("a", 10.0, 1.0), candidate("a", 14.0, 1.0), candidate("b", 20.0, 2.0)]
    assert regret(group) == pytest.approx(0.2)


def test_pairs_leave_out_near_ties_and_equal_plans() -> None:
    group = [
        candidate("a", 10.0, 1.0),
        candidate("b", 10.4, 0.5),
        candidate("c", 12.0, 2.0),
        candidate("c", 14.0, 2.0),
    ]
    assert pairs(group) == (4, 4)


def test_a_tie_in_the_predictions_orders_nothing() -> None:
    assert pairs([candidate("a", 10.0, 1.0), candidate("b", 12.0, 1.0)]) == (0, 1)


def test_a_group_needs_two_different_plans() -> None:
    alike = [candidate("a", 10.0, 1.0), candidate("a", 12.0, 1.0)]
    assert groups_of(alike) == []
    assert choices(alike) == []


def test_sources_are_scored_apart_and_pooled() -> None:
    first = [candidate("a", 10.0, 1.0), candidate("b", 12.0, 2.0)]
    second = [
        Candidate("other", "g", "a", 10.0, 2.0),
        Candidate("other", "g", "b", 12.0, 1.0),
    ]
    found = {one.source: one for one in choices([*first, *second])}
    assert found["s"].regret == 0.0
    assert found["other"].regret == pytest.approx(0.2)
    assert found["all"].regret == pytest.approx(0.1)
    assert (found["all"].groups, found["all"].pairs, found["all"].ordered) == (2, 2, 0.5)


@given(st.lists(st.tuples(st.floats(1.0, 9.0), st.floats(1.0, 9.0)), min_size=2, max_size=8))
def test_knowing_the_times_leaves_no_regret(times: list[tuple[float, float]]) -> None:
    group = [candidate(str(i), measured, measured) for i, (measured, _) in enumerate(times)]
    assert regret(group) == 0.0
    right, count = pairs(group)
    assert right == count


def test_rows_of_different_dates_are_no_alternatives() -> None:
    early, late = BY_ID["bloom-sweep-055"], BY_ID["bloom-sweep-071"]
    assert (era(early), era(late)) == ("02-23", "02-25")
    assert group_of(ROWS["bloom-sweep-055"]) != group_of(ROWS["bloom-sweep-071"])


def test_releases_of_one_benchmark_are_no_alternatives() -> None:
    assert era(BY_ID["bridge-26.02.01-173-Qwen3_30B_a3B-H100-16"]) == "26.02.01"


def test_alternatives_of_one_model_chips_and_batch_share_a_group() -> None:
    assert group_of(ROWS["kor22-22B-full"]) == group_of(ROWS["kor22-22B-selective"])
    assert group_of(ROWS["titan-asynctp-8b-bf16-vanilla"]) == group_of(
        ROWS["titan-asynctp-8b-bf16-async"]
    )
