"""Time of a fused attention kernel (FlashAttention's generations).

Such a kernel never writes the score matrix, so its arithmetic alone decides; short sequences
keep it from its best speed. Dao, "FlashAttention-2" (arXiv 2307.08691), section 3, and Shah et
al., "FlashAttention-3" (arXiv 2407.08608), figures 5 and 6.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from artery.chip.roofline import peak
from artery.core.arrays import Floats
from artery.core.chip import AttentionCurve, Chip
from artery.errors import InputError, Problem

BACKWARD_WORK: Final = 2.5
"""Backward FLOP over forward FLOP: five products instead of two (FlashAttention-2, section 4.1)."""

BACKWARD_SPEED: Final = 0.75
"""Assumed: backward reaches this share of the forward efficiency."""


def attention_time(
    flop: ArrayLike, length: ArrayLike, *, chip: Chip, kind: str, dtype: str
) -> tuple[Floats, Floats]:
    """Return the forward and backward seconds of fused attention.

    ``flop`` is the forward FLOP (halved already if causal) and ``length`` the sequence length s;
    they broadcast together. forward = flop / (peak · fraction · s / (s + half_length)); backward
    does :data:`BACKWARD_WORK` times the FLOP at :data:`BACKWARD_SPEED` of that efficiency.

    Raises :class:`artery.errors.InputError` if the chip has no peak for ``dtype`` or no curve
    for ``kind``.
    """
    curve = _curve(chip, kind)
    sequence = np.asarray(length, np.float64)
    reached = curve.peak_fraction * sequence / (sequence + curve.half_length)
    forward = np.asarray(np.asarray(flop, np.float64) / (peak(chip, dtype) * reached))
    return forward, np.asarray(forward * (BACKWARD_WORK / BACKWARD_SPEED))


def _curve(chip: Chip, kind: str) -> AttentionCurve:
    """Return the chip's curve for one kernel generation."""
    curves = chip.efficiency.attention
    if kind in curves:
        return curves[kind]
    known = ", ".join(curves) or "none"
    raise InputError(
        Problem(
            field="attention",
            found=f'"{kind}" on {chip.name}',
            rule=f"the chip's known fused attention kernels are {known}",
            fix=f"choose one of {known}, or eager",
        )
    )
