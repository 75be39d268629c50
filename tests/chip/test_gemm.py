"""Matrix products: what tiles, waves and memory cost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from artery.catalog import chip
from artery.chip.gemm import matmul_time
from artery.chip.roofline import streaming_rate, sustained_rate
from artery.core.chip import Chip
from artery.errors import InputError

A100 = chip("a100-80g")
H100 = chip("h100-sxm")


def reached(m: float, n: float, k: float, found: Chip, dtype: str = "bf16") -> float:
    """Return the FLOP/s of a product over the sustained rate."""
    seconds = float(matmul_time(m, n, k, chip=found, dtype=dtype))
    return 2 * m * n * k / seconds / sustained_rate(found, dtype)


@pytest.mark.parametrize("found", [A100, H100])
def test_a_large_product_reaches_nearly_the_sustained_rate(found: Chip) -> None:
    assert 0.97 < reached(16384, 16384, 16384, found) <= 1


def test_a_thin_product_is_bound_by_memory() -> None:
    seconds = float(matmul_time(1, 8192, 8192, chip=H100, dtype="bf16"))
    weights = 2 * 8192 * 8192 / streaming_rate(H100) + H100.efficiency.kernel
    assert weights <= seconds < 1.1 * weights


def test_a_partly_filled_wave_costs_a_whole_one_without_persistent_kernels() -> None:
    # 128 x 256 tiles: 12 x 9 = 108 tiles fill an A100 once, 12 x 10 = 120 twice.
    full, spill = (
        float(matmul_time(128 * 12, 256 * n, 8192, chip=A100, dtype="bf16")) for n in (9, 10)
    )
    assert spill / full > 1.3
    smooth = replace(A100, efficiency=replace(A100.efficiency, wave_quantisation=0.0))
    spread = float(matmul_time(128 * 12, 256 * 10, 8192, chip=smooth, dtype="bf16"))
    assert spread < spill


def test_a_deep_product_of_one_tile_is_split_over_the_inner_dimension() -> None:
    one_core = 2 * 128 * 128 * 65536 / (sustained_rate(H100, "bf16") / H100.cores)
    assert float(matmul_time(128, 128, 65536, chip=H100, dtype="bf16")) < one_core / 4


def test_narrow_types_move_fewer_bytes() -> None:
    wide, narrow = (
        float(matmul_time(8, 16384, 16384, chip=H100, dtype=dtype)) for dtype in ("bf16", "fp8")
    )
    assert narrow < 0.6 * wide


def test_a_batch_runs_in_one_kernel() -> None:
    one = float(matmul_time(512, 512, 64, 1, chip=H100, dtype="bf16"))
    many = float(matmul_time(512, 512, 64, 100, chip=H100, dtype="bf16"))
    assert many < 100 * one


def test_arrays_broadcast() -> None:
    shape = matmul_time(np.ones((5, 1)), 64.0, np.arange(1.0, 4.0), chip=H100, dtype="bf16").shape
    assert shape == (5, 3)


def test_the_dtypes_a_chip_has_are_named() -> None:
    with pytest.raises(InputError, match="fp64, fp32, fp16"):
        matmul_time(1, 1, 1, chip=chip("v100"), dtype="tf32")
