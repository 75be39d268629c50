"""Memory of one chip: weights, gradients, optimizer state, activations, the rest."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from artery.chip.roofline import WIDTH
from artery.core.arrays import Floats, Ints
from artery.core.workload import Layer, Saved
from artery.step.data_parallel import by_layer, groups, scatters_each
from artery.step.job import Job
from artery.step.machine import Machine
from artery.step.optimizer import RULES, owned
from artery.step.plans import RECOMPUTE, Plans, distinct, floats
from artery.step.stages import Weights, stage_weights, stages

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
        state = self.weights + self.gradients + self.optimizer
        return floats(state + self.activations + self.other)


def saved_bytes(saved: Saved, plans: Plans, width: float) -> Floats:
    """Return bytes per chip of one saved activation for one micro-batch and layer."""
    bytes_each = width if saved.bytes is None else saved.bytes
    elements = saved.elements * plans.rows
    if saved.per_key:
        elements = elements * plans.sequence
    divisor = {"none": np.ones(len(plans)), "sequence": plans.sequence_shards}.get(
        saved.split, plans.tp
    )
    return floats(elements * bytes_each / divisor)


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


def in_flight(plans: Plans, stage: Ints) -> Floats:
    """Micro-batches whose activations ``stage`` (0 the first) holds, in units of its own layers.

    1F1B on p stages: p - stage. Interleaved with v chunks: (v - 1)·p + 2·(p - 1 - stage) chunks
    of warm-up and the one at work, over v; p·(1 + (p - 1)/(p·v)) on the first stage (Korthikanti
    2022, section 4.2.3; warm-up as in Megatron-LM's interleaved schedule). Never more than n.
    """
    deep = ((plans.vpp - 1) * plans.pp + 2 * (plans.pp - 1 - stage) + 1) / plans.vpp
    held = np.where(plans.vpp > 1, deep, plans.pp - stage)
    return np.minimum(held, plans.micro_batches)


@dataclass(frozen=True, slots=True)
class _State:
    """Bytes on a stage that do not depend on the micro-batch."""

    weights: Floats
    gradients: Floats
    optimizer: Floats
    gathered: Floats

    def spread(self, inverse: Ints) -> _State:
        """The bytes of the plans that share each distinct state."""
        return _State(*(getattr(self, f.name)[inverse] for f in fields(self)))


@dataclass(frozen=True, slots=True)
class _Kept:
    """Bytes of activations of one micro-batch: per layer, of the two ends, of the layer at work."""

    layer: Floats
    entry: Floats
    output: Floats
    peak: Floats
    rows: Floats

    def spread(self, inverse: Ints) -> _Kept:
        """The bytes of the plans that share each distinct micro-batch."""
        return _Kept(*(getattr(self, f.name)[inverse] for f in fields(self)))


def memory(job: Job) -> Memory:
    """Return the memory of the fullest stage of each plan: the first, second or last one.

    The second holds as many layers as any middle one, and more micro-batches than the next.
    What plans share of weights or of a micro-batch is computed once.
    """
    plans = job.plans
    first, inverse = distinct(
        plans.tp, plans.pp, plans.vpp, plans.cp, plans.ep, plans.etp, plans.dp,
        plans.dp_replicate, plans.zero,
    )  # fmt: skip
    few = job.take(first)
    held = stages(job.workload, few.plans)
    weights = stage_weights(job.workload, few.plans, held)
    layers = (held.first, np.where(few.plans.pp > 2, held.middle, 0.0), held.last)
    states = (weights.first, weights.middle, weights.last)
    kept = _kept(job)
    places = (np.zeros_like(plans.pp), np.minimum(plans.pp - 1, 1), plans.pp - 1)
    found: list[tuple[Memory, Floats]] = []
    for place, count, state in zip(places, layers, states, strict=True):
        known = _state(few, state, weights.layer).spread(inverse)
        busy = in_flight(plans, place)
        held_by = _activations(job, kept, place, count[inverse], busy)
        found.append((_stage(job, known, held_by), busy))
    chosen, flight = found[0]
    for stage, busy in found[1:]:
        fuller = stage.total > chosen.total
        pairs = zip(_parts(stage), _parts(chosen), strict=True)
        flight = np.where(fuller, busy, flight)
        chosen = Memory(*(np.where(fuller, a, b) for a, b in pairs))
    _explain(chosen, flight, job)
    return chosen


def _parts(m: Memory) -> tuple[Floats, ...]:
    return (m.weights, m.gradients, m.optimizer, m.activations, m.other)


def _state(job: Job, weights: Weights, layer: Weights) -> _State:
    """Weights, gradients and optimizer state of one stage with ``weights``."""
    plans, machine = job.plans, job.machine
    group = groups(plans)
    fully = by_layer(plans, machine)
    shard, expert = np.where(fully, group.shard, 1), np.where(fully, group.expert, 1)
    held = (weights.dense / shard + weights.expert / expert) * machine.width
    gathered = np.where(fully, UNSHARDED_LAYERS * layer.total * machine.width, 0.0)
    mine = owned(weights, plans)
    # Llama 3 says that its gradients are sharded (arXiv 2407.21783, section 3.3.2).
    keeps = machine.profile.shard_keeps_parameters
    sharded = scatters_each(plans, machine) | ((plans.zero >= 2) & keeps)
    graded = np.where(sharded, mine, weights.total) * WIDTH[plans.shared.grad_dtype]
    return _State(held, graded, RULES[plans.shared.optimizer].state * mine, gathered)


def _stage(job: Job, state: _State, activations: Floats) -> Memory:
    """Bytes on one stage."""
    profile = job.machine.profile
    held = state.weights + state.gradients + state.optimizer
    reserve = profile.reserve * (held + activations + state.gathered)
    return Memory(
        weights=state.weights,
        gradients=state.gradients,
        optimizer=state.optimizer,
        activations=activations,
        other=state.gathered + reserve + profile.context,
    )


def _activations(job: Job, kept: _Kept, place: Ints, layers: Floats, busy: Floats) -> Floats:
    """Bytes kept for backward: layers and input part times micro-batches in flight, output part.

    Recomputation brings one whole layer back at a time. Under sequence parallelism the layer at
    work also holds its gathered input and its output before the reduce-scatter.
    """
    held = kept.layer * layers + np.where(place == 0, kept.entry, 0.0)
    held = held * busy + kept.peak + kept.rows
    return floats(held + np.where(place == job.plans.pp - 1, kept.output, 0.0))


def _kept(job: Job) -> _Kept:
    """What one micro-batch keeps, computed once per distinct one."""
    plans = job.plans
    first, inverse = distinct(
        plans.tp, plans.cp, plans.micro_batch, plans.sequence, plans.recompute,
        plans.sequence_parallel,
    )  # fmt: skip
    return _micro_batch(job.take(first)).spread(inverse)


def _micro_batch(job: Job) -> _Kept:
    plans, machine, workload = job.plans, job.machine, job.workload
    kept = np.zeros(len(plans))
    peak = np.zeros(len(plans))
    for part in workload.kinds:
        keeps, everything = layer_activations(part, plans, machine)
        kept = kept + keeps * part.count / workload.depth
        peak = np.maximum(peak, np.where(plans.recomputed > 0, everything, 0.0))
    entry, output = (
        sum(
            (saved_bytes(saved, plans, machine.width) for saved in part.saved), np.zeros(len(plans))
        )
        for part in (workload.first, workload.last)
    )
    logits = plans.rows * workload.logits * machine.profile.logit_bytes / plans.tp
    return _Kept(kept, entry, output + logits, peak, _gathered_rows(job))


def _gathered_rows(job: Job) -> Floats:
    """Return the bytes of the whole rows around a block under sequence parallelism.

    They are gathered before it and scattered after it: input and output, rows·width each
    (Korthikanti 2022, figure 5).
    """
    plans = job.plans
    whole = plans.rows * max((part.boundary for part in job.workload.kinds), default=0)
    parallel = (plans.sequence_parallel == 1) & (plans.tp > 1)
    return floats(np.where(parallel, 2.0 * whole * job.machine.width, 0.0))


def fits(total: Floats, capacity: float) -> Floats:
    """Return 0 (no), 1 (at_limit) or 2 (yes) for each total against ``capacity`` bytes."""
    ratio = total / capacity
    return np.where(ratio <= 1.0 - AT_LIMIT, 2.0, np.where(ratio <= 1.0 + AT_LIMIT, 1.0, 0.0))


def _explain(chosen: Memory, flight: Floats, job: Job) -> None:
    plans, machine, ledger = job.plans, job.machine, job.ledger
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
        formula="weights on the stage · gradient width (/ shards where scattered)",
        source="ZeRO (arXiv 1910.02054) section 5", width=WIDTH[plans.shared.grad_dtype],
    )  # fmt: skip
    ledger.put(
        "memory.optimizer", chosen.optimizer, unit="B",
        formula="weights · state bytes (/ shards from ZeRO 1 on)",
        source="ZeRO (arXiv 1910.02054) section 3.1", state_bytes=rule.state,
    )  # fmt: skip
    ledger.put(
        "memory.activations", chosen.activations, unit="B",
        formula="saved per layer · layers · micro-batches in flight + recomputed layer + logits",
        source="Korthikanti 2022 (arXiv 2205.05198) equations 1 to 6",
        in_flight=flight, rows=plans.rows,
    )  # fmt: skip
    ledger.put(
        "memory.other", chosen.other, unit="B",
        formula="gathered FSDP layers + reserve · the rest + context",
        source="framework profile", reserve=machine.profile.reserve,
        context=machine.profile.context,
    )  # fmt: skip
