"""Memory of one chip: state, activations in flight, and what fits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from artery.core.plan import Plan, Recompute
from artery.step.machine import Machine
from artery.step.memory import fits, in_flight, layer_activations
from artery.step.plans import Plans
from tests.step import toys

BASE = Plan(dp=8, global_batch=64, sequence=1024, attention="eager")


def flight_by_playing(pp: int, vpp: int, n: int, stage: int) -> float:
    """Largest number of micro-batches held, in units of a stage's layers.

    Plays Megatron-LM's schedules (megatron/core/pipeline_parallel/schedules.py): warm-up forward
    passes, then one forward and one backward in turn, then the remaining backward passes.
    """
    chunks = n * vpp
    ahead = pp - stage - 1 if vpp == 1 else (pp - stage - 1) * 2 + (vpp - 1) * pp
    warm = min(ahead, chunks)
    order = [1] * warm + [1, -1] * (chunks - warm) + [-1] * warm
    held = most = 0
    for step in order:
        held += step
        most = max(most, held)
    return most / vpp


@pytest.mark.parametrize("pp", [1, 2, 4, 8])
@pytest.mark.parametrize("vpp", [1, 2, 4])
@pytest.mark.parametrize("rounds", [1, 2, 5])
def test_micro_batches_in_flight(pp: int, vpp: int, rounds: int) -> None:
    if pp == 1 and vpp > 1:
        return
    n = rounds * pp
    plans = Plans.of([Plan(pp=pp, vpp=vpp, global_batch=n)])
    for stage in range(pp):
        found = in_flight(plans, np.array([stage]))
        assert found == pytest.approx(flight_by_playing(pp, vpp, n, stage))


def state(**changes: Any) -> tuple[float, float, float]:
    room = toys.run(toys.weights_only(800), replace(BASE, **changes)).memory
    return float(room.weights[0]), float(room.gradients[0]), float(room.optimizer[0])


def test_each_stage_of_zero_shares_one_thing_more() -> None:
    # BF16 weights, FP32 gradients, Adam (ZeRO, arXiv 1910.02054, figure 1).
    assert state(zero=0) == (1600, 3200, 9600)
    assert state(zero=1) == (1600, 3200, 1200)
    assert state(zero=2) == (1600, 400, 1200)
    assert state(zero=3) == (200, 400, 1200)


def test_replicas_of_hybrid_sharding_hold_the_same() -> None:
    assert state(zero=3, dp_replicate=2) == (400, 800, 2400)


def test_context_parallel_ranks_share_state_too() -> None:
    assert state(zero=3, cp=2, dp=4) == state(zero=3)


def test_zero_two_under_a_pipeline_is_zero_one() -> None:
    workload = toys.gpt()
    one, two = (toys.run(workload, replace(BASE, pp=2, zero=zero)).memory for zero in (1, 2))
    assert one == two


def test_a_gathered_pair_of_layers_stands_in_other() -> None:
    workload = toys.gpt()
    full, part = (toys.run(workload, replace(BASE, zero=zero)).memory for zero in (3, 2))
    layer = sum(p.size for p in workload.layers[0].parameters)
    assert full.other - part.other == pytest.approx(2 * 2 * layer)


def kept(**changes: Any) -> float:
    plan = replace(BASE, **changes)
    return float(toys.run(toys.gpt(), plan).memory.activations[0])


def test_less_is_kept_the_more_is_recomputed() -> None:
    order: tuple[Recompute, ...] = ("none", "selective", "full")
    amounts = [kept(recompute=recompute) for recompute in order]
    assert amounts == sorted(amounts, reverse=True)
    assert amounts[0] > amounts[2]
    half = kept(recompute="full", recompute_layers=0.5)
    # Half the layers keep everything; at work, one layer is brought back whole either way.
    assert amounts[2] < half < amounts[0] + amounts[2]


def test_fused_attention_keeps_no_scores() -> None:
    assert kept(attention="flash2") == kept(recompute="selective")


def test_full_recomputation_keeps_one_input_per_layer() -> None:
    rows, hidden = 1024, 1024
    workload = toys.gpt()
    made = toys.job(workload, replace(BASE, recompute="full"))
    inputs, everything = layer_activations(workload.layers[0], made.plans, made.machine)
    assert inputs == 2 * rows * hidden  # Korthikanti 2022, Table 2: 2·s·b·h
    # 34 + 5as/h bytes per element (equation 1): 34 + 5·16·1024/1024 = 114.
    assert everything == rows * hidden * 114


def test_memory_is_of_the_fullest_stage() -> None:
    """Ten layers on four stages are 2, 3, 3, 2: the second holds three, three times over."""
    workload = toys.without_ends(toys.gpt(layers=10))
    plan = replace(BASE, pp=4, attention="flash2")
    layer, _ = layer_activations(workload.layers[0], *_frame(plan))
    assert toys.run(workload, plan).memory.activations == pytest.approx(3 * 3 * layer)
    # Eight layers: the first stage's two layers, four times over.
    workload = toys.without_ends(toys.gpt(layers=8))
    assert toys.run(workload, plan).memory.activations == pytest.approx(2 * 4 * layer)


def _frame(plan: Plan) -> tuple[Plans, Machine]:
    made = toys.job(toys.gpt(), plan)
    return made.plans, made.machine


def test_logits_stand_on_the_last_stage() -> None:
    def of(pp: int, logit_bytes: float) -> float:
        profile = replace(toys.PROFILE, logit_bytes=logit_bytes)
        plan = replace(BASE, pp=pp, global_batch=8 * pp, recompute="full")
        return float(toys.run(toys.gpt(), plan, profile=profile).memory.activations[0])

    assert of(1, 12.0) - of(1, 4.0) == 8 * 1024 * 32000
    assert of(4, 12.0) - of(4, 4.0) == 8 * 1024 * 32000


def test_reserve_and_context_are_added_once() -> None:
    plain = toys.run(toys.gpt(), BASE).memory
    profile = replace(toys.PROFILE, reserve=0.1, context=1e9)
    padded = toys.run(toys.gpt(), BASE, profile=profile).memory
    assert padded.total == pytest.approx(1.1 * plain.total + 1e9)


def test_near_the_limit_is_neither_yes_nor_no() -> None:
    assert fits(np.array([91.9, 92.1, 107.9, 108.1]), 100.0).tolist() == [2, 1, 1, 0]
