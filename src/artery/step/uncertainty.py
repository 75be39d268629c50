"""The 80 % interval of a step time, from how well each part is known."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from artery.step.plans import Floats

Z80 = 1.2816
"""Half-width of a normal distribution's central 80 %, in standard deviations."""

SPREAD = {
    "compute": 0.05,
    "memory_bound": 0.15,
    "tp": 0.20,
    "pp": 0.30,
    "cp": 0.30,
    "ep": 0.40,
    "dp": 0.30,
    "bubble": 0.15,
    "optimizer": 0.30,
    "host": 0.30,
    "straggler": 0.50,
    "other": 0.50,
}
"""Assumed relative standard deviation of each part, independent of one another."""

COMMON = 0.035
"""Assumed relative standard deviation of the whole step: clocks, run-to-run variation."""


def interval(parts: Mapping[str, Floats], step: Floats) -> tuple[Floats, Floats]:
    """Return (low, high) of the step: parts' deviations added in quadrature, then ±1.28 sigma.

    The interval is multiplicative, step·exp(±z·sigma), so that it never reaches zero.
    """
    variance = (COMMON * step) ** 2
    for name, value in parts.items():
        variance = variance + (SPREAD[name] * value) ** 2
    sigma = np.sqrt(variance) / step
    return step * np.exp(-Z80 * sigma), step * np.exp(Z80 * sigma)
