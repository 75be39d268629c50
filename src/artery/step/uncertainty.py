"""The 80 % interval of a step time, from how well each part is known."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt

import numpy as np

from artery.core.arrays import Floats
from artery.step.job import Job
from artery.step.machine import Machine

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

EXPERTS = 0.30
"""More of the same for mixtures of experts: on their published runs, which are in no fit, the
median error is a third (see the accuracy page)."""

NARROW = 0.10
"""For products in FP8 or narrower: as for experts, about a tenth."""

UNMEASURED = 0.12
"""For a chip whose matrix-product efficiency is assumed: measured ones spread so around 0.8."""

UNCALIBRATED = 0.10
"""For a framework profile whose constants were fitted on no run."""


def common(job: Job) -> float:
    """Return the relative standard deviation that all parts of a step share."""
    doubts = (
        (COMMON, True),
        (EXPERTS, any(layer.routing for layer in job.workload.kinds)),
        (NARROW, job.machine.operand != job.machine.activation),
        (UNMEASURED, _unmeasured(job.machine)),
        (UNCALIBRATED, not job.machine.profile.calibrated_on),
    )
    return sqrt(sum(share**2 for share, there in doubts if there))


def _unmeasured(machine: Machine) -> bool:
    """Whether no product of the chip was measured in the plan's dtype, or in BF16 beside it."""
    fields = (f"efficiency.matmul.{dtype}" for dtype in (machine.operand, "bf16"))
    known = [machine.chip.provenance[field] for field in fields if field in machine.chip.provenance]
    return bool(known) and all(source.confidence == "assumed" for source in known)


def interval(parts: Mapping[str, Floats], step: Floats, shared: float) -> tuple[Floats, Floats]:
    """Return (low, high) of the step: parts' deviations added in quadrature, then ±1.28 sigma.

    ``shared`` is the relative deviation of the whole (:func:`common`). The interval is
    multiplicative, step·exp(±z·sigma), so that it never reaches zero.
    """
    variance = (shared * step) ** 2
    for name, value in parts.items():
        variance = variance + (SPREAD[name] * value) ** 2
    sigma = np.sqrt(variance) / step
    return step * np.exp(-Z80 * sigma), step * np.exp(Z80 * sigma)
