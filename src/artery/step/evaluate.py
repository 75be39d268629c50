"""``evaluate``: step time and memory of many plans at once, term by term."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from artery.chip.roofline import WIDTH
from artery.core.arrays import Floats
from artery.core.plan import Plan
from artery.core.pricing import Pricer
from artery.core.profile import Profile
from artery.core.system import System
from artery.core.workload import Workload
from artery.step.data_parallel import (
    OF_ENDS,
    OF_LAYER,
    LayerTraffic,
    StepTraffic,
    by_layer,
    per_layer,
    per_step,
)
from artery.step.flops import StepFlops, step_flops
from artery.step.job import Job
from artery.step.ledger import Ledger
from artery.step.machine import machine
from artery.step.memory import Memory, fits, memory
from artery.step.micro import Ends, ends
from artery.step.optimizer import accumulation_time, optimizer_time
from artery.step.plans import Plans, distinct, floats
from artery.step.schedule import Slowest, every_layer, once_per_step, pipeline, slowest, transfer
from artery.step.stages import Stages, StageWeights, layer_weights, stage_weights, stages
from artery.step.traffic import price
from artery.step.uncertainty import common, interval

PARTS = (
    "compute", "memory_bound", "tp", "pp", "cp", "ep", "dp", "bubble", "optimizer", "host",
    "straggler", "other",
)  # fmt: skip
"""The parts of a step; they sum to it."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Arrays over the plans.

    ``step`` with its 80 % interval in seconds, its ``parts`` (named in ``PARTS``), memory in
    bytes per chip, ``fits`` (0 no, 1 at the limit, 2 yes), FLOP per step.
    """

    plans: Plans
    step: Floats
    low: Floats
    high: Floats
    parts: Mapping[str, Floats]
    memory: Memory
    fits: Floats
    flops: StepFlops


def evaluate(
    workload: Workload,
    system: System,
    plans: Plans | Sequence[Plan],
    *,
    profile: Profile,
    pricer: Pricer,
    ledger: Ledger | None = None,
) -> Evaluation:
    """Return step time, parts and memory of every plan.

    ``plans`` must be legal (``step.legality``). With a ``ledger`` that keeps, give one plan:
    its terms are noted with formula, inputs and source. Raises ``InputError`` if the chip
    cannot compute in the plans' dtype.
    """
    table = plans if isinstance(plans, Plans) else Plans.of(plans)
    frame = machine(system, pricer, profile, table.shared)
    job = Job(workload, table, frame, ledger or Ledger())
    held = stages(workload, table)
    weights = stage_weights(workload, table, held)
    parts = _parts(job, held, weights)
    parts["straggler"] = _straggler(parts, job)
    step = sum(parts.values(), np.zeros(len(table)))
    low, high = interval(parts, step, common(job))
    room = memory(job)
    _note_parts(parts, step, job.ledger)
    return Evaluation(
        plans=table,
        step=step,
        low=low,
        high=high,
        parts={name: parts[name] for name in PARTS},
        memory=room,
        fits=fits(room.total, system.chip.memory.capacity),
        flops=step_flops(workload, table),
    )


def needed(
    workload: Workload, system: System, plans: Plans, *, profile: Profile, pricer: Pricer
) -> Memory:
    """Return the memory of every plan, without its time: exactly that of :func:`evaluate`."""
    return memory(Job(workload, plans, machine(system, pricer, profile, plans.shared), Ledger()))


def least(
    workload: Workload, system: System, plans: Plans, *, profile: Profile, pricer: Pricer
) -> Floats:
    """Return seconds that no step of the plans undercuts: micro-batches, bubble, stragglers.

    What is left out (transfers between stages, data parallelism, the optimizer) only adds.
    """
    job = Job(workload, plans, machine(system, pricer, profile, plans.shared), Ledger())
    costs = _micro_costs(job)
    pace = slowest(costs, stages(workload, plans), plans)
    _, bubble = pipeline(pace, np.zeros(len(plans)), job)
    busy = plans.micro_batches * pace.parts.total + bubble
    return floats(busy + _straggler({"busy": busy}, job))


def _parts(job: Job, held: Stages, weights: StageWeights) -> dict[str, Floats]:
    """All parts but the straggler's."""
    costs = _micro_costs(job)
    pace = slowest(costs, held, job.plans)
    count = job.plans.micro_batches
    pp, bubble = pipeline(pace, _hop(job), job)
    accumulation = accumulation_time(weights.fullest, job, "accumulation")
    return {
        "compute": count * pace.parts.compute,
        "memory_bound": count * (pace.parts.memory_bound + accumulation),
        "tp": count * pace.parts.tp,
        "pp": pp,
        "cp": count * pace.parts.cp,
        "ep": count * pace.parts.ep,
        "dp": _data_parallel(job, costs, pace),
        "bubble": bubble,
        "optimizer": optimizer_time(weights.fullest, job, "optimizer"),
        "host": count * pace.parts.host,
        "other": _tied_embedding(job),
    }


def _micro_costs(job: Job) -> Ends:
    """Micro-batch costs, computed once per distinct combination of what they depend on."""
    plans = job.plans
    first, inverse = distinct(
        plans.tp, plans.cp, plans.ep, plans.etp, plans.micro_batch, plans.sequence,
        plans.sequence_parallel, plans.recompute,
    )  # fmt: skip
    few = ends(job.take(first))
    return Ends(few.layer.spread(inverse), few.first.spread(inverse), few.last.spread(inverse))


