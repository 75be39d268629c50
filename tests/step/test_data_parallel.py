"""Gradient and weight traffic: bytes by ZeRO's and FSDP's own accounts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from artery.core.plan import Plan
from artery.core.profile import Profile
from artery.step.data_parallel import OF_LAYER, groups, per_layer, per_step
from artery.step.plans import Plans
from artery.step.stages import Weights
from tests.step import toys

BASE = Plan(dp=8, global_batch=8, sequence=1024, grad_dtype="bf16")
WEIGHTS = Weights(np.array([1e9]), np.array([0.0]))


def step_bytes(**changes: Any) -> tuple[float, float]:
    """Bytes of (reduce, gather) on the wire, the meter running at 1 GB/s."""
    plan = replace(BASE, **changes)
    wire = per_step(WEIGHTS, toys.job(toys.gpt(), plan), "x")
    return float(wire.reduce[0]) * 1e9, float(wire.gather[0]) * 1e9


def test_zero_one_and_two_move_what_data_parallelism_moves() -> None:
    # ZeRO (arXiv 1910.02054), section 7: 2Ψ elements for all three.
    assert step_bytes(zero=0) == (2 * 2e9, 0)
    assert step_bytes(zero=1) == step_bytes(zero=2) == (2e9, 2e9)


def test_gradients_in_fp32_are_twice_the_bytes_and_weights_are_not() -> None:
    assert step_bytes(zero=1, grad_dtype="fp32") == (4e9, 2e9)


def test_fsdp_moves_three_times_the_weights() -> None:
    # ZeRO, section 7.2.2: 3Ψ elements; two gathers and one scatter.
    layer = per_layer(WEIGHTS, toys.job(toys.gpt(), replace(BASE, zero=3)), "x", OF_LAYER)
    assert float(layer.forward[0]) * 1e9 == 2e9
    assert float((layer.forward + layer.backward)[0]) * 1e9 == 3 * 2e9


def test_below_stage_three_no_layer_is_gathered() -> None:
    layer = per_layer(WEIGHTS, toys.job(toys.gpt(), replace(BASE, zero=2)), "x", OF_LAYER)
    assert layer.forward == layer.backward == 0


def test_hybrid_sharding_reduces_a_shard_over_the_replicas() -> None:
    meter = toys.Meter()
    plan = replace(BASE, dp=16, dp_replicate=2, global_batch=16, zero=3)
    per_layer(WEIGHTS, toys.job(toys.gpt(), plan, pricer=meter), "x", OF_LAYER)
    last = meter.asked[-1]
    assert (last.collective, last.size[0], last.ranks[0], last.stride[0]) == (
        "all_reduce", 2e9 / 8, 2, 8,
    )  # fmt: skip


def test_groups_cover_the_chips_once() -> None:
    plan = Plan(tp=2, cp=2, dp=8, dp_replicate=2, ep=4, etp=2, zero=3, global_batch=8)
    found = groups(Plans.of([plan]))
    assert found.shard == 8
    assert found.shard_stride == 2
    assert found.shard * found.shard_stride == found.replica_stride
    assert found.replica * found.replica_stride == plan.chips
    assert found.expert * found.expert_stride == plan.chips


def test_experts_are_reduced_in_their_own_group() -> None:
    meter = toys.Meter()
    weights = Weights(np.array([1e9]), np.array([3e9]))
    plan = replace(BASE, ep=4, zero=1)
    per_step(weights, toys.job(toys.mixture(), plan, pricer=meter), "x")
    scattered = [d for d in meter.asked if d.collective == "reduce_scatter"]
    assert [(d.size[0], d.ranks[0], d.stride[0]) for d in scattered] == [(2e9, 8, 1), (6e9, 2, 4)]


def hides(share: float, contention: float = 0.0) -> Profile:
    return replace(toys.PROFILE, overlap={"dp": share}, contention=contention)


def exposed(plan: Plan, profile: Profile) -> float:
    return float(toys.run(toys.gpt(), plan, profile=profile).parts["dp"][0])


@pytest.mark.parametrize("zero", [0, 1, 2, 3])
def test_hiding_only_helps_and_contention_only_costs(zero: int) -> None:
    plan = replace(BASE, zero=zero, global_batch=32)
    none, some, all_of_it = (exposed(plan, hides(share)) for share in (0.0, 0.5, 1.0))
    assert none >= some >= all_of_it >= 0
    assert none > all_of_it
    assert exposed(plan, hides(1.0, 0.3)) > all_of_it


def test_zero_two_scatters_every_micro_batch() -> None:
    # DeepSpeed refuses no_sync with stage 2: its gradients are partitioned at once.
    def seconds(zero: int, micro_batches: int) -> float:
        plan = replace(BASE, zero=zero, global_batch=8 * micro_batches)
        return exposed(plan, hides(0.0))

    assert seconds(2, 1) == seconds(1, 1)
    assert seconds(1, 4) == seconds(1, 1)
    assert seconds(2, 4) - seconds(2, 1) == pytest.approx(3 * seconds(1, 1) / 2)


def test_fsdp_gathers_every_micro_batch() -> None:
    plan = replace(BASE, zero=3)
    many = replace(plan, global_batch=32)
    assert exposed(many, hides(0.0)) == pytest.approx(4 * exposed(plan, hides(0.0)))
