"""What holds for every plan: bounds, monotony, and that arrays are many plans."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from artery.answers.hardware import resources
from artery.answers.pricing import closed_form
from artery.catalog import system
from artery.core.plan import Plan
from artery.core.profile import Profile
from artery.core.system import System
from artery.core.workload import Attention, Layer, Workload
from artery.planner.space import Space, enumerate_plans
from artery.step import Evaluation, Plans, evaluate
from artery.step.legality import problems
from tests.step import toys

PROFILES = (
    toys.PROFILE,
    replace(
        toys.PROFILE,
        overlap={"dp": 0.8, "tp": 0.4, "pp": 0.8, "cp": 0.8},
        contention=0.1,
        host=2e-4,
        straggler=0.01,
        traffic=1.5,
        reserve=0.05,
        context=1e9,
    ),
    replace(toys.PROFILE, shard_keeps_parameters=True, fused_accumulation=True),
)
WORKLOADS = (toys.gpt(layers=8), toys.mixture(experts=16))
SYSTEMS = ("dgx-h100:16", "dgx-a100:32", "rail-clos-h100:64", "tpu-v4-pod:64", "rtx3090x2")


@cache
def where(name: str) -> System:
    return system(name)


@cache
def space(workload: int, name: str) -> Plans:
    place = where(name)
    wanted = Space(place.chips, {"global_batch": 64}, Plan(sequence=1024))
    return enumerate_plans(WORKLOADS[workload], place, wanted)


@dataclass(frozen=True)
class Case:
    """A plan of one of the spaces, by numbers, so that a failure prints in a line."""

    model: int
    system: str
    index: int
    framework: int

    @property
    def workload(self) -> Workload:
        return WORKLOADS[self.model]

    @property
    def place(self) -> System:
        return where(self.system)

    @property
    def profile(self) -> Profile:
        return PROFILES[self.framework]

    @property
    def plan(self) -> Plan:
        return space(self.model, self.system).row(self.index)

    def priced(self, plan: Plan | None = None, place: System | None = None) -> Evaluation:
        there = place or self.place
        plans = [plan or self.plan]
        return evaluate(
            self.workload, there, plans, profile=self.profile, pricer=closed_form(there)
        )


@st.composite
def cases(draw: st.DrawFn) -> Case:
    model = draw(st.integers(0, len(WORKLOADS) - 1))
    name = draw(st.sampled_from(SYSTEMS))
    index = draw(st.integers(0, len(space(model, name)) - 1))
    return Case(model, name, index, draw(st.integers(0, len(PROFILES) - 1)))


@given(cases())
def test_parts_sum_and_none_is_negative(case: Case) -> None:
    found = case.priced()
    assert sum(float(part[0]) for part in found.parts.values()) == pytest.approx(found.step[0])
    assert min(float(part[0]) for part in found.parts.values()) >= 0
    assert 0 < found.low[0] < found.step[0] < found.high[0]


@given(cases())
def test_nothing_beats_arithmetic_or_memory(case: Case) -> None:
    found, plan, workload = case.priced(), case.plan, case.workload
    rows = plan.global_batch * plan.sequence
    # A causal kernel computes half of the scores that the convention counts, at most four times.
    skipped = 4 * rows * sum(_scores(layer, plan.sequence) for layer in workload.layers) / 2
    flop = float(found.flops.hardware[0]) - skipped
    assert found.step[0] >= flop / (plan.chips * case.place.chip.peaks["bf16"])
    # The weights of each stage's products are read forward and backward for every micro-batch.
    weights = sum(_held(layer, plan) for layer in workload.layers) / plan.pp
    read = 2 * 2 * weights * plan.micro_batches
    assert found.step[0] >= read / case.place.chip.memory.bandwidth


def _scores(layer: Layer, keys: int) -> float:
    """FLOP of one row's attention over all keys, forward, in all of these layers."""
    cores = [op for op in layer.operators if isinstance(op, Attention)]
    return layer.count * sum(2.0 * op.heads * (op.qk_dim + op.v_dim) * keys for op in cores)


def _held(layer: Layer, plan: Plan) -> float:
    """Weights of the products of these layers on one chip, before they are dealt to stages."""
    cut = {"tensor": plan.tp, "expert": plan.ep * plan.etp}
    matrices = [p for p in layer.parameters if len(p.shape) == 2]
    return layer.count * sum(p.size / cut.get(p.split, 1) for p in matrices)


@settings(max_examples=25)
@given(cases(), st.floats(1.01, 16.0))
def test_more_of_a_resource_is_never_slower(case: Case, factor: float) -> None:
    step = float(case.priced().step[0])
    # The host's wait is dealt one to two to the passes, whichever of them waits: what hides
    # behind a pass can shrink a little as another part gets quicker.
    slack = 5e-3 if case.profile.host else 1e-9
    for resource in resources(case.place):
        better = resource.scaled(case.place, factor)
        faster = float(case.priced(place=better).step[0])
        assert faster <= step * (1 + slack), resource.name


@given(cases())
def test_the_same_workload_does_not_depend_on_its_neighbours_in_the_array(
    case: Case,
) -> None:
    plans = space(case.model, case.system)
    every = plans.take(np.arange(0, len(plans), max(len(plans) // 40, 1)))
    mixed = Plans.of([case.plan, *(every.row(i) for i in range(len(every)))])
    many = evaluate(
        case.workload, case.place, mixed, profile=case.profile, pricer=closed_form(case.place)
    )
    one = case.priced()
    assert many.step[0] == pytest.approx(one.step[0], rel=1e-12)
    assert many.memory.total[0] == pytest.approx(one.memory.total[0], rel=1e-12)
    for name, part in one.parts.items():
        assert many.parts[name][0] == pytest.approx(part[0], rel=1e-12, abs=1e-18)


@given(cases())
def test_every_searched_plan_is_legal(case: Case) -> None:
    assert problems(case.workload, case.plan) == ()
    assert case.plan.chips == case.place.chips


@given(cases())
def test_a_higher_stage_of_zero_never_needs_more_state(
    case: Case,
) -> None:
    plain = replace(case.plan, dp_replicate=1)
    rooms = [case.priced(replace(plain, zero=zero)).memory for zero in range(4)]
    states = [float((r.weights + r.gradients + r.optimizer)[0]) for r in rooms]
    assert states == sorted(states, reverse=True)


@given(cases())
def test_recomputing_needs_less_memory_and_more_time(
    case: Case,
) -> None:
    none, full = (
        case.priced(replace(case.plan, recompute=recompute)) for recompute in ("none", "full")
    )
    assert full.step[0] >= none.step[0]
    assert full.parts["compute"][0] > none.parts["compute"][0]
    # One layer at work is brought back whole, which many layers or micro-batches outweigh.
    if case.workload.depth / case.plan.pp >= 2:
        assert full.memory.activations[0] < none.memory.activations[0]


@given(cases(), st.sampled_from([2, 4]))
def test_a_longer_queue_of_micro_batches_wastes_less_of_the_pipeline(case: Case, more: int) -> None:
    longer = replace(case.plan, global_batch=case.plan.global_batch * more)
    short, long = (case.priced(plan) for plan in (case.plan, longer))
    assert long.step[0] <= more * short.step[0] * (1 + 1e-9)
    assert long.step[0] > short.step[0]
