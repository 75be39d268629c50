"""The space of plans: all of them legal, none of them twice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from artery.catalog import model
from artery.core.plan import Plan
from artery.core.workload import Workload
from artery.planner.space import MICRO_BATCHES, Space, divisors, enumerate_plans
from artery.step import evaluate
from artery.step.legality import problems
from artery.step.plans import RECOMPUTE, Plans
from tests.step import toys

GPT = toys.gpt(layers=8)
MOE = toys.mixture(experts=16)


def space(chips: int, batch: int = 64, *, attention: Any = "flash2", **fixed: int) -> Space:
    shared = Plan(sequence=1024, attention=attention)
    return Space(chips, {"global_batch": batch, **fixed}, shared)


def found(workload: Workload, wanted: Space) -> tuple[Plan, ...]:
    plans = enumerate_plans(workload, toys.system(wanted.chips), wanted)
    return tuple(plans.row(i) for i in range(len(plans)))


@pytest.mark.parametrize("chips", [1, 2, 8, 12, 64])
@pytest.mark.parametrize("workload", [GPT, MOE], ids=["dense", "mixture"])
def test_every_plan_is_legal_uses_all_chips_and_is_listed_once(
    workload: Workload, chips: int
) -> None:
    plans = found(workload, space(chips))
    assert plans
    assert len(set(plans)) == len(plans)
    assert all(plan.chips == chips for plan in plans)
    assert [plan for plan in plans if problems(workload, plan)] == []


def test_no_two_plans_cost_the_same_by_construction() -> None:
    """What changes nothing is not varied: each of these pairs would be one plan twice."""
    for plan in found(GPT, space(64)) + found(MOE, space(16)):
        assert plan.vpp == 1 or plan.pp > 1
        assert not plan.sequence_parallel or plan.tp > 1
        assert plan.zero == 0 or plan.dp * plan.cp > 1
        assert plan.zero != 2 or plan.pp == 1
        assert plan.dp_replicate == 1 or plan.zero == 3
        assert plan.recompute != "selective"  # fused attention keeps no scores


def test_plans_differ_in_time_or_memory() -> None:
    plans = enumerate_plans(GPT, toys.system(16), space(16))
    seconds = evaluate(GPT, toys.system(16), plans, profile=toys.PROFILE, pricer=toys.Meter())
    rows = np.stack(
        [seconds.step, *seconds.parts.values(), seconds.memory.total, seconds.memory.gradients]
    )
    assert np.unique(rows, axis=1).shape[1] == len(plans)


def test_eager_attention_may_recompute_its_scores() -> None:
    assert "selective" in {p.recompute for p in found(GPT, space(8, attention="eager"))}


def brute_force(chips: int, batch: int) -> set[Plan]:
    """Every combination of small degrees, kept if the rules keep it."""
    degrees = divisors(chips, chips)
    plans = set()
    for tp in degrees:
        for pp in divisors(chips // tp, chips):
            dp = chips // tp // pp
            for micro in MICRO_BATCHES:
                for zero in range(4):
                    for recompute in ("none", "full"):
                        for parallel in (False, True):
                            plan = Plan(
                                tp=tp, pp=pp, dp=dp, zero=zero, micro_batch=micro,
                                global_batch=batch, sequence=1024, sequence_parallel=parallel,
                                recompute="none" if recompute == "none" else "full",
                            )  # fmt: skip
                            same = (zero > 0 and dp == 1) or (zero == 2 and pp > 1)
                            if not same and not problems(GPT, plan):
                                plans.add(plan)
    return plans


@pytest.mark.parametrize("chips", [1, 4, 8])
def test_none_is_left_out(chips: int) -> None:
    assert set(found(GPT, space(chips, 16, vpp=1, dp_replicate=1, cp=1))) == brute_force(chips, 16)


@pytest.mark.parametrize(
    "fixed",
    [{"tp": 2}, {"pp": 4}, {"dp": 4}, {"cp": 2}, {"zero": 3}, {"micro_batch": 4}, {"vpp": 2},
     {"zero": 2, "pp": 2}, {"dp_replicate": 4}, {"sequence_parallel": 1}, {"tp": 2, "dp": 2},
     {"recompute": RECOMPUTE.index("full")}, {"recompute": RECOMPUTE.index("selective")},
     {"micro_batch": 5, "global_batch": 40}],
)  # fmt: skip
def test_what_is_given_stays(fixed: dict[str, int]) -> None:
    plans = Plans.of(found(GPT, space(16, **fixed)))
    for name, value in fixed.items():
        assert set(getattr(plans, name).tolist()) == {value}


def test_given_expert_degrees_stay() -> None:
    assert {(p.ep, p.etp) for p in found(MOE, space(16, ep=4, etp=2))} == {(4, 2)}
    assert {p.etp for p in found(MOE, space(16))} == {1}
    assert {p.ep for p in found(MOE, space(16))} == {1, 2, 4, 8, 16}


def test_what_cannot_be_is_an_empty_space() -> None:
    assert found(GPT, space(8, tp=3)) == ()
    assert found(GPT, space(8, batch=7, dp=8)) == ()
    assert found(GPT, space(8, tp=8, dp=8)) == ()


def test_models_without_heads_are_not_cut() -> None:
    wanted = Space(8, {"global_batch": 64}, Plan(sequence=1))
    plans = found(model("resnet50"), wanted)
    assert plans
    assert {(p.tp, p.cp, p.sequence_parallel) for p in plans} == {(1, 1, False)}


def test_divisors() -> None:
    assert divisors(12, 12) == [1, 2, 3, 4, 6, 12]
    assert divisors(12, 4) == [1, 2, 3, 4]
    assert divisors(1, 5) == [1]
