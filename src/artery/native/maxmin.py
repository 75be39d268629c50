"""Max-min fair rates of many flows over shared links, with a certificate.

A rate is max-min fair when it cannot grow without a smaller or equal one shrinking; that holds
exactly if every flow has a bottleneck: a full link on which no flow has a greater rate
(Bertsekas and Gallager, *Data Networks*, 1992, section 6.5.2). So the answer is checked, not
believed. Rates are IEEE doubles in one written order: ``maxmin.c`` gives the same last bit.
"""

from __future__ import annotations

from collections.abc import Iterable
from ctypes import byref, c_double, c_int64
from dataclasses import dataclass
from heapq import heapify, heappop, heapreplace
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from artery.errors import UsageError
from artery.native import library
from artery.native.buffers import address, contiguous

if TYPE_CHECKING:
    from numpy.typing import NDArray

TOLERANCE: Final = 1e-9
"""How far from fair, as a part of 1, counts as fair: rounding over a million flows stays below."""


_START: Final = "start must rise from 0"
_CAPACITY: Final = "a capacity must be finite and not negative"
_LINK: Final = "a link must be a place in capacity"


@dataclass(frozen=True, slots=True)
class Rates:
    """Fair rates and what proves them.

    ``rate`` is in units of the capacities, infinite for a flow without links; ``bottleneck`` is
    the link that holds each flow back (-1: none); ``used`` is what crosses each link.
    ``violation`` is by how much, as a part of 1, the answer misses its certificate: a link
    overfull, a bottleneck not full, or a flow on it with a lower rate than another.
    """

    rate: NDArray[np.float64]
    bottleneck: NDArray[np.int32]
    used: NDArray[np.float64]
    violation: float

    @property
    def certified(self) -> bool:
        """Whether the certificate holds up to rounding."""
        return self.violation <= TOLERANCE


@dataclass(frozen=True, slots=True)
class Crossings:
    """Which flow crosses which link: flow f crosses ``link[start[f]:start[f + 1]]``.

    ``start`` is int64[flows + 1], ``link`` int32, ``weight`` float64 of the same length (what
    a flow takes of that link per unit of its rate; ``None``: 1 everywhere).
    """

    start: NDArray[np.int64]
    link: NDArray[np.int32]
    weight: NDArray[np.float64] | None = None


def maxmin(
    start: NDArray[np.int64],
    link: NDArray[np.int32],
    capacity: NDArray[np.float64],
    weight: NDArray[np.float64] | None = None,
) -> Rates:
    """Return the max-min fair rates of the flows of ``Crossings(start, link, weight)``.

    ``capacity`` is float64[links], finite, not negative. O(crossings + links·log links). Raises
    ``UsageError`` where the arrays do not fit each other.
    """
    flows = Crossings(
        contiguous(start, np.int64),
        contiguous(link, np.int32),
        None if weight is None else contiguous(weight, np.float64),
    )
    room = contiguous(capacity, np.float64)
    check(flows, room)
    return _compiled(flows, room) if library() else twin(flows, room)


def check(flows: Crossings, capacity: NDArray[np.float64]) -> None:
    """Raise ``UsageError`` where the arrays do not fit each other."""
    start, link, weight = flows.start, flows.link, flows.weight
    wrong = [
        (not start.size or start[0] != 0 or bool((np.diff(start) < 0).any()), _START),
        (not start.size or start[-1] != link.size, "link must have start[-1] entries"),
        (bool(link.size) and not 0 <= link.min() <= link.max() < capacity.size, _LINK),
        (link.size >= 2**31, "link must have less than 2^31 entries"),
        (not bool(((capacity >= 0) & (capacity < np.inf)).all()), _CAPACITY),
        (weight is not None and weight.shape != link.shape, "weight must be as long as link"),
        (weight is not None and not bool((weight > 0).all()), "a weight must be positive"),
    ]
    broken = [rule for fails, rule in wrong if fails]
    if broken:
        raise UsageError("; ".join(broken))


