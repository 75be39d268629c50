"""The roofline: no kernel beats the chip's arithmetic or its memory.

Williams, Waterman, Patterson, "Roofline", CACM 52(4), 2009: attainable FLOP/s =
min(peak, intensity · bandwidth). Here both limits are what the chip reaches in practice
(:class:`artery.core.chip.Efficiency`), and every kernel has a fixed cost on top.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from artery.core.arrays import Floats
from artery.core.chip import Chip
from artery.errors import InputError, Problem

WIDTH: Final = {
    "fp64": 8.0,
    "fp32": 4.0,
    "tf32": 4.0,
    "fp16": 2.0,
    "bf16": 2.0,
    "fp8": 1.0,
    "int8": 1.0,
    "fp4": 0.5,
}
"""Bytes of one element in memory by dtype. TF32 is stored as FP32."""


def peak(chip: Chip, dtype: str) -> float:
    """Return the dense peak of ``chip`` in FLOP/s; never another dtype's in its place.

    Raises :class:`artery.errors.InputError` naming the dtypes that the chip has.
    """
    if dtype in chip.peaks:
        return chip.peaks[dtype]
    known = ", ".join(chip.peaks)
    raise InputError(
        Problem(
            field="dtype",
            found=f'"{dtype}" on {chip.name}',
            rule=f"the chip computes in {known}",
            fix=f"choose one of {known}",
        )
    )


def sustained_rate(chip: Chip, dtype: str) -> float:
    """Return the FLOP/s that a large matrix product reaches: peak · efficiency."""
    return peak(chip, dtype) * chip.efficiency.matmul[dtype]


def streaming_rate(chip: Chip) -> float:
    """Return the B/s that a streaming kernel reaches: memory bandwidth · efficiency."""
    return chip.memory.bandwidth * chip.efficiency.memory


def roofline_time(flop: ArrayLike, moved: ArrayLike, *, chip: Chip, dtype: str) -> Floats:
    """Return the seconds of kernels that do ``flop`` FLOP and move ``moved`` bytes.

    time = max(flop / (peak·efficiency), moved / (bandwidth·efficiency)) + kernel; the arrays
    broadcast together.
    """
    compute = np.asarray(flop, np.float64) / sustained_rate(chip, dtype)
    memory = np.asarray(moved, np.float64) / streaming_rate(chip)
    return np.asarray(np.maximum(compute, memory) + chip.efficiency.kernel)


def intensity(flop: ArrayLike, moved: ArrayLike) -> Floats:
    """Return the arithmetic intensity in FLOP per byte: flop / moved."""
    return np.asarray(np.asarray(flop, np.float64) / np.asarray(moved, np.float64))


def ridge_point(chip: Chip, dtype: str) -> float:
    """Return the intensity in FLOP/B above which arithmetic and no longer memory is the limit.

    (peak·efficiency) / (bandwidth·efficiency).
    """
    return sustained_rate(chip, dtype) / streaming_rate(chip)
