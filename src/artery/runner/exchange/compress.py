"""What goes over the wire instead of fp32 gradients: fp16, bf16, or a low rank (PowerSGD).

Each codec averages one flat bucket over the ranks. ``start`` sends without waiting, ``finish``
waits and returns the mean in the bucket's own type. Gradients are divided by the number of ranks
before they are narrowed, so that a sum never leaves fp16's range if no gradient does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import torch
import torch.distributed as dist
from torch import Tensor

KINDS: Final = ("none", "fp16", "bf16", "powersgd")
WIRE: Final = {"fp16": torch.float16, "bf16": torch.bfloat16}

Finish = Callable[[], Tensor]


class Peers(Protocol):
    """The ranks among which a codec finds a mean."""

    def size(self) -> int:
        """Return how many ranks there are, this one included."""

    def begin(self, wire: Tensor) -> Callable[[], object]:
        """Begin to sum ``wire`` over the ranks, in place; the result waits until it is there."""


@dataclass(frozen=True)
class Ranks:
    """The ranks of a process group (default: all)."""

    group: dist.ProcessGroup | None = None

    def size(self) -> int:
        """Return how many ranks there are."""
        return dist.get_world_size(self.group)

    def begin(self, wire: Tensor) -> Callable[[], object]:
        """Begin an all-reduce of ``wire``."""
        work = dist.all_reduce(wire, group=self.group, async_op=True)
        wait: Callable[[], object] = work.wait
        return wait


class Codec(Protocol):
    """How the mean of one bucket over the ``peers`` is found; ``sent`` are the bytes it took."""

    peers: Peers
    sent: list[int]

    def start(self, bucket: int, flat: Tensor, shapes: Sequence[torch.Size]) -> Finish:
        """Send ``flat``, the gradients of ``shapes`` in a row; the result waits for the mean."""

    def state(self) -> dict[str, Any]:
        """Return what must be kept from step to step."""

    def load_state(self, state: dict[str, Any]) -> None:
        """Go on from :meth:`state`."""


@dataclass
class Narrow:
    """The all-reduce of a bucket in ``kind``: ``none`` (as it is), ``fp16`` or ``bf16``.

    Error of the mean over n ranks: each of n gradients is rounded once and so is each of n - 1
    sums, so at most n·u·mean(abs g), u = 2^-11 for fp16 and 2^-8 for bf16 (IEEE 754; bfloat16
    has 8 bits of significand), plus fp16's smallest step 2^-24 where values underflow.
    """

    kind: str
    peers: Peers = field(default_factory=Ranks)
    sent: list[int] = field(default_factory=list)
    """Bytes of each bucket handed to the all-reduce, in order."""

    def start(self, bucket: int, flat: Tensor, shapes: Sequence[torch.Size]) -> Finish:  # noqa: ARG002
        """Send the bucket in the wire's type."""
        mean = flat.div_(self.peers.size())
        wire = mean.to(WIRE[self.kind]) if self.kind in WIRE else mean
        self.sent.append(wire.nbytes)
        wait = self.peers.begin(wire)

        def finish() -> Tensor:
            wait()
            return wire.to(flat.dtype)

        return finish

    def state(self) -> dict[str, Any]:
        """Return nothing: each step stands alone."""
        return {}

    def load_state(self, state: dict[str, Any]) -> None:
        """Take nothing."""


