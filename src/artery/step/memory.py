"""Memory of one chip: weights, gradients, optimizer state, activations, the rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from artery.chip.roofline import WIDTH
from artery.core.workload import Layer, Saved, Workload
from artery.step.data_parallel import groups
from artery.step.ledger import Ledger
from artery.step.machine import Machine
from artery.step.optimizer import RULES, owned
from artery.step.plans import RECOMPUTE, Floats, Plans
from artery.step.stages import Stages, StageWeights, Weights

AT_LIMIT = 0.08
"""A total within this share of the capacity, either way, is called ``at_limit``."""

UNSHARDED_LAYERS = 2
"""Layers whose gathered weights FSDP holds at once: the one in use and the one prefetched
(PyTorch FSDP, arXiv 2304.11277, section 3.3)."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes per chip on the fullest pipeline stage, by kind."""

    weights: Floats
    gradients: Floats
    optimizer: Floats
    activations: Floats
    other: Floats

    @property
    def total(self) -> Floats:
        """All kinds together."""
        return self.weights + self.gradients + self.optimizer + self.activations + self.other


def saved_bytes(saved: Saved, plans: Plans, width: float) -> Floats:
    """Return bytes per chip of one saved activation for one micro-batch and layer."""
    bytes_each = width if saved.bytes is None else saved.bytes
    elements = saved.elements * plans.rows
    if saved.per_key:
        elements = elements * plans.sequence
    divisor = {"none": np.ones(len(plans)), "sequence": plans.sequence_shards}.get(
        saved.split, plans.tp
    )
    return elements * bytes_each / divisor


def layer_activations(layer: Layer, plans: Plans, machine: Machine) -> tuple[Floats, Floats]:
    """Return (kept, without recomputation) bytes of one ``layer`` and micro-batch per chip.

    ``none`` keeps everything, of the attention core only what the kernel needs (fused
    attention keeps no scores); ``selective`` drops the core; ``full`` keeps the layer's input
    (Korthikanti 2022, arXiv 2205.05198, equations 1 to 6).
    """
    everything = np.zeros(len(plans))
    core = np.zeros(len(plans))
    for saved in layer.saved:
        if saved.core and plans.shared.attention != "eager":
            continue
        amount = saved_bytes(saved, plans, machine.width)
        everything = everything + amount
        if saved.core:
            core = core + amount
    entry = layer.boundary * plans.rows * machine.width / plans.sequence_shards
    share = plans.recomputed
    selective = plans.recompute == RECOMPUTE.index("selective")
    kept = np.where(selective, everything - core, everything)
    return kept * (1.0 - share) + entry * share, everything


def in_flight(plans: Plans) -> Floats:
    """Micro-batches whose activations the first stage holds, in units of its own layers.

    1F1B: min(p, n). Interleaved with v chunks: p·(1 + (p - 1)/(p·v)) of them (Korthikanti
    2022, section 4.2.3), never more than n.
    """
    deep = plans.pp * (1.0 + (plans.pp - 1) / (plans.pp * plans.vpp))
    held = np.where(plans.vpp > 1, deep, plans.pp)
    return np.minimum(held, plans.micro_batches)


def memory(
    workload: Workload,
    plans: Plans,
    machine: Machine,
    held: Stages,
    weights: StageWeights,
    ledger: Ledger,
) -> Memory:
    """Return the memory of the fullest of the two end stages of each plan."""
    first = _stage(workload, plans, machine, held.first, weights.first, weights.layer, True)
    last = _stage(workload, plans, machine, held.last, weights.last, weights.layer, False)
    fuller = first.total >= last.total
    chosen = Memory(*(np.where(fuller, a, b) for a, b in zip(_parts(first), _parts(last), strict=True)))
    _explain(chosen, plans, machine, ledger)
    return chosen


def _parts(m: Memory) -> tuple[Floats, ...]:
    return (m.weights, m.gradients, m.optimizer, m.activations, m.other)


