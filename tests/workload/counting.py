"""Sums over a workload that many tests want."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from artery.core.workload import Attention, Elementwise, Layer, Matmul, Saved, Split, Workload

WIDTH = 2
"""Bytes of a 16-bit activation."""


def matmuls(workload: Workload) -> Iterator[tuple[int, Matmul]]:
    """Yield every matrix product with the number of layers that have it."""
    for layer in workload.parts:
        for operator in layer.operators:
            if isinstance(operator, Matmul):
                yield layer.count, operator


def macs(workload: Workload) -> float:
    """Multiply-adds of all matrix products, per row and forward pass."""
    return sum(n * op.rows * op.k * op.n * op.batch for n, op in matmuls(workload))


def score_flops(workload: Workload, sequence: int) -> float:
    """FLOP of all score cores, per row and forward pass."""
    total = 0.0
    for layer in workload.parts:
        for core in layer.operators:
            if isinstance(core, Attention):
                keys = min(sequence / 2 if core.causal else sequence, core.window or sequence)
                total += layer.count * 2 * core.heads * (core.qk_dim + core.v_dim) * keys
    return total


def everything(_: Saved) -> bool:
    """Whether to count an activation: always."""
    return True


def kept_bytes(
    layer: Layer,
    sequence: int,
    *,
    tp: int = 1,
    sharded: bool = False,
    which: Callable[[Saved], bool] = everything,
) -> float:
    """Bytes that one layer keeps per row; ``sharded`` is sequence parallelism."""

    def part(split: Split) -> int:
        return tp if split == "tensor" or (split == "sequence" and sharded) else 1

    return sum(
        item.elements
        * (item.bytes if item.bytes is not None else WIDTH)
        * (sequence if item.per_key else 1)
        / part(item.split)
        for item in layer.saved
        if which(item)
    )


def elementwise(layer: Layer) -> list[Elementwise]:
    """Return the memory-bound operators of a layer."""
    return [operator for operator in layer.operators if isinstance(operator, Elementwise)]
