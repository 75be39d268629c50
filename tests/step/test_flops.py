"""FLOP of a step by the conventions of MFU and HFU."""

from __future__ import annotations

from dataclasses import replace

import pytest

from artery.core.plan import Plan
from artery.core.workload import Attention
from artery.step.flops import forward_flops, step_flops
from artery.step.plans import Plans
from tests.step import toys

BASE = Plan(dp=4, global_batch=16, sequence=1024)


def one(plan: Plan) -> tuple[float, float]:
    flops = step_flops(toys.gpt(), Plans.of([plan]))
    return float(flops.model[0]), float(flops.hardware[0])


def test_how_it_is_split_changes_no_flop() -> None:
    split = replace(BASE, tp=4, pp=2, cp=2, dp=1, micro_batch=4, sequence_parallel=True)
    assert one(BASE) == one(split)


def test_recomputation_is_hardware_work_only() -> None:
    model, hardware = one(BASE)
    assert model == hardware
    full_model, full = one(replace(BASE, recompute="full"))
    _, half = one(replace(BASE, recompute="full", recompute_layers=0.5))
    assert full_model == model
    assert half - model == pytest.approx((full - model) / 2)


def test_selective_recomputation_runs_the_scores_again() -> None:
    model, selective = one(replace(BASE, recompute="selective"))
    # 2 products of 2·s·h FLOP per token and layer (Korthikanti 2022, section 5).
    assert selective - model == 16 * 1024 * 8 * 4 * 1024 * 1024


def test_an_input_part_that_equals_a_layer_is_not_recomputed() -> None:
    workload = toys.gpt(layers=1)
    twin = replace(workload, first=workload.layers[0])
    plans = Plans.of([replace(BASE, recompute="full")])
    flops = step_flops(twin, plans)
    once, _ = forward_flops(workload.layers[0], plans.sequence.astype(float))
    assert flops.hardware - flops.model == pytest.approx(once * 16 * 1024)


def test_a_window_bounds_the_keys() -> None:
    workload = toys.gpt()
    layer = workload.layers[0]
    windowed = replace(
        layer,
        operators=tuple(
            replace(op, window=256) if isinstance(op, Attention) else op for op in layer.operators
        ),
    )
    length = Plans.of([BASE]).sequence.astype(float)
    assert forward_flops(windowed, length)[1] == forward_flops(layer, length)[1] / 4
