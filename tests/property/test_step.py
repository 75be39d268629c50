"""What holds for every plan: bounds, monotony, and that arrays are many plans."""

from __future__ import annotations

from dataclasses import replace
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


@st.composite
def situations(draw: st.DrawFn) -> tuple[Workload, System, Plan, Profile]:
    workload = draw(st.integers(0, len(WORKLOADS) - 1))
    name = draw(st.sampled_from(SYSTEMS))
    plans = space(workload, name)
    index = draw(st.integers(0, len(plans) - 1))
    return WORKLOADS[workload], where(name), plans.row(index), draw(st.sampled_from(PROFILES))


def priced(workload: Workload, place: System, plan: Plan, profile: Profile) -> Evaluation:
    return evaluate(workload, place, [plan], profile=profile, pricer=closed_form(place))


@given(situations())
def test_parts_sum_and_none_is_negative(case: tuple[Workload, System, Plan, Profile]) -> None:
    found = priced(*case)
    assert sum(float(part[0]) for part in found.parts.values()) == pytest.approx(found.step[0])
    assert min(float(part[0]) for part in found.parts.values()) >= 0
    assert 0 < found.low[0] < found.step[0] < found.high[0]


@given(situations())
def test_nothing_beats_arithmetic_or_memory(case: tuple[Workload, System, Plan, Profile]) -> None:
    workload, place, plan, _ = case
    found = priced(*case)
    rows = plan.global_batch * plan.sequence
    # A causal kernel computes half of the scores that the convention counts, at most four times.
    skipped = 4 * rows * sum(_scores(layer, plan.sequence) for layer in workload.layers) / 2
    flop = float(found.flops.hardware[0]) - skipped
    assert found.step[0] >= flop / (plan.chips * place.chip.peaks["bf16"])
    # The weights of each stage's products are read forward and backward for every micro-batch.
    weights = sum(_held(layer, plan) for layer in workload.layers) / plan.pp
    read = 2 * 2 * weights * plan.micro_batches
    assert found.step[0] >= read / place.chip.memory.bandwidth


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
@given(situations(), st.floats(1.01, 16.0))
def test_more_of_a_resource_is_never_slower(
    case: tuple[Workload, System, Plan, Profile], factor: float
) -> None:
    workload, place, plan, profile = case
    step = float(priced(*case).step[0])
    for resource in resources(place):
        better = resource.scaled(place, factor)
        faster = float(priced(workload, better, plan, profile).step[0])
        assert faster <= step * (1 + 1e-9), resource.name


@given(situations())
def test_the_same_workload_does_not_depend_on_its_neighbours_in_the_array(
    case: tuple[Workload, System, Plan, Profile],
) -> None:
    workload, place, plan, profile = case
    plans = space(WORKLOADS.index(workload), next(n for n in SYSTEMS if where(n) is place))
    every = plans.take(np.arange(0, len(plans), max(len(plans) // 40, 1)))
    mixed = Plans.of([plan, *(every.row(i) for i in range(len(every)))])
    many = evaluate(workload, place, mixed, profile=profile, pricer=closed_form(place))
    one = priced(*case)
    assert many.step[0] == pytest.approx(one.step[0], rel=1e-12)
    assert many.memory.total[0] == pytest.approx(one.memory.total[0], rel=1e-12)
    for name, part in one.parts.items():
        assert many.parts[name][0] == pytest.approx(part[0], rel=1e-12, abs=1e-18)


@given(situations())
def test_every_searched_plan_is_legal(case: tuple[Workload, System, Plan, Profile]) -> None:
    workload, place, plan, _ = case
    assert problems(workload, plan) == ()
    assert plan.chips == place.chips


@given(situations())
def test_a_higher_stage_of_zero_never_needs_more_state(
    case: tuple[Workload, System, Plan, Profile],
) -> None:
    workload, place, plan, profile = case
    plain = replace(plan, dp_replicate=1)
    rooms = [
        priced(workload, place, replace(plain, zero=zero), profile).memory for zero in range(4)
    ]
    states = [float((r.weights + r.gradients + r.optimizer)[0]) for r in rooms]
    assert states == sorted(states, reverse=True)


@given(situations())
def test_recomputing_needs_less_memory_and_more_time(
    case: tuple[Workload, System, Plan, Profile],
) -> None:
    workload, place, plan, profile = case
    none, full = (
        priced(workload, place, replace(plan, recompute=recompute), profile)
        for recompute in ("none", "full")
    )
    assert full.step[0] >= none.step[0]
    assert full.parts["compute"][0] > none.parts["compute"][0]
    # One layer at work is brought back whole, which many layers or micro-batches outweigh.
    if workload.depth / plan.pp >= 2:
        assert full.memory.activations[0] < none.memory.activations[0]


@given(situations(), st.sampled_from([2, 4]))
def test_a_longer_queue_of_micro_batches_wastes_less_of_the_pipeline(
    case: tuple[Workload, System, Plan, Profile], more: int
) -> None:
    workload, place, plan, profile = case
    longer = replace(plan, global_batch=plan.global_batch * more)
    short, long = (priced(workload, place, p, profile) for p in (plan, longer))
    assert long.step[0] <= more * short.step[0] * (1 + 1e-9)
    assert long.step[0] > short.step[0]
