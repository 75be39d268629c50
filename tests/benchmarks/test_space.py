"""What the speed page counts; no clock is asserted."""

from __future__ import annotations

import pytest

from artery.core.plan import Plan
from artery.step import Plans
from benchmarks.space import CASES, Case, Question, Speed, distinct

ENOUGH = 20_000


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.model)
def test_the_space_is_large_and_no_plan_comes_twice(case: Case) -> None:
    plans = Question.of(case).plans()
    assert len(plans) >= ENOUGH
    assert distinct(plans) == len(plans)
    assert (plans.chips == int(case.system.split(":")[1])).all()


def test_equal_plans_are_counted_once() -> None:
    plan = Plan(tp=2, dp=4, global_batch=8)
    assert distinct(Plans.of([plan, plan, Plan(tp=4, dp=2, global_batch=8)])) == 2


def test_rate_and_ratio_follow_from_seconds() -> None:
    speed = Speed(CASES[0], 1000, 1000, cold=2.0, warm=0.5, pricing=0.25, single=0.01)
    assert speed.rate == 2000.0
    assert speed.ratio == pytest.approx(40.0)
