"""The pipeline: steady state, bubble, point-to-point transfers, and what runs once per step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from artery.core.arrays import Floats
from artery.step.data_parallel import LayerTraffic, StepTraffic, scatters_each
from artery.step.job import Job
from artery.step.micro import Ends, Micro
from artery.step.plans import Plans, floats
from artery.step.stages import Stages
from artery.step.traffic import price


@dataclass(frozen=True, slots=True)
class Slowest:
    """The pipeline stage that sets the pace: its parts per micro-batch, and a middle stage."""

    parts: Micro
    layers: Floats
    middle: Micro


def slowest(ends: Ends, held: Stages, plans: Plans) -> Slowest:
    """Return the parts of the stage with the longest micro-batch.

    The first stage also runs the input part, the last the output part; one stage runs all.
    """
    first = ends.layer.scaled(held.first) + ends.first
    last = ends.layer.scaled(held.last) + ends.last
    middle = ends.layer.scaled(held.middle)
    whole = ends.layer.scaled(held.first) + ends.first + ends.last
    alone = plans.pp == 1
    last_leads = last.total >= np.maximum(first.total, middle.total)
    first_leads = ~last_leads & (first.total >= middle.total)
    chosen = [whole, last, first, middle]
    cases = [alone, ~alone & last_leads, ~alone & first_leads]

    def pick(name: str) -> Floats:
        values = [getattr(option, name) for option in chosen]
        return np.select(cases, values[:3], values[3])

    parts = Micro(*(pick(name) for name in Micro.__dataclass_fields__))
    layers = np.select(cases, [held.first, held.last, held.first], held.middle)
    return Slowest(parts, layers, middle.scaled(floats(~alone)))


def transfer(job: Job) -> Floats:
    """Return seconds to hand one micro-batch's activations to the next stage.

    Megatron-LM cuts them over the tensor-parallel ranks (arXiv 2104.04473, section 4.1). Priced is
    the whole pipeline: where some stages share a node and others do not, all wait for those.
    """
    plans, machine = job.plans, job.machine
    boundary = max((layer.boundary for layer in job.workload.kinds), default=0)
    size = plans.rows * boundary * machine.width / plans.tp
    seconds = price(machine, "sendrecv", size, plans.pp, plans.tp * plans.cp * plans.dp)
    return job.ledger.put(
        "micro_batch.transfer",
        seconds,
        formula="send/receive of rows·boundary·width/tp between neighbouring stages",
        source="Megatron-LM (arXiv 2104.04473) section 4.1",
        bytes=size,
    )


def pipeline(pace: Slowest, hop: Floats, job: Job) -> tuple[Floats, Floats]:
    """Return (point-to-point, bubble) seconds of a step.

    1F1B with v chunks idles (p - 1)/v micro-batches and sends 2·v times per micro-batch
    (arXiv 2104.04473, sections 2.2.1 and 2.2.2).
    """
    plans = job.plans
    hidden = job.machine.hidden("pp")
    steady = plans.micro_batches * 2.0 * plans.vpp * hop * (1.0 - hidden)
    fill = (plans.pp - 1) * 2.0 * hop
    bubble = (plans.pp - 1) / plans.vpp * pace.middle.total
    return np.where(plans.pp > 1, steady + fill, 0.0), np.where(plans.pp > 1, bubble, 0.0)


def once_per_step(wire: StepTraffic, pace: Slowest, job: Job) -> Floats:
    """Return the exposed part of gradient reduction and weight gathering.

    Reduction hides behind the backward pass of the last micro-batch (of the last min(n, p)
    when chunks interleave), gathering behind the forward pass of the first. ZeRO 2 without a
    pipeline reduces after each micro-batch, behind its own backward pass.
    """
    plans = job.plans
    hidden, contention = job.machine.hidden("dp"), job.machine.profile.contention
    window = np.where(plans.vpp > 1, np.minimum(plans.micro_batches, plans.pp), 1)
    often = scatters_each(plans, job.machine)
    rounds, passes = np.where(often, plans.micro_batches, 1), np.where(often, 1, window)
    behind = np.minimum(wire.reduce, hidden * pace.parts.backward * passes)
    ahead = np.minimum(wire.gather, hidden * pace.parts.forward * window)
    reduced = rounds * (wire.reduce - (1.0 - contention) * behind)
    return floats(reduced + wire.gather - (1.0 - contention) * ahead)


def every_layer(wire: LayerTraffic, root: Floats, pace: Slowest, layer: Micro, job: Job) -> Floats:
    """Return FSDP's exposed seconds per step.

    A layer's gather hides behind the previous layer's pass, and slows it by the contention
    share; ``root`` (embedding and head, gathered first) cannot hide.
    """
    hidden, contention = job.machine.hidden("dp"), job.machine.profile.contention

    def left(comm: Floats, busy: Floats) -> Floats:
        covered = np.minimum(comm, hidden * busy)
        return comm - covered + contention * np.minimum(comm, busy)

    per_layer = left(wire.forward, layer.forward) + left(wire.backward, layer.backward)
    return job.plans.micro_batches * (pace.layers * per_layer + root)
