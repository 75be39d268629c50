"""The evaluation as a whole: parts, arrays, interval, and the tree that explains it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from artery.core.plan import Plan
from artery.step import PARTS, Evaluation, Ledger, evaluate
from artery.step.uncertainty import COMMON, SPREAD, Z80, interval
from tests.step import toys

BASE = Plan(tp=2, pp=2, cp=2, dp=4, zero=1, global_batch=32, sequence=1024)
PROFILE = replace(
    toys.PROFILE,
    overlap={"dp": 0.8, "tp": 0.4, "pp": 0.5, "cp": 0.8},
    contention=0.1,
    host=1e-4,
    straggler=0.01,
    reserve=0.05,
    context=1e9,
)
MANY = [
    BASE,
    replace(BASE, recompute="full"),
    replace(BASE, zero=3, dp_replicate=2),
    replace(BASE, zero=2, pp=1, dp=8),
    replace(BASE, vpp=2, sequence_parallel=True),
    replace(BASE, tp=8, cp=1, dp=2, micro_batch=4),
]
MIXED = [
    Plan(tp=2, dp=8, ep=8, zero=1, global_batch=32, sequence=1024),
    Plan(tp=2, dp=8, ep=4, etp=2, zero=3, global_batch=32, sequence=1024),
    Plan(pp=2, dp=8, ep=2, global_batch=32, sequence=1024),
]


def values(evaluation: Evaluation, index: int) -> dict[str, float]:
    room = evaluation.memory
    return {
        "step": evaluation.step[index],
        "low": evaluation.low[index],
        "high": evaluation.high[index],
        **{name: part[index] for name, part in evaluation.parts.items()},
        "memory": room.total[index],
        "activations": room.activations[index],
        "fits": evaluation.fits[index],
        "flop": evaluation.flops.hardware[index],
    }


@pytest.mark.parametrize("plans", [MANY, MIXED], ids=["dense", "mixture"])
def test_many_at_once_are_each_alone(plans: list[Plan]) -> None:
    workload = toys.gpt() if plans is MANY else toys.mixture()
    together = toys.run(workload, *plans, profile=PROFILE)
    for index, plan in enumerate(plans):
        made = toys.job(workload, *plans, profile=PROFILE)
        alone = evaluate(
            workload, made.machine.system, [plan], profile=PROFILE, pricer=toys.Meter()
        )
        assert values(together, index) == pytest.approx(values(alone, 0), rel=1e-12)


def test_the_parts_are_named_and_sum_to_the_step() -> None:
    found = toys.run(toys.gpt(), *MANY, profile=PROFILE)
    assert tuple(found.parts) == PARTS
    np.testing.assert_allclose(sum(found.parts.values()), found.step, rtol=1e-12)
    assert all(np.all(part >= 0) for part in found.parts.values())


@pytest.mark.parametrize("plan", [*MANY, *MIXED])
def test_what_explains_a_plan_says_the_same_numbers(plan: Plan) -> None:
    workload = toys.mixture() if plan in MIXED else toys.gpt()
    ledger = Ledger(keep=True)
    kept = toys.run(workload, plan, profile=PROFILE, ledger=ledger)
    forgot = toys.run(workload, plan, profile=PROFILE)
    assert values(kept, 0) == values(forgot, 0)
    time, room = ledger.tree("step"), ledger.tree("memory")
    assert time.value == forgot.step[0]
    assert {child.name: child.value for child in time.children} == {
        name: part[0] for name, part in forgot.parts.items()
    }
    assert sum(child.value for child in time.children) == pytest.approx(time.value, rel=1e-12)
    assert room.value == forgot.memory.total[0]
    assert sum(child.value for child in room.children) == pytest.approx(room.value, rel=1e-12)
    assert (time.combine, room.combine, room.unit) == ("sum", "sum", "B")


def test_every_term_of_the_tree_has_a_formula() -> None:
    ledger = Ledger(keep=True)
    toys.run(toys.mixture(), MIXED[0], profile=PROFILE, ledger=ledger)
    assert len(ledger.terms) > 30
    for path, term in ledger.terms.items():
        assert term.formula, path
        assert math.isfinite(term.value), path
        if path.count(".") >= 2:
            assert term.source, path


def test_plans_that_differ_in_a_shared_field_are_refused() -> None:
    with pytest.raises(ValueError, match="agree"):
        toys.run(toys.gpt(), BASE, replace(BASE, attention="eager"))


def test_the_interval_holds_the_step_and_grows_with_what_is_badly_known() -> None:
    def width(name: str) -> float:
        parts = {part: np.array([1.0 if part == name else 0.0]) for part in PARTS}
        low, high = interval(parts, np.array([1.0]), COMMON)
        assert low < 1 < high
        assert low * high == pytest.approx(1)
        return float(high[0])

    assert width("ep") > width("dp") > width("compute")
    assert width("compute") == pytest.approx(math.exp(Z80 * math.hypot(COMMON, SPREAD["compute"])))


def test_z_of_eighty_percent() -> None:
    # Standard normal: P(|x| < 1.2816) = 0.8.
    assert math.erf(Z80 / math.sqrt(2)) == pytest.approx(0.8, abs=1e-4)