def _compiled(flows: Crossings, capacity: NDArray[np.float64]) -> Rates:
    """Solve in C."""
    core = library()
    count = flows.start.size - 1
    rate, bottleneck = np.empty(count), np.empty(count, np.int32)
    used, violation = np.empty(capacity.size), c_double()
    failed = core is None or core.artery_maxmin(
        c_int64(count),
        c_int64(capacity.size),
        address(flows.start),
        address(flows.link),
        address(capacity),
        address(flows.weight),
        address(rate),
        address(bottleneck),
        address(used),
        byref(violation),
    )
    if failed:
        raise MemoryError
    return Rates(rate, bottleneck, used, violation.value)


def twin(flows: Crossings, capacity: NDArray[np.float64]) -> Rates:
    """Solve in Python: the same steps in the same order as ``maxmin.c``."""
    filling = _Filling(flows, capacity)
    filling.fill()
    return filling.certified()


def total(values: Iterable[float]) -> float:
    """Return the plain sum from left to right, as C adds (``sum`` compensates since 3.12)."""
    result = 0.0
    for value in values:
        result += value
    return result


class _Filling:
    """Progressive filling: the link with the least share gives it to its flows and is full."""

    def __init__(self, flows: Crossings, capacity: NDArray[np.float64]) -> None:
        start = flows.start.tolist()
        link = flows.link.tolist()
        weight = [1.0] * len(link) if flows.weight is None else flows.weight.tolist()
        self.weighted = flows.weight is not None
        self.capacity: list[float] = capacity.tolist()
        self.crossed: list[list[tuple[int, float]]] = [
            list(zip(link[a:b], weight[a:b], strict=True)) for a, b in pairwise(start)
        ]
        self.crossers: list[list[tuple[int, float]]] = [[] for _ in self.capacity]
        for flow, links in enumerate(self.crossed):
            for one, part in links:
                self.crossers[one].append((flow, part))
        self.rate = [-1.0 if links else float("inf") for links in self.crossed]
        self.waiting = sum(map(bool, self.crossed))
        self.bottleneck = [-1] * len(self.crossed)
        self.remaining = list(self.capacity)
        self.load = [total(part for _, part in all_) for all_ in self.crossers]

    def share(self, link: int) -> float:
        """Return what each flow of weight 1 would get of ``link`` now."""
        left = self.remaining[link]
        return left / self.load[link] if left > 0 else 0.0

    def fill(self) -> None:
        """Give every flow its rate."""
        heap = [(self.share(link), link) for link, flows in enumerate(self.crossers) if flows]
        heapify(heap)
        while self.waiting and heap:
            key, link = heap[0]
            if self.weighted:
                self.sum_load(link)
            if self.load[link] > 0:
                now = self.share(link)
                if now > key:
                    heapreplace(heap, (now, link))
                    continue
                self.freeze(link, now)
            heappop(heap)

    def sum_load(self, link: int) -> None:
        """Sum the load anew, so that nothing is left over from the subtractions."""
        waiting = (part for flow, part in self.crossers[link] if self.rate[flow] < 0)
        self.load[link] = total(waiting)

    def freeze(self, link: int, rate: float) -> None:
        """Give the flows of ``link`` that have none yet their rate, on all their links."""
        for flow, _ in self.crossers[link]:
            if self.rate[flow] < 0:
                self.rate[flow] = rate
                self.bottleneck[flow] = link
                self.waiting -= 1
                for one, part in self.crossed[flow]:
                    self.remaining[one] -= part * rate
                    self.load[one] -= part

    def certified(self) -> Rates:
        """Return the answer with its certificate."""
        used = [total(part * self.rate[flow] for flow, part in all_) for all_ in self.crossers]
        worst = float("inf") if self.waiting else 0.0
        for link, (sum_, room) in enumerate(zip(used, self.capacity, strict=True)):
            rates = [self.rate[flow] for flow, _ in self.crossers[link]]
            held = [
                self.rate[flow] for flow, _ in self.crossers[link] if self.bottleneck[flow] == link
            ]
            greatest = max(rates, default=0.0)
            if sum_ - room > worst * room:
                worst = (sum_ - room) / room
            if held and room - sum_ > worst * room:
                worst = (room - sum_) / room
            for rate in held:
                if greatest - rate > worst * greatest:
                    worst = (greatest - rate) / greatest
        return Rates(
            np.array(self.rate),
            np.array(self.bottleneck, np.int32),
            np.array(used),
            worst,
        )
