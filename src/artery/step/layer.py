"""Time of one layer's computation for one micro-batch on one chip, forward and backward."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from artery.chip.attention import attention_time
from artery.chip.gemm import matmul_time
from artery.chip.roofline import WIDTH
from artery.core.arrays import Floats
from artery.core.workload import Attention, Elementwise, Layer, Matmul
from artery.step.job import Job
from artery.step.machine import Machine
from artery.step.plans import Plans, floats

SCORE_BYTES_FORWARD = 9.0
SCORE_BYTES_BACKWARD = 11.0
"""Bytes moved per attention score by the unfused core: scale-mask-softmax reads and writes two
bytes each, dropout again and one byte of mask; backward reads the mask, softmax and gradient.
Counted from the fused kernels of Megatron-LM 2021."""

SCORE_KERNELS = 3.0
"""Kernels of the unfused score core besides its two products: softmax, dropout, mask."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of one pass over one layer, one micro-batch: products and memory-bound work."""

    compute: Floats
    traffic: Floats

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.compute + other.compute, self.traffic + other.traffic)

    def scaled(self, factor: Floats | float) -> Cost:
        """This cost ``factor`` times."""
        return Cost(self.compute * factor, self.traffic * factor)

    @property
    def total(self) -> Floats:
        """Both parts, one after the other."""
        return self.compute + self.traffic


@dataclass(frozen=True, slots=True)
class LayerCost:
    """Forward and backward cost of a layer.

    ``core`` is the forward cost of attention alone, which selective recomputation runs again.
    """

    forward: Cost
    backward: Cost
    core: Cost


def layer_cost(layer: Layer, job: Job, path: str) -> LayerCost:
    """Return the cost of one ``layer`` (not times its ``count``) for each plan."""
    nothing = np.zeros(len(job.plans))
    forward, backward, core = (Cost(nothing, nothing) for _ in range(3))
    seen: dict[str, int] = {}
    for operator in layer.operators:
        seen[operator.name] = seen.get(operator.name, 0) + 1
        again = f" #{seen[operator.name]}" if seen[operator.name] > 1 else ""
        spot = f"{path}.{operator.name}{again}"
        if isinstance(operator, Matmul):
            pair = _matmul(operator, layer, job, spot)
        elif isinstance(operator, Attention):
            pair = _attention(operator, job, spot)
            core = core + pair[0]
        else:
            pair = _elementwise(operator, job, spot)
        forward, backward = forward + pair[0], backward + pair[1]
    return LayerCost(forward, backward, core)


def _matmul(op: Matmul, layer: Layer, job: Job, path: str) -> tuple[Cost, Cost]:
    """Forward, and the two backward products (data and weight gradient) of one projection."""
    plans, machine = job.plans, job.machine
    m, n, k, batch = _shape(op, layer, plans)
    dtype = machine.activation if op.split == "vocab" else machine.operand

    def seconds(rows: Floats, columns: Floats, inner: Floats) -> Floats:
        raw = matmul_time(rows, columns, inner, batch, chip=machine.chip, dtype=dtype)
        return raw / machine.chip.efficiency.sustained

    forward = seconds(m, n, k)
    backward = seconds(m, k, n) + seconds(k, n, m)
    job.ledger.put(
        path,
        forward + backward,
        formula="GEMM(m,n,k) + GEMM(m,k,n) + GEMM(k,n,m), over the sustained clock",
        source="tile and wave model of chip.gemm; backward products as in SC21 section 3.2",
        m=m,
        n=n,
        k=k,
        batch=batch,
        dtype=dtype,
        forward=forward,
        backward=backward,
    )
    cast = np.zeros(len(plans))
    if WIDTH[machine.operand] < machine.width and op.split != "vocab":
        cast = _cast(batch * m * k, machine)
    return Cost(forward, cast), Cost(backward, 2.0 * cast)


def _shape(op: Matmul, layer: Layer, plans: Plans) -> tuple[Floats, Floats, Floats, Floats]:
    """m, n, k and batch of ``op`` on one chip."""
    rows = plans.rows * op.rows
    batch = np.full(len(plans), float(op.batch))
    divisor = plans.tp.astype(np.float64)
    if op.split == "expert" and layer.routing is not None:
        experts = layer.routing.experts / plans.ep
        received = rows * plans.etp / plans.tp * plans.shared.load_factor
        rows, batch, divisor = received / experts, experts, plans.etp.astype(np.float64)
    n = op.n / divisor if op.side == "column" else np.full(len(plans), float(op.n))
    k = op.k / divisor if op.side == "row" else np.full(len(plans), float(op.k))
    if op.side == "none":
        rows = rows / (plans.sequence_shards if op.split == "sequence" else 1)
    return np.maximum(rows, 1.0), np.maximum(n, 1.0), np.maximum(k, 1.0), batch