def _stage(
    workload: Workload,
    plans: Plans,
    machine: Machine,
    layers: Floats,
    weights: Weights,
    layer: Weights,
    first: bool,
) -> Memory:
    profile = machine.profile
    group = groups(plans)
    width, grad = machine.width, WIDTH[plans.shared.grad_dtype]
    fully = (plans.zero == 3) & ~((plans.pp > 1) & profile.shard_keeps_parameters)
    shard, expert = np.where(fully, group.shard, 1), np.where(fully, group.expert, 1)
    local = weights.dense / shard + weights.expert / expert
    gathered = np.where(fully, UNSHARDED_LAYERS * layer.total * width, 0.0)
    graded = np.where(plans.zero >= 2, owned(weights, plans), weights.total)
    kept = np.zeros(len(plans))
    peak = np.zeros(len(plans))
    for part in workload.layers:
        keeps, everything = layer_activations(part, plans, machine)
        kept = kept + keeps * part.count / workload.depth
        peak = np.maximum(peak, np.where(plans.recomputed > 0, everything, 0.0))
    flight = in_flight(plans) if first else np.minimum(1.0, plans.micro_batches)
    alone = plans.pp == 1
    activations = kept * layers * flight + peak
    output, _ = layer_activations(workload.last, plans, machine)
    logits = plans.rows * workload.logits * profile.logit_bytes / plans.tp
    holds_output = alone | (not first)
    activations = activations + np.where(holds_output, output + logits, 0.0)
    solid = local * width + graded * grad + RULES[plans.shared.optimizer].state * owned(weights, plans)
    reserve = profile.reserve * (solid + activations + gathered)
    return Memory(
        weights=local * width,
        gradients=graded * grad,
        optimizer=RULES[plans.shared.optimizer].state * owned(weights, plans),
        activations=activations,
        other=gathered + reserve + profile.context,
    )


def fits(total: Floats, capacity: float) -> Floats:
    """Return 0 (no), 1 (at_limit) or 2 (yes) for each total against ``capacity`` bytes."""
    ratio = total / capacity
    return np.where(ratio <= 1.0 - AT_LIMIT, 2.0, np.where(ratio <= 1.0 + AT_LIMIT, 1.0, 0.0))


def _explain(chosen: Memory, plans: Plans, machine: Machine, ledger: Ledger) -> None:
    rule = RULES[plans.shared.optimizer]
    ledger.put(
        "memory", chosen.total, unit="B", combine="sum",
        formula="weights + gradients + optimizer + activations + other",
        capacity=machine.chip.memory.capacity,
    )  # fmt: skip
    ledger.put(
        "memory.weights", chosen.weights, unit="B",
        formula="weights on the stage · width (/ shards with ZeRO 3)",
        source="ZeRO (arXiv 1910.02054) section 3.1", width=machine.width,
    )  # fmt: skip
    ledger.put(
        "memory.gradients", chosen.gradients, unit="B",
        formula="weights on the stage · gradient width (/ shards from ZeRO 2 on)",
        source="ZeRO (arXiv 1910.02054) section 5", width=WIDTH[plans.shared.grad_dtype],
    )  # fmt: skip
    ledger.put(
        "memory.optimizer", chosen.optimizer, unit="B",
        formula="weights · state bytes (/ shards from ZeRO 1 on)",
        source="ZeRO (arXiv 1910.02054) section 3.1", state_bytes=rule.state,
    )  # fmt: skip
    ledger.put(
        "memory.activations", chosen.activations, unit="B",
        formula="saved bytes per layer · layers · micro-batches in flight + recomputed layer + logits",
        source="Korthikanti 2022 (arXiv 2205.05198) equations 1 to 6",
        in_flight=in_flight(plans), rows=plans.rows,
    )  # fmt: skip
    ledger.put(
        "memory.other", chosen.other, unit="B",
        formula="gathered FSDP layers + reserve · the rest + context",
        source="framework profile", reserve=machine.profile.reserve,
        context=machine.profile.context,
    )  # fmt: skip
