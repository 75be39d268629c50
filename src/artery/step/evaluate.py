"""``evaluate``: step time and memory of many plans at once, term by term."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from artery.chip.roofline import WIDTH
from artery.core.plan import Plan
from artery.core.pricing import Pricer
from artery.core.profile import Profile
from artery.core.system import System
from artery.core.workload import Workload
from artery.step.data_parallel import LayerTraffic, per_layer, per_step
from artery.step.flops import StepFlops, step_flops
from artery.step.ledger import Ledger
from artery.step.machine import Machine, machine
from artery.step.memory import Memory, fits, memory
from artery.step.micro import Ends, ends
from artery.step.optimizer import optimizer_time
from artery.step.plans import Floats, Plans, distinct
from artery.step.schedule import Slowest, every_layer, once_per_step, pipeline, slowest, transfer
from artery.step.stages import StageWeights, layer_weights, stage_weights, stages
from artery.step.traffic import price
from artery.step.uncertainty import interval

PARTS = (
    "compute", "memory_bound", "tp", "pp", "cp", "ep", "dp", "bubble", "optimizer", "host",
    "straggler", "other",
)  # fmt: skip
"""The parts of a step; they sum to it."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Arrays over the plans: ``step`` with its 80 % interval in seconds, its ``parts`` (named in
    ``PARTS``), memory in bytes per chip, ``fits`` (0 no, 1 at the limit, 2 yes), FLOP per step.
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
    notes = ledger or Ledger()
    frame = machine(system, pricer, profile, table.shared)
    held = stages(workload, table)
    weights = stage_weights(workload, table, held)
    parts = _parts(workload, table, frame, notes)
    parts["straggler"] = _straggler(parts, table, frame, notes)
    step = sum(parts.values(), np.zeros(len(table)))
    low, high = interval(parts, step)
    room = memory(workload, table, frame, held, weights, notes)
    _note_parts(parts, step, notes)
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


def _parts(
    workload: Workload, plans: Plans, frame: Machine, notes: Ledger
) -> dict[str, Floats]:
    """All parts but the straggler's."""
    held = stages(workload, plans)
    weights = stage_weights(workload, plans, held)
    costs = _micro_costs(workload, plans, frame, notes)
    pace = slowest(costs, held, plans)
    count = plans.micro_batches
    hop = _on_distinct_hop(workload, plans, frame, notes)
    pp, bubble = pipeline(pace, hop, plans, frame)
    return {
        "compute": count * pace.parts.compute,
        "memory_bound": count * pace.parts.memory_bound,
        "tp": count * pace.parts.tp,
        "pp": pp,
        "cp": count * pace.parts.cp,
        "ep": count * pace.parts.ep,
        "dp": _data_parallel(workload, plans, frame, notes, (weights, costs, pace)),
        "bubble": bubble,
        "optimizer": optimizer_time(weights.fullest, plans, frame, notes, "optimizer"),
        "host": count * pace.parts.host,
        "other": _tied_embedding(workload, plans, frame, notes),
    }


def _micro_costs(workload: Workload, plans: Plans, frame: Machine, notes: Ledger) -> Ends:
    """Micro-batch costs, computed once per distinct combination of what they depend on."""
    first, inverse = distinct(
        plans.tp, plans.cp, plans.ep, plans.etp, plans.micro_batch, plans.sequence,
        plans.sequence_parallel, plans.recompute,
    )  # fmt: skip
    few = ends(workload, plans.take(first), frame, notes)
    return Ends(few.layer.spread(inverse), few.first.spread(inverse), few.last.spread(inverse))


def _on_distinct_hop(workload: Workload, plans: Plans, frame: Machine, notes: Ledger) -> Floats:
    first, inverse = distinct(
        plans.tp, plans.cp, plans.dp, plans.micro_batch, plans.sequence, np.minimum(plans.pp, 2)
    )
    return transfer(workload, plans.take(first), frame, notes)[inverse]


def _data_parallel(
    workload: Workload,
    plans: Plans,
    frame: Machine,
    notes: Ledger,
    known: tuple[StageWeights, Ends, Slowest],
) -> Floats:
    """Exposed data-parallel seconds: once per step, or per layer and micro-batch (FSDP)."""
    weights, costs, pace = known
    first, inverse = distinct(
        plans.tp, plans.pp, plans.vpp, plans.cp, plans.ep, plans.etp, plans.dp,
        plans.dp_replicate, plans.zero,
    )  # fmt: skip
    few = plans.take(first)
    some = stage_weights(workload, few, stages(workload, few))
    once = per_step(some.fullest, few, frame, notes, "data_parallel_per_step")
    step = type(once)(once.reduce[inverse], once.gather[inverse])
    kept = (plans.pp > 1) & frame.profile.shard_keeps_parameters
    fully = (plans.zero == 3) & ~kept
    exposed = once_per_step(step, pace, plans, frame)
    if not np.any(fully):
        return exposed
    layer = per_layer(some.layer, few, frame, notes, "data_parallel_per_layer")
    wire = LayerTraffic(layer.forward[inverse], layer.backward[inverse])
    outer = layer_weights(workload.first, few) + layer_weights(workload.last, few)
    root = per_layer(outer, few, frame, notes, "data_parallel_root")
    both = (root.forward + root.backward)[inverse] / np.minimum(plans.pp, 2)
    often = every_layer(wire, both, pace, costs.layer, plans, frame)
    return np.where(fully, often, exposed)


def _tied_embedding(
    workload: Workload, plans: Plans, frame: Machine, notes: Ledger
) -> Floats:
    """All-reduce of a tied embedding's gradient between first and last stage."""
    if not workload.tied:
        return np.zeros(len(plans))
    size = layer_weights(workload.first, plans).total * WIDTH[plans.shared.grad_dtype]
    two = np.where(plans.pp > 1, 2, 1)
    stride = plans.tp * plans.cp * plans.dp * np.maximum(plans.pp - 1, 1)
    return notes.put(
        "tied_embedding",
        price(frame, "all_reduce", size, two, stride),
        formula="all-reduce of the embedding's gradient over first and last stage",
        source="Megatron-LM (arXiv 2104.04473)",
        bytes=size,
    )


def _straggler(
    parts: Mapping[str, Floats], plans: Plans, frame: Machine, notes: Ledger
) -> Floats:
    share = frame.profile.straggler
    nodes = np.maximum(plans.chips / frame.system.chips_per_node, 1.0)
    busy = sum(parts.values(), np.zeros(len(plans)))
    return notes.put(
        "straggler_of_many",
        share * np.log2(nodes) * busy,
        formula="share·log2(nodes)·everything else",
        source="slowest of n; constant fitted, see the accuracy page",
        share=share,
        nodes=nodes,
    )


_MEANING = {
    "compute": "micro-batches · (matrix products + attention) on the slowest stage",
    "memory_bound": "micro-batches · elementwise work on the slowest stage",
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


def _note_parts(parts: Mapping[str, Floats], step: Floats, notes: Ledger) -> None:
    notes.put("step", step, formula="sum of the parts", combine="sum")
    for name in PARTS:
        notes.put(f"step.{name}", parts[name], formula=_MEANING[name])
