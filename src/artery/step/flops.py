"""FLOP of one step, by the conventions of MFU and HFU."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from artery.core.arrays import Floats
from artery.core.workload import Attention, Layer, Matmul, Workload
from artery.step.plans import RECOMPUTE, Plans


@dataclass(frozen=True, slots=True)
class StepFlops:
    """FLOP of one step over all chips.

    ``model``: forward and backward, three forward passes' worth, attention counted over all keys
    (PaLM, arXiv 2204.02311, appendix B). ``hardware`` adds recomputation.
    """

    model: Floats
    hardware: Floats


def forward_flops(layer: Layer, sequence: Floats) -> tuple[Floats, Floats]:
    """Return (all, attention core) FLOP of one row through one ``layer``, forward."""
    products = sum(
        2.0 * op.rows * op.k * op.n * op.batch for op in layer.operators if isinstance(op, Matmul)
    )
    core = np.zeros(len(sequence))
    for op in layer.operators:
        if isinstance(op, Attention):
            keys = np.full(len(sequence), float(op.keys)) if op.keys else sequence
            if op.window is not None:
                keys = np.minimum(keys, op.window)
            core = core + 2.0 * op.heads * (op.qk_dim + op.v_dim) * keys
    return products + core, core


def step_flops(workload: Workload, plans: Plans) -> StepFlops:
    """Return the FLOP of one step over all chips."""
    sequence = plans.sequence.astype(np.float64)
    rows = plans.global_batch * sequence
    model = np.zeros(len(plans))
    redone = np.zeros(len(plans))
    selective = plans.recompute == RECOMPUTE.index("selective")
    for layer in (workload.first, workload.last):
        model = model + layer.count * forward_flops(layer, sequence)[0]
    for layer in workload.kinds:
        whole, core = forward_flops(layer, sequence)
        model = model + layer.count * whole
        redone = redone + layer.count * (whole * plans.recomputed + core * selective)
    return StepFlops(3.0 * model * rows, (3.0 * model + redone) * rows)
