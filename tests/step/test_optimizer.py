"""The optimizer's pass and the accumulation of gradients: bytes, counted by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from artery.core.plan import Plan
from artery.core.profile import Profile
from artery.step.data_parallel import scatters_each
from artery.step.optimizer import RULES, accumulation_time, optimizer_time, owned
from artery.step.plans import Plans
from artery.step.stages import Weights
from tests.step import toys

STREAM = 3e12 * 0.8
BASE = Plan(dp=8, global_batch=8, sequence=1024)
MANY = Weights(np.array([8e9]), np.array([0.0]))


def test_state_is_what_zero_counts() -> None:
    # ZeRO (arXiv 1910.02054), section 3.1: K = 12 for mixed-precision Adam.
    assert RULES["adam"].state == 12
    assert RULES["sgd"].state == 8  # master copy and momentum


def test_adam_moves_thirty_bytes_per_weight_it_owns() -> None:
    # Reads w, m, v, g in FP32 (16), writes w, m, v (12) and the 16-bit weight (2).
    seconds = [
        optimizer_time(MANY, toys.job(toys.gpt(), replace(BASE, zero=zero)), "optimizer")[0]
        for zero in (0, 1, 2, 3)
    ]
    assert seconds[0] == pytest.approx(30 * 8e9 / STREAM)
    assert seconds[1:] == pytest.approx([30 * 1e9 / STREAM] * 3)


def test_experts_are_shared_by_fewer_chips() -> None:
    plans = Plans.of([replace(BASE, ep=4, zero=1)])
    weights = Weights(np.array([8.0]), np.array([8.0]))
    assert owned(weights, plans) == 8 / 8 + 8 / 2


@pytest.mark.parametrize(
    ("fused", "grad", "moved"),
    # Own pass: read the new gradient (2 B), read and write the sum. Fused: the sum is read and
    # written where the product would have written the gradient.
    [(False, "fp32", 2 + 4 + 4), (True, "fp32", 4 + 4 - 2), (False, "bf16", 2 + 2 + 2)],
)
def test_accumulation(fused: bool, grad: str, moved: int) -> None:
    profile: Profile = replace(toys.PROFILE, fused_accumulation=fused)
    job = toys.job(toys.gpt(), replace(BASE, grad_dtype=grad), profile=profile)
    assert accumulation_time(MANY, job, "accumulation") == pytest.approx(moved * 8e9 / STREAM)


@pytest.mark.parametrize(
    ("zero", "pp", "kept", "each"),
    [(0, 1, False, False), (1, 1, False, False), (2, 1, False, True), (3, 1, False, True),
     (2, 2, False, False), (3, 2, False, True), (3, 2, True, False), (3, 1, True, True)],
)  # fmt: skip
def test_who_scatters_every_micro_batch(zero: int, pp: int, kept: bool, each: bool) -> None:
    profile = replace(toys.PROFILE, shard_keeps_parameters=kept)
    job = toys.job(toys.gpt(), replace(BASE, zero=zero, pp=pp), profile=profile)
    assert scatters_each(job.plans, job.machine).tolist() == [each]
    shard = accumulation_time(MANY, job, "accumulation")
    assert shard == pytest.approx(10 * 8e9 / (8 if each else 1) / STREAM)