def _hop(job: Job) -> Floats:
    """Seconds of one transfer between stages, once per distinct combination."""
    plans = job.plans
    first, inverse = distinct(
        plans.tp, plans.cp, plans.dp, plans.micro_batch, plans.sequence, np.minimum(plans.pp, 2)
    )
    return transfer(job.take(first))[inverse]


def _data_parallel(job: Job, costs: Ends, pace: Slowest) -> Floats:
    """Exposed data-parallel seconds: once per step, or per layer and micro-batch (FSDP)."""
    plans = job.plans
    first, inverse = distinct(
        plans.tp, plans.pp, plans.vpp, plans.cp, plans.ep, plans.etp, plans.dp,
        plans.dp_replicate, plans.zero,
    )  # fmt: skip
    few = job.take(first)
    some = stage_weights(job.workload, few.plans, stages(job.workload, few.plans))
    once = per_step(some.fullest, few, "data_parallel_per_step")
    step = StepTraffic(once.reduce[inverse], once.gather[inverse])
    exposed = once_per_step(step, pace, job)
    fully = by_layer(plans, job.machine)
    if not np.any(fully):
        return exposed
    layer = per_layer(some.layer, few, "data_parallel_per_layer", OF_LAYER)
    wire = LayerTraffic(layer.forward[inverse], layer.backward[inverse])
    outer = layer_weights(job.workload.first, few.plans)
    outer = outer + layer_weights(job.workload.last, few.plans)
    root = per_layer(outer, few, "data_parallel_root", OF_ENDS)
    both = (root.forward + root.backward)[inverse] / np.minimum(plans.pp, 2)
    often = every_layer(wire, both, pace, costs.layer, job)
    return np.where(fully, often, exposed)


def _tied_embedding(job: Job) -> Floats:
    """All-reduce of a tied embedding's gradient between first and last stage."""
    plans = job.plans
    if not job.workload.tied:
        return np.zeros(len(plans))
    weights = layer_weights(job.workload.first, plans).total
    size = weights * WIDTH[plans.shared.grad_dtype]
    two = np.where(plans.pp > 1, 2, 1)
    stride = plans.tp * plans.cp * plans.dp * np.maximum(plans.pp - 1, 1)
    return job.ledger.put(
        "tied_embedding",
        price(job.machine, "all_reduce", size, two, stride),
        formula="all-reduce of the embedding's gradient over first and last stage",
        source="Megatron-LM (arXiv 2104.04473)",
        bytes=size,
    )


def _straggler(parts: Mapping[str, Floats], job: Job) -> Floats:
    """What waiting for the slowest of many nodes adds to everything else."""
    share = job.machine.profile.straggler
    nodes = np.maximum(job.plans.chips / job.machine.system.chips_per_node, 1.0)
    busy = sum(parts.values(), np.zeros(len(job.plans)))
    return job.ledger.put(
        "straggler_of_many",
        share * np.log2(nodes) * busy,
        formula="share·log2(nodes)·everything else",
        source="slowest of n; constant fitted, see the accuracy page",
        share=share,
        nodes=nodes,
    )


_MEANING = {
    "compute": "micro-batches · (matrix products + attention) on the slowest stage",
    "memory_bound": "micro-batches · (elementwise work + gradient accumulation), slowest stage",
    "tp": "micro-batches · exposed tensor-parallel collectives",
    "pp": "sends between stages that nothing hides, and those that fill the pipeline",
    "cp": "micro-batches · exposed exchange of keys and values",
    "ep": "micro-batches · exposed dispatch and combine of experts",
    "dp": "gradient reduction and weight gathering that nothing hides",
    "bubble": "(p - 1)/v · one micro-batch on a middle stage",
    "optimizer": "bytes moved per weight · weights owned / streamed bandwidth",
    "host": "micro-batches · wait for the host to launch kernels",
    "straggler": "share · log2(nodes) · everything else",
    "other": "tied embedding's all-reduce",
}


_SOURCE = {
    "compute": "tile and wave model of chip.gemm, kernel curves of chip.attention",
    "memory_bound": "reads and writes of every kernel, counted; traffic factor fitted",
    "tp": "Megatron-LM (arXiv 1909.08053) section 3; collective closed forms",
    "pp": "Megatron-LM (arXiv 2104.04473) section 2.2",
    "cp": "Ring Attention (arXiv 2310.01889) section 3",
    "ep": "DeepSeek-V3 (arXiv 2412.19437) section 3.2.2",
    "dp": "ZeRO (arXiv 1910.02054) section 7; PyTorch FSDP (arXiv 2304.11277) section 3.2",
    "bubble": "Megatron-LM (arXiv 2104.04473) section 2.2",
    "optimizer": "ZeRO (arXiv 1910.02054) section 3.1",
    "host": "launch floor of eager frameworks; profile constant",
    "straggler": "slowest of n; constant fitted, see the accuracy page",
    "other": "Megatron-LM (arXiv 2104.04473)",
}


def _note_parts(parts: Mapping[str, Floats], step: Floats, notes: Ledger) -> None:
    notes.put("step", step, formula="sum of the parts", combine="sum")
    for name in PARTS:
        notes.put(f"step.{name}", parts[name], formula=_MEANING[name], source=_SOURCE[name])
