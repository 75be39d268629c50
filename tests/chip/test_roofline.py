"""The roofline and the rates under it."""

from __future__ import annotations

import numpy as np
import pytest

from artery.catalog import chip
from artery.chip.roofline import (
    intensity,
    peak,
    ridge_point,
    roofline_time,
    streaming_rate,
    sustained_rate,
)
from artery.errors import InputError

H100 = chip("h100-sxm")


def test_a_kernel_is_bound_by_arithmetic_or_by_memory() -> None:
    fixed = H100.efficiency.kernel
    compute, memory = roofline_time([1e12, 0.0], [0.0, 1e9], chip=H100, dtype="bf16") - fixed
    assert compute == pytest.approx(1e12 / (989.4e12 * H100.efficiency.matmul["bf16"]))
    assert memory == pytest.approx(1e9 / (3.35e12 * H100.efficiency.memory))


def test_at_the_ridge_both_limits_meet() -> None:
    ridge = ridge_point(H100, "bf16")
    flop, moved = ridge * 1e9, 1e9
    assert flop / sustained_rate(H100, "bf16") == pytest.approx(moved / streaming_rate(H100))
    assert intensity(flop, moved) == pytest.approx(ridge)


def test_times_broadcast() -> None:
    assert roofline_time(np.ones((3, 1)), np.ones(4), chip=H100, dtype="fp8").shape == (3, 4)


def test_a_missing_dtype_is_never_replaced_by_another() -> None:
    with pytest.raises(InputError) as caught:
        peak(chip("v100"), "bf16")
    problem = caught.value.problems[0]
    assert "bf16" in problem.found
    assert "fp16" in problem.fix
    assert problem.field == "dtype"