@dataclass
class PowerSgd:
    """PowerSGD: each gradient matrix of n x m goes as P (n x rank) and Q (m x rank).

    One power iteration per step (Vogels et al. 2019, arXiv 1905.13727, Algorithm 1). What a step
    loses is added to the next one's gradient (error feedback), so over steps nothing is lost. A
    gradient of one dimension, or one that the factors would not make smaller, goes whole. The
    factors are found with all ranks' help, so that all have the same mean.
    """

    rank: int = 4
    peers: Peers = field(default_factory=Ranks)
    sent: list[int] = field(default_factory=list)
    _queries: dict[tuple[int, int], Tensor] = field(default_factory=dict)
    _errors: dict[tuple[int, int], Tensor] = field(default_factory=dict)

    def start(self, bucket: int, flat: Tensor, shapes: Sequence[torch.Size]) -> Finish:
        """Send the first factors of the bucket; the second follow when these are there."""
        flat.div_(self.peers.size())
        whole, matrices = self._sorted(bucket, flat, shapes)
        for key, matrix in matrices:
            matrix.add_(self._errors[key])
        left = [matrix @ self._queries[key] for key, matrix in matrices]
        first = _flat([*whole, *left], flat)
        self.sent.append(first.nbytes)
        wait = self.peers.begin(first)

        def finish() -> Tensor:
            wait()
            _spread(first, [*whole, *left])
            bases = [torch.linalg.qr(one).Q for one in left]
            right = [matrix.T @ base for (_, matrix), base in zip(matrices, bases, strict=True)]
            second = _flat(right, flat)
            self.sent.append(second.nbytes)
            self.peers.begin(second)()
            own = [one.clone() for one in right]
            _spread(second, right)
            for (key, matrix), base, mine, mean in zip(matrices, bases, own, right, strict=True):
                self._errors[key] = matrix - base @ mine.T
                self._queries[key] = mean
                matrix.copy_(base @ mean.T)
            return flat

        return finish

    def _sorted(
        self, bucket: int, flat: Tensor, shapes: Sequence[torch.Size]
    ) -> tuple[list[Tensor], list[tuple[tuple[int, int], Tensor]]]:
        """Return the bucket's pieces (views): those that go whole, and keyed matrices."""
        whole: list[Tensor] = []
        matrices: list[tuple[tuple[int, int], Tensor]] = []
        at = 0
        for index, shape in enumerate(shapes):
            piece = flat[at : at + shape.numel()]
            at += shape.numel()
            rows, columns, rank = _factors(shape, self.rank)
            if not rank:
                whole.append(piece)
                continue
            key, matrix = (bucket, index), piece.view(rows, columns)
            if key not in self._queries:
                seed = torch.Generator().manual_seed(1_000_003 * bucket + index)
                self._queries[key] = torch.randn(columns, rank, generator=seed).to(flat)
                self._errors[key] = torch.zeros_like(matrix)
            matrices.append((key, matrix))
        return whole, matrices

    def state(self) -> dict[str, Any]:
        """Return the factors and the errors that the next step starts from."""
        return {"queries": dict(self._queries), "errors": dict(self._errors)}

    def load_state(self, state: dict[str, Any]) -> None:
        """Go on from the factors and errors of :meth:`state`."""
        self._queries, self._errors = dict(state["queries"]), dict(state["errors"])


def wire_bytes(kind: str, rank: int, shapes: Iterable[torch.Size]) -> int:
    """Return how many bytes of the fp32 gradients of ``shapes`` go over the wire."""
    if kind != "powersgd":
        return sum(shape.numel() for shape in shapes) * WIRE.get(kind, torch.float32).itemsize
    total = 0
    for shape in shapes:
        rows, columns, used = _factors(shape, rank)
        total += used * (rows + columns) if used else shape.numel()
    return total * torch.float32.itemsize


def _factors(shape: torch.Size, rank: int) -> tuple[int, int, int]:
    """Return rows, columns and rank of a gradient as a matrix; rank 0: it goes whole."""
    rows = shape[0] if len(shape) > 1 else 1
    columns = shape.numel() // max(rows, 1)
    used = min(rank, rows, columns)
    return rows, columns, used if len(shape) > 1 and used * (rows + columns) < rows * columns else 0


def codec(kind: str, rank: int, peers: Peers) -> Codec:
    """Return the codec ``kind`` of :data:`KINDS`; ``rank`` is PowerSGD's."""
    return PowerSgd(rank, peers) if kind == "powersgd" else Narrow(kind, peers)


def _flat(pieces: Sequence[Tensor], like: Tensor) -> Tensor:
    return torch.cat([piece.reshape(-1) for piece in pieces]) if pieces else like.new_empty(0)


def _spread(flat: Tensor, pieces: Sequence[Tensor]) -> None:
    """Copy ``flat`` back over ``pieces``, in order."""
    at = 0
    for piece in pieces:
        piece.copy_(flat[at : at + piece.numel()].view_as(piece))
        at += piece.numel()