def _cast(elements: Floats, machine: Machine) -> Floats:
    """Seconds to cast activations to the narrow dtype of the products.

    The kernel before it hands over narrow values; what is added is the transposed copy that the
    weight gradient needs: read and write, narrow. Weights are cast once per step, not counted
    (Transformer Engine's user guide, FP8 primer).
    """
    return floats(elements * 2.0 * WIDTH[machine.operand] / machine.stream)


def _attention(op: Attention, job: Job, path: str) -> tuple[Cost, Cost]:
    """The score core: fused where the plan says so, else two batched products and softmax."""
    plans, machine = job.plans, job.machine
    keys = _keys(op, plans)
    heads = op.heads / plans.tp
    rows = plans.rows
    if plans.shared.attention == "eager":
        pair = _eager(op, plans, machine)
    else:
        flop = 2.0 * heads * (op.qk_dim + op.v_dim) * keys * rows
        length = np.minimum(plans.sequence, op.window or plans.sequence)
        forward, backward = attention_time(
            flop,
            length,
            chip=machine.chip,
            kind=plans.shared.attention,
            dtype=machine.activation,
        )
        nothing = np.zeros(len(plans))
        sustained = machine.chip.efficiency.sustained
        pair = Cost(forward / sustained, nothing), Cost(backward / sustained, nothing)
    job.ledger.put(
        path,
        pair[0].total + pair[1].total,
        formula="2·heads·(qk+v)·keys·rows FLOP over the kernel's curve, or two batched products",
        source="FlashAttention-2 (arXiv 2307.08691) section 3; Korthikanti 2022 (arXiv 2205.05198)",
        kind=plans.shared.attention,
        heads=heads,
        keys=keys,
        rows=rows,
        forward=pair[0].total,
        backward=pair[1].total,
    )
    return pair


def _keys(op: Attention, plans: Plans) -> Floats:
    """Keys that a query meets on average."""
    if op.keys is not None:
        return np.full(len(plans), float(op.keys))
    full = plans.sequence.astype(np.float64)
    if op.window is not None:
        window = np.minimum(full, op.window)
        if op.causal:
            return np.asarray(window - window * window / (2.0 * full))
        return window
    return full / 2.0 if op.causal else full


def _eager(op: Attention, plans: Plans, machine: Machine) -> tuple[Cost, Cost]:
    """Unfused attention computes and moves the full score matrix, causal or not."""
    chip, dtype = machine.chip, machine.activation
    length = np.full(len(plans), float(op.keys)) if op.keys else plans.sequence.astype(np.float64)
    batch = op.heads / plans.tp * np.maximum(plans.micro_batch, 1)
    queries = plans.sequence / plans.cp

    def product(m: Floats, n: Floats, k: Floats) -> Floats:
        raw = matmul_time(m, n, k, batch, chip=chip, dtype=dtype)
        return raw / chip.efficiency.sustained

    qk, v = np.full(len(plans), float(op.qk_dim)), np.full(len(plans), float(op.v_dim))
    forward = product(queries, length, qk) + product(queries, v, length)
    backward = 2.0 * forward
    scores = batch * queries * length
    kernels = SCORE_KERNELS * machine.profile.kernels * chip.efficiency.kernel
    width = machine.width / 2.0
    move = scores * width / machine.stream
    return (
        Cost(forward, SCORE_BYTES_FORWARD * move + kernels),
        Cost(backward, SCORE_BYTES_BACKWARD * move + kernels),
    )


def _elementwise(op: Elementwise, job: Job, path: str) -> tuple[Cost, Cost]:
    """Memory-bound work: bytes over the streamed bandwidth, and a fixed cost per kernel.

    What a framework composes of single operations is counted as it runs: no factor on top.
    """
    plans, machine = job.plans, job.machine
    traffic, launched = machine.profile.traffic, machine.profile.kernels
    if machine.profile.composed and op.composed is not None:
        op, traffic, launched = op.composed, 1.0, 1.0
    shards = {
        "none": np.ones(len(plans)),
        "sequence": plans.sequence_shards,
    }.get(op.split, plans.tp)
    bytes_per_element = machine.width * traffic
    moved = plans.rows / shards * bytes_per_element / machine.stream
    kernel = machine.chip.efficiency.kernel * launched
    forward = floats(op.forward * moved + op.forward_kernels * kernel)
    backward = floats(op.backward * moved + op.backward_kernels * kernel)
    job.ledger.put(
        path,
        forward + backward,
        formula="elements·rows/shards·width·traffic/(bandwidth·efficiency) + kernels·kernel time",
        source="count of reads and writes per kernel; traffic is the framework's fusion factor",
        elements_forward=op.forward,
        elements_backward=op.backward,
        rows=plans.rows,
        shards=shards,
        bandwidth=machine.stream,
        traffic=traffic,
        forward=forward,
        backward=backward,
    )
    nothing = np.zeros(len(plans))
    return Cost(nothing, forward), Cost(nothing, backward)
