"""Communication inside a layer: tensor, context and expert parallelism, per micro-batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from artery.chip.roofline import WIDTH
from artery.core.arrays import Floats, Ints
from artery.core.pricing import Collective, Demand
from artery.core.workload import Attention, Layer, Routing
from artery.step.job import Job
from artery.step.machine import Machine
from artery.step.plans import floats

TILE: Final = 128
"""Elements of a row that are quantised with one scale (DeepSeek-V3, section 3.3.2)."""
SCALE: Final = 4
"""Bytes of a scale: 32-bit floats."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """Wire seconds of one layer and micro-batch, before any of it is hidden."""

    forward: Floats
    backward: Floats


def price(machine: Machine, kind: Collective, size: Floats, ranks: Ints, stride: Ints) -> Floats:
    """Return seconds of one operation; zero where the group has one rank or nothing to say."""
    alone = (ranks <= 1) | (size <= 0)
    if np.all(alone):
        return np.zeros(len(alone))
    demand = Demand(kind, np.where(alone, 1.0, size), np.where(alone, 1, ranks), stride)
    return np.where(alone, 0.0, machine.pricer.price(demand).seconds)


def tensor_parallel(layer: Layer, job: Job, path: str) -> Traffic:
    """All-reduces of a tensor-parallel layer, or their all-gather and reduce-scatter halves.

    ``layer.reductions`` all-reduces of rows·reduced elements forward and as many backward;
    under sequence parallelism each becomes an all-gather and a reduce-scatter of the same
    bytes, and backward gathers each input once more (Korthikanti 2022, section 4.2.2).
    """
    plans, machine = job.plans, job.machine
    if layer.reductions == 0 or not np.any(plans.tp > 1):
        return Traffic(np.zeros(len(plans)), np.zeros(len(plans)))
    size = plans.rows * layer.reduced * machine.width
    one = np.ones(len(plans), dtype=np.int64)
    parallel = plans.sequence_parallel == 1
    together, apart = np.where(parallel, 1, plans.tp), np.where(parallel, plans.tp, 1)
    whole = price(machine, "all_reduce", size, together, one)
    gather = price(machine, "all_gather", size, apart, one)
    scatter = price(machine, "reduce_scatter", size, apart, one)
    forward = layer.reductions * (whole + gather + scatter)
    backward = forward + layer.reductions * gather
    job.ledger.put(
        f"{path}.tp",
        forward + backward,
        formula="reductions·(all-reduce, or all-gather + reduce-scatter with sequence parallelism)",
        source="Megatron-LM (arXiv 1909.08053) section 3; Korthikanti 2022 section 4.2.2",
        bytes=size,
        ranks=plans.tp,
        all_reduce=whole,
        all_gather=gather,
        reduce_scatter=scatter,
    )
    return Traffic(forward, backward)


def context_parallel(layer: Layer, job: Job, path: str) -> Traffic:
    """Keys and values passed round the context-parallel ring: cp - 1 steps, twice backward."""
    plans, machine = job.plans, job.machine
    attention = [op for op in layer.operators if isinstance(op, Attention)]
    if not attention or not np.any(plans.cp > 1):
        return Traffic(np.zeros(len(plans)), np.zeros(len(plans)))
    elements = sum(op.kv_heads * (op.qk_dim + op.v_dim) for op in attention)
    shared = max(op.kv_heads for op in attention)
    held = plans.rows * elements / np.minimum(plans.tp, shared)
    ring = price(machine, "all_gather", held * plans.cp * machine.width, plans.cp, plans.tp)
    job.ledger.put(
        f"{path}.cp",
        3.0 * ring,
        formula="all-gather of keys and values over cp, once forward and twice backward",
        source="Ring Attention (arXiv 2310.01889) section 3",
        bytes=held * plans.cp * machine.width,
        ranks=plans.cp,
    )
    return Traffic(ring, 2.0 * ring)


def row_bytes(hidden: int, operand: float, activation: float) -> tuple[float, float]:
    """Return the bytes of one token's row to one expert, and of what comes back from it.

    Where products take narrower operands than activations are kept in, rows are quantised before
    they go: each ``TILE`` elements with a scale of ``SCALE`` bytes. Results come back as they are
    (DeepSeek-V3, arXiv 2412.19437, sections 3.3.1 and 3.3.3; DeepEP sends 7168 + 224 bytes).
    """
    if operand >= activation:
        return hidden * activation, hidden * activation
    return hidden * operand + SCALE * -(-hidden // TILE), hidden * activation


def expert_parallel(layer: Layer, job: Job, path: str) -> Traffic:
    """Dispatch to experts and combine: between nodes one copy per node, the rest inside.

    The copies of :func:`nodes_reached` enter the network, and all k are forwarded inside the
    nodes. Both run at once, so the slower one counts (DeepSeek-V3, arXiv 2412.19437, section
    3.2.2). The bytes told are those of all k copies of a rank's tokens; the busiest rank has
    ``load_factor`` times as many.
    """
    plans, machine = job.plans, job.machine
    nothing = np.zeros(len(plans))
    if layer.routing is None or not np.any(plans.ep > 1):
        return Traffic(nothing, nothing)
    chosen = layer.routing.top_k
    inside = np.minimum(np.maximum(machine.domain // plans.etp, 1), plans.ep)
    nodes = -(-plans.ep // inside)
    copies = nodes_reached(nodes, layer.routing)
    even = plans.rows / plans.tp
    tokens = even * plans.shared.load_factor
    there, back_again = row_bytes(layer.routing.width, WIDTH[machine.operand], machine.width)

    def exchange(row: float) -> Floats:
        outer = price(machine, "alltoall", tokens * copies * row, nodes, plans.etp * inside)
        inner = price(machine, "alltoall", tokens * chosen * row, inside, plans.etp)
        return np.maximum(outer, inner)

    dispatched, combined = exchange(there), exchange(back_again)
    back = 2.0 * combined
    job.ledger.put(
        f"{path}.ep",
        dispatched + combined + back,
        formula="max(all-to-all between nodes, inside them) for dispatch and combine, both passes",
        source="DeepSeek-V3 (arXiv 2412.19437) section 3.2.2",
        nodes=nodes,
        copies_per_token=copies,
        dispatch_bytes=even * chosen * there,
        combine_bytes=even * chosen * back_again,
        load_factor=plans.shared.load_factor,
        dispatch_seconds=dispatched,
        combine_seconds=combined,
    )
    return Traffic(dispatched + combined, back)


def nodes_reached(nodes: Ints, routing: Routing) -> Floats:
    """Return how many distinct nodes a token reaches that picks k different experts.

    With E experts spread evenly over n nodes, all picks equally likely, it is
    n·(1 - C(E - E/n, k) / C(E, k)), which nears n·(1 - (1 - 1/n)^k) for many experts. Where a
    token may pick from g of G groups only (node-limited routing, DeepSeek-V3, arXiv 2412.19437,
    section 2.1.2), its picks fall on the nodes that hold those groups: n·g/G of them, or as many
    as g of G groups reach where a node holds several.
    """
    groups, limit = routing.groups, routing.group_limit
    held = _reached(np.minimum(nodes, groups).astype(np.float64), groups, limit)
    within = np.where(nodes >= groups, nodes * limit / groups, held)
    experts = routing.experts * limit / groups
    return _reached(np.maximum(within, 1.0), experts, routing.top_k)


def _reached(places: Floats, things: float, picked: int) -> Floats:
    """How many of ``places`` hold one of the ``picked`` of ``things`` spread evenly over them."""
    elsewhere = things * (1.0 - 1.0 / places)
    missed = np.ones(len(places))
    for already in range(picked):
        missed = missed * np.maximum(elsewhere - already, 0.0) / (things - already)
    return floats(places * (1.0 - missed))
