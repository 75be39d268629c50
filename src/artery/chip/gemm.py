"""Time of a matrix product: tiles, waves and memory.

A product is cut into tiles of the output, which the chip's cores work off in waves. Two losses
follow: a tile that sticks out over the edge is computed in full, and a last wave that fills few
cores takes as long as a full one, unless the kernel is persistent and spreads it
(``efficiency.wave_quantisation``). Meanwhile the operands stream through memory.

The form follows "Stream-K" (Osama et al., arXiv 2301.03598, section 3) for waves and split-K; it
was chosen, and its constants were bounded, by fits to the GEMM tables of aiconfigurator-core
0.12.0 (Apache-2.0).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from artery.chip.roofline import WIDTH, streaming_rate, sustained_rate
from artery.core.arrays import Floats
from artery.core.chip import Chip

TILES: Final = (
    (128, 256, 1.0),
    (256, 128, 1.0),
    (128, 128, 1.0),
    (128, 64, 0.9),
    (64, 128, 0.9),
)
"""Rows, columns and speed of the output tiles that a library chooses from.

The three large ones are CUTLASS's usual shapes. The narrow ones (heads of 64, few rows) load
1.5 times the operands per FLOP; that they run at 0.9 of the speed is assumed.
"""

SPLITS: Final = (1, 2, 4, 8)
"""Into how many parts the inner dimension may be cut when there are fewer tiles than cores."""

SHARPNESS: Final = 4.0
"""Assumed exponent that rounds the roofline's corner: (compute^p + memory^p)^(1/p)."""

PARTIAL_SUM: Final = 8.0
"""Bytes per output element and split: an FP32 partial sum is written once and read once."""

OUTPUT: Final = 2.0
"""Least bytes of an output element: narrower operands still give 16-bit results."""


def matmul_time(
    m: ArrayLike, n: ArrayLike, k: ArrayLike, batch: ArrayLike = 1.0, *, chip: Chip, dtype: str
) -> Floats:
    """Return the seconds of ``batch`` products of m x k with k x n, in one kernel.

    The arguments are positive arrays that broadcast together, not necessarily whole numbers (a
    share of a dimension). The best of :data:`TILES` and :data:`SPLITS` counts:

    time = (compute^p + memory^p)^(1/p) + kernel, where

    * compute = waves · tile's FLOP / (peak·efficiency / cores),
    * waves = q·ceil(w) + (1 - q)·max(w, 1) with w = tiles·splits / cores, q how fully a partly
      filled wave is paid for,
    * memory = (operands + output + partial sums) / (bandwidth·efficiency).

    Raises :class:`artery.errors.InputError` if the chip has no peak for ``dtype``.
    """
    rows, columns, inner, count = np.broadcast_arrays(
        *(np.asarray(size, np.float64) for size in (m, n, k, batch))
    )
    core_rate = sustained_rate(chip, dtype) / chip.cores
    stream = streaming_rate(chip)
    outputs = count * rows * columns
    operands = count * (rows + columns) * inner * WIDTH[dtype]
    moved = operands + outputs * max(WIDTH[dtype], OUTPUT)
    best = np.full(rows.shape, np.inf)
    for tile_rows, tile_columns, speed in TILES:
        tiles = np.ceil(rows / tile_rows) * np.ceil(columns / tile_columns) * count
        one_tile = 2.0 * tile_rows * tile_columns * inner / (core_rate * speed)
        few = tiles < chip.cores
        for split in SPLITS if np.any(few) else SPLITS[:1]:
            compute = _waves(tiles * split / chip.cores, chip) * one_tile / split
            extra = outputs * PARTIAL_SUM * split if split > 1 else 0.0
            time = _joined(compute, (moved + extra) / stream)
            allowed = few if split > 1 else np.True_
            best = np.minimum(best, np.where(allowed, time, np.inf))
    return np.asarray(best + chip.efficiency.kernel)


def _waves(full: Floats, chip: Chip) -> Floats:
    """Return how many waves are paid for when ``full`` (a fraction) are filled."""
    paid = chip.efficiency.wave_quantisation
    return np.asarray(paid * np.ceil(full) + (1.0 - paid) * np.maximum(full, 1.0))


def _joined(compute: Floats, memory: Floats) -> Floats:
    """Return the smooth maximum of the two times, at least the larger of them."""
    larger = np.maximum(compute, memory)
    ratio = np.minimum(compute, memory) / larger
    return np.asarray(larger * (1.0 + ratio**SHARPNESS) ** (1.0 / SHARPNESS))
