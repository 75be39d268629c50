"""One micro-batch through one average layer and through the two ends of the model."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from artery.core.arrays import Floats, Ints
from artery.core.workload import Layer
from artery.step.job import Job
from artery.step.layer import LayerCost, layer_cost
from artery.step.machine import Machine
from artery.step.plans import RECOMPUTE, floats
from artery.step.traffic import Traffic, context_parallel, expert_parallel, tensor_parallel


@dataclass(frozen=True, slots=True)
class Micro:
    """Seconds of one micro-batch, forward, backward and recomputation together, by part.

    ``tp``, ``cp`` and ``ep`` are what remains exposed. ``forward`` and ``backward`` are the
    durations of the two passes (recomputation counts as backward), which other communication
    can hide behind.
    """

    compute: Floats
    memory_bound: Floats
    tp: Floats
    cp: Floats
    ep: Floats
    host: Floats
    forward: Floats
    backward: Floats

    @property
    def total(self) -> Floats:
        """Duration of both passes."""
        return self.forward + self.backward

    def scaled(self, factor: Floats | float) -> Micro:
        """All parts ``factor`` times."""
        return Micro(*(getattr(self, f.name) * factor for f in fields(self)))

    def __add__(self, other: Micro) -> Micro:
        return Micro(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def spread(self, inverse: Ints) -> Micro:
        """Parts of the plans that share each distinct cost."""
        return Micro(*(getattr(self, f.name)[inverse] for f in fields(self)))


def nothing(count: int) -> Micro:
    """A micro-batch that costs nothing, for ``count`` plans."""
    zero = np.zeros(count)
    return Micro(*(zero for _ in fields(Micro)))


@dataclass(frozen=True, slots=True)
class Ends:
    """The average repeated layer, what runs before the layers, and what runs after them."""

    layer: Micro
    first: Micro
    last: Micro


def ends(job: Job) -> Ends:
    """Return the micro-batch costs of layers, input part and output part."""
    total = nothing(len(job.plans))
    for layer in job.workload.kinds:
        share = layer.count / max(job.workload.depth, 1)
        total = total + _micro(layer, job, repeated=True).scaled(share)
    return Ends(
        layer=total,
        first=_micro(job.workload.first, job, repeated=False),
        last=_micro(job.workload.last, job, repeated=False),
    )


def _micro(layer: Layer, job: Job, *, repeated: bool) -> Micro:
    """Passes of one layer; only ``repeated`` layers are recomputed and meet the host floor."""
    plans, machine = job.plans, job.machine
    path = f"micro_batch.{layer.name}"
    cost = layer_cost(layer, job, path)
    tensor = tensor_parallel(layer, job, path)
    context = context_parallel(layer, job, path)
    expert = expert_parallel(layer, job, path)
    again = plans.recomputed if repeated else np.zeros(len(plans))
    selective = floats(plans.recompute == RECOMPUTE.index("selective")) * repeated
    redone = cost.forward.scaled(again) + cost.core.scaled(selective)
    tp = _exposed(tensor, again, machine, "tp")
    ep = _exposed(expert, again, machine, "ep")
    cp = _beside_attention(context, cost, again, machine)
    forward = cost.forward.total + tp.forward + cp.forward + ep.forward
    backward = cost.backward.total + redone.total + tp.backward + cp.backward + ep.backward
    wait = np.zeros(len(plans))
    if repeated:
        wait = _host(forward + backward, again, job, path)
    job.ledger.put(
        path,
        forward + backward + wait,
        formula="forward + backward + recomputation + exposed communication + host wait",
        combine="none",
        forward=forward,
        backward=backward,
        recomputed=redone.total,
        host_wait=wait,
        count=layer.count,
    )
    return Micro(
        compute=cost.forward.compute + cost.backward.compute + redone.compute,
        memory_bound=cost.forward.traffic + cost.backward.traffic + redone.traffic,
        tp=tp.forward + tp.backward,
        cp=cp.forward + cp.backward,
        ep=ep.forward + ep.backward,
        host=wait,
        forward=forward + wait / 3.0,
        backward=backward + wait * (2.0 / 3.0),
    )


def _exposed(wire: Traffic, again: Floats, machine: Machine, kind: str) -> Traffic:
    """What is left of ``kind`` after hiding: hidden traffic still slows compute a little."""
    hidden = machine.hidden(kind)
    share = 1.0 - hidden * (1.0 - machine.profile.contention)
    return Traffic(wire.forward * share, (wire.backward + wire.forward * again) * share)


def _beside_attention(wire: Traffic, cost: LayerCost, again: Floats, machine: Machine) -> Traffic:
    """Ring attention hides its exchange behind the attention core only."""
    hidden = machine.hidden("cp")
    forward = wire.forward - hidden * np.minimum(wire.forward, cost.core.total)
    backward = wire.backward - hidden * np.minimum(wire.backward, 2.0 * cost.core.total)
    return Traffic(forward, backward + forward * again)


def _host(busy: Floats, again: Floats, job: Job, path: str) -> Floats:
    """Seconds that the chip waits for the host to launch a layer's kernels.

    max(0, host·passes - chip time): launch-bound layers run at the host's pace.
    """
    need = job.machine.profile.host * (2.0 + again)
    return job.ledger.put(
        f"{path}.host",
        np.maximum(0.0, need - busy),
        formula="max(0, host·passes - chip time)",
        source="launch floor of eager frameworks; profile constant",
        host=job.machine.profile.host,
        passes=2.0 + again,
        chip_time=busy,
    )
