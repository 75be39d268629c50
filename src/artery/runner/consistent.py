"""The same result bit for bit, whatever the number of processes.

A run has a fixed number L of *logical workers*, each with its share of every global batch. A
process computes the gradients of its logical workers one by one; then all gradients are gathered
and summed in the order of the logical workers, not of the processes. Sums of floating-point
numbers depend on their order, so a fixed order is all that it takes: each gradient is computed the
same way wherever it is computed, and added in the same place. The price is traffic: every process
receives all L gradients, L·S bytes instead of the 2·S·(n-1)/n of a ring.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Final

import torch
import torch.distributed as dist
from torch import Tensor, nn

PIECE: Final = 2**20
"""Numbers that are gathered at a time: 4 MiB per logical worker."""


def shares(parts: int, ranks: int) -> list[range]:
    """Return which of ``parts`` each rank takes: neighbours, as even as it goes.

    >>> shares(4, 3)
    [range(0, 2), range(2, 3), range(3, 4)]
    """
    small, more = divmod(parts, ranks)
    edges = [rank * small + min(rank, more) for rank in range(ranks + 1)]
    return [range(left, right) for left, right in pairwise(edges)]


def logical_gradients(
    model: nn.Module,
    logical: Sequence[int],
    weights: Sequence[float],
    loss: Callable[[int], Tensor],
    *,
    rank: int,
    ranks: int,
    computed: Callable[[], None] = lambda: None,
) -> None:
    """Put the weighted sum of all logical workers' gradients into ``.grad``, on every rank.

    ``logical`` are this rank's (:func:`shares`), ``weights`` those of all, ``loss`` computes one's.
    Floating-point buffers (statistics of batch norms) become the mean over the logical workers,
    each of which begins with the same ones. ``computed`` is called before the ranks meet.
    """
    parameters = [p for p in model.parameters() if p.requires_grad]
    buffers = [b for b in model.buffers() if b.is_floating_point()]
    before = [b.clone() for b in model.buffers()]
    rows: list[Tensor] = []
    for worker in logical:
        for buffer, old in zip(model.buffers(), before, strict=True):
            buffer.copy_(old)
        model.zero_grad(set_to_none=True)
        loss(worker).backward()  # type: ignore[no-untyped-call]
        rows.append(_flat(_gradients(parameters), buffers))
    computed()
    total = sum(p.numel() for p in parameters)
    length = total + sum(b.numel() for b in buffers)
    summed = torch.empty(length)
    even = [1.0 / len(weights)] * len(weights)
    whole = torch.stack(rows) if rows else torch.zeros(0, length)
    for begin in range(0, length, PIECE):
        end = min(begin + PIECE, length)
        pieces = _gathered(whole[:, begin:end].contiguous(), len(weights), rank, ranks)
        summed[begin:end] = _added(pieces, weights)
        if end > total:  # buffers are averaged, not weighted
            mean = _added(pieces, even)
            summed[max(begin, total) : end] = mean[max(begin, total) - begin :]
    _spread(summed, parameters, buffers)


def _gradients(parameters: Iterable[nn.Parameter]) -> list[Tensor]:
    return [torch.zeros_like(p) if p.grad is None else p.grad for p in parameters]


def _flat(gradients: Sequence[Tensor], buffers: Sequence[Tensor]) -> Tensor:
    parts = [t.detach().reshape(-1).float() for t in (*gradients, *buffers)]
    return torch.cat(parts) if parts else torch.empty(0)


def _gathered(rows: Tensor, parts: int, rank: int, ranks: int) -> list[Tensor]:
    """Return the rows of all logical workers, in their order."""
    if ranks == 1:
        return list(rows)
    counts = [len(share) for share in shares(parts, ranks)]
    most = max(counts)
    padded = torch.zeros(most, rows.shape[1])
    padded[: len(rows)] = rows
    gathered = [torch.empty_like(padded) for _ in range(ranks)]
    gathered[rank] = padded
    dist.all_gather(gathered, padded)
    return [block[i] for block, count in zip(gathered, counts, strict=True) for i in range(count)]


def _added(rows: Sequence[Tensor], weights: Sequence[float]) -> Tensor:
    """Add weighted rows, the first to the second, the third to that, and so on."""
    total = rows[0] * weights[0]
    for row, weight in zip(rows[1:], weights[1:], strict=True):
        total += row * weight
    return total


def _spread(flat: Tensor, parameters: Sequence[nn.Parameter], buffers: Sequence[Tensor]) -> None:
    at = 0
    for parameter in parameters:
        piece = flat[at : at + parameter.numel()].view_as(parameter)
        parameter.grad = piece.to(parameter.dtype, copy=True)
        at += parameter.numel()
    for buffer in buffers:
        buffer.copy_(flat[at : at + buffer.numel()].view_as(buffer))
        at += buffer.numel()
