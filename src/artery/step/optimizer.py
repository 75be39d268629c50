"""The optimizer's pass over the weights that a chip owns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from artery.chip.roofline import WIDTH
from artery.core.arrays import Floats
from artery.step.data_parallel import groups, scatters_each
from artery.step.job import Job
from artery.step.plans import Plans
from artery.step.stages import Weights


@dataclass(frozen=True, slots=True)
class Rule:
    """Bytes per weight.

    ``state`` is kept between steps (FP32 master copy included), ``moved`` is read and written
    in one step.
    """

    state: float
    moved: float


RULES = {
    "adam": Rule(state=12.0, moved=30.0),
    "adamw": Rule(state=12.0, moved=30.0),
    "lamb": Rule(state=12.0, moved=46.0),
    "sgd": Rule(state=8.0, moved=22.0),
}
"""Adam reads weight, two moments and gradient in FP32 (16 B), writes the first three (12 B) and
the 16-bit weight (2 B). LAMB adds a pass for the two norms and one for the update (16 B). SGD with
momentum keeps one moment. States as in ZeRO (arXiv 1910.02054) section 3.1."""


def owned(weights: Weights, plans: Plans) -> Floats:
    """Return the weights that one chip updates: a shard of them from ZeRO 1 on."""
    group = groups(plans)
    sharded = plans.zero >= 1
    dense = weights.dense / np.where(sharded, group.shard, 1)
    return dense + weights.expert / np.where(sharded, group.expert, 1)


def optimizer_time(weights: Weights, job: Job, path: str) -> Floats:
    """Return seconds of the optimizer step: bytes moved over the streamed bandwidth."""
    rule = RULES[job.plans.shared.optimizer]
    mine = owned(weights, job.plans)
    return job.ledger.put(
        path,
        rule.moved * mine / job.machine.stream,
        formula="bytes moved per weight · weights owned / streamed bandwidth",
        source="ZeRO (arXiv 1910.02054) section 3.1",
        bytes_per_weight=rule.moved,
        weights=mine,
        bandwidth=job.machine.stream,
    )


def accumulation_time(weights: Weights, job: Job, path: str) -> Floats:
    """Return seconds per micro-batch to add a stage's weight gradients to the accumulated ones.

    A pass of its own reads the new gradient and reads and writes the sum; inside the matrix
    product the sum is read and written in place of the gradient. ZeRO 2 and FSDP scatter each
    micro-batch's gradients first, so only a shard is added.
    """
    plans, width = job.plans, job.machine.width
    grad = WIDTH[plans.shared.grad_dtype]
    fused = job.machine.profile.fused_accumulation
    moved = 2.0 * grad - width if fused else 2.0 * grad + width
    added = np.where(scatters_each(plans, job.machine), owned(weights, plans), weights.total)
    return job.ledger.put(
        path,
        max(moved, 0.0) * added / job.machine.stream,
        formula="bytes moved per weight · weights on the stage / streamed bandwidth",
        source="count of reads and writes of gradient accumulation",
        bytes_per_weight=moved,
        weights=added,
    )
