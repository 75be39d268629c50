"""The operators of one exchange of gradients: counted without computing, or timed one by one.

The exchange itself is run, with nobody at the other end: what it would send is noted and comes
back as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode

from artery.runner.exchange.buckets import Buckets
from artery.runner.exchange.compress import codec
from artery.runner.probing.operators import Operator, Watch


@dataclass(frozen=True, slots=True)
class Part:
    """Operators, and then ``bytes`` for an all-reduce (0: none)."""

    operators: tuple[Operator, ...]
    bytes: int


@dataclass(frozen=True, slots=True)
class Exchanged:
    """The parts of one exchange in order.

    ``packs``: of each bucket, until it is sent. ``rest``: of each bucket, from when its
    all-reduce is done; all but the last of them send once more.
    """

    packs: tuple[Part, ...]
    rest: tuple[tuple[Part, ...], ...]

    @property
    def sends(self) -> tuple[Part, ...]:
        """All parts that end with an all-reduce, those that begin the exchange first."""
        return (*self.packs, *(part for parts in self.rest for part in parts[:-1]))

    @property
    def operators(self) -> tuple[Operator, ...]:
        """All operators in order."""
        rest = [part for parts in self.rest for part in parts]
        return tuple(one for part in (*self.packs, *rest) for one in part.operators)


@dataclass
class _Nobody:
    """Two ranks of which the other one does not exist; notes where the exchange sends and waits."""

    watch: Watch
    marks: list[tuple[str, int, int]] = field(default_factory=list)

    def size(self) -> int:
        """Return two: one rank alone would exchange nothing."""
        return 2

    def begin(self, wire: Tensor) -> Callable[[], object]:
        """Note that ``wire`` is sent, and when it is waited for."""
        self.marks.append(("send", len(self.watch.seen), wire.nbytes))
        return lambda: self.marks.append(("wait", len(self.watch.seen), 0))


def count_exchange(model: nn.Module, compress: str, rank: int) -> Exchanged:
    """Return the operators of one exchange of the gradients of ``model``; nothing is computed."""
    with FakeTensorMode(allow_non_fake_inputs=True) as fake:
        weights = [fake.from_tensor(one) for one in _learning(model)]
        return _Exchange(weights, compress, rank).take()


class ExchangeTimer:
    """Times the operators of an exchange of ``model``'s gradients, one at each :meth:`take`."""

    def __init__(self, model: nn.Module, compress: str, rank: int) -> None:
        self._exchange = _Exchange(_learning(model), compress, rank)

    def take(self) -> list[Operator]:
        """Exchange once and return the operators with their seconds."""
        return list(self._exchange.take().operators)


def _learning(model: nn.Module) -> list[Tensor]:
    return [one.detach() for one in model.parameters() if one.requires_grad]


class _Exchange:
    """An exchange of gradients like ``weights`` that can be watched again and again."""

    def __init__(self, weights: Sequence[Tensor], compress: str, rank: int) -> None:
        self._peers = _Nobody(Watch())
        self._buckets = Buckets(codec(compress, rank, self._peers))
        self._model = nn.ParameterList([nn.Parameter(torch.ones_like(one)) for one in weights])
        for one in self._model.parameters():
            one.grad = torch.ones_like(one)
        self.take()  # not looked at: it makes what is kept

    def take(self) -> Exchanged:
        """Exchange once and return the operators with their seconds."""
        self._peers.watch, self._peers.marks = Watch(phase="exchange"), []
        with self._peers.watch:
            self._buckets.reduce(self._model)
        return _parts(self._peers.watch.seen, self._peers.marks)


def _parts(operators: Sequence[Operator], marks: Sequence[tuple[str, int, int]]) -> Exchanged:
    """Return ``operators`` cut where the exchange sends and waits.

    First every bucket is sent, then each is waited for in turn; a bucket that sends once more
    waits for that at once.
    """
    first = next(index for index, mark in enumerate(marks) if mark[0] == "wait")
    cuts = [0, *(at for _, at, _ in marks), len(operators)]
    packs = tuple(
        Part(tuple(operators[cuts[index] : cuts[index + 1]]), marks[index][2])
        for index in range(first)
    )
    rest: list[list[Part]] = []
    again = False
    for index in range(first, len(marks)):
        what, at, _ = marks[index]
        if what == "send":
            again = True
            continue
        if not again:
            rest.append([])
        again = False
        follows = index + 1 < len(marks) and marks[index + 1][0] == "send"
        size = marks[index + 1][2] if follows else 0
        rest[-1].append(Part(tuple(operators[at : cuts[index + 2]]), size))
    return Exchanged(packs, tuple(tuple(parts) for parts in rest))
