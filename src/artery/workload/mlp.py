"""Multi-layer perceptrons."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import gcd

from artery.core.workload import Layer, Saved, Workload
from artery.workload.ends import loss
from artery.workload.feed_forward import activation
from artery.workload.sublayer import NOTHING, Side, Sublayer, layer, linear


@dataclass(frozen=True, slots=True, kw_only=True)
class MlpShape:
    """``widths`` from input to output (at least two), with biases and a ReLU between layers."""

    widths: tuple[int, ...]
    global_batch: int | None = None


def mlp(name: str, shape: MlpShape) -> Workload:
    """Return the workload of a perceptron; rows are samples.

    Tensor parallelism cuts the layers by column and by row in turn, as Megatron-LM cuts its
    feed-forward block, so every second layer ends in an all-reduce.
    """
    pairs = list(pairwise(shape.widths))
    hidden = shape.widths[1:-1]
    degree = gcd(*hidden) if hidden else 1
    return Workload(
        name=name,
        family="mlp",
        row_kind="sample",
        sequence=1,
        first=layer("input", 1, NOTHING, shape.widths[0], reductions=0),
        layers=tuple(_layer(index, k, n) for index, (k, n) in enumerate(pairs[:-1])),
        last=_output(len(pairs) - 1, *pairs[-1]),
        hidden=max(shape.widths),
        heads=degree,
        kv_heads=degree,
        logits=shape.widths[-1],
        tied=False,
        global_batch=shape.global_batch,
    )


def _layer(index: int, k: int, n: int) -> Layer:
    """Return one linear map with its ReLU."""
    name = f"layer {index + 1}"
    work = Sublayer((activation(f"{name} activation", n, gated=False),))
    return layer(name, 1, _linear(index, k, n) + work, n, reductions=index % 2)


def _output(index: int, k: int, n: int) -> Layer:
    """Return the last linear map and the loss."""
    part = _linear(index, k, n) + Sublayer((loss(n),))
    return layer("output", 1, part, n, reductions=index % 2)


def _linear(index: int, k: int, n: int) -> Sublayer:
    """Return the linear map, cut by column if ``index`` is even; its input is kept.

    The ReLU keeps no input: its output, kept by the next layer, says where it was positive.
    """
    side: Side = "row" if index % 2 else "column"
    kept = Saved(f"input {index + 1}", k, "tensor" if index % 2 else "sequence")
    return Sublayer(saved=(kept,)) + linear(f"layer {index + 1}", k, n, side=side, bias=True)
