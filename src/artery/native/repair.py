"""The twin of repair.c: max-min fair rates repaired near what changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heapify, heappop, heapreplace
from math import inf
from typing import Final

TOLERANCE: Final = 1e-9
"""How far from full or greatest, as a part of 1, still counts as that."""


@dataclass(slots=True)
class Flow:
    """A transfer that flows: ``hops`` are pairs of a link and what a unit of rate takes of it."""

    rate: float = 0.0
    old: float = 0.0
    remaining: float = 0.0
    entered: float = 0.0
    since: int = 0
    delay: int = 0
    hops: list[tuple[int, float]] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    bottleneck: int = -1
    active: bool = False
    fresh: bool = False
    diverted: bool = False


@dataclass(slots=True)
class Wire:
    """A link: ``crossers`` are pairs of a flow and which of its hops this is."""

    capacity: float
    crossers: list[tuple[int, int]] = field(default_factory=list)
    remaining: float = 0.0
    load: float = 0.0


class Repair:
    """One repair; ``region`` is which flows got a rate anew, whose ``old`` is the one before."""

    def __init__(self, flows: list[Flow], wires: list[Wire], *, weighted: bool) -> None:
        self.flows, self.wires, self.weighted = flows, wires, weighted
        self.region: dict[int, None] = {}
        self.touched: dict[int, None] = {}
        self.rounds = self.filled = 0

    def settle(self, begun: list[int], seeds: dict[int, bool]) -> bool:
        """Set the rates; return whether all are fair.

        ``seeds`` are the links that something left, entered or changed; true where all of their
        flows are to be released.
        """
        for t in begun:
            self.release(t)
        for link, whole in seeds.items():
            self.touched[link] = None
            for t, _ in self.wires[link].crossers:
                if whole or self.flows[t].bottleneck == link:
                    self.release(t)
        before, fair = -1, True
        while before != len(self.region):
            before = len(self.region)
            self.fill(self.residuals())
            fair = not sum([self.broken(link) for link in list(self.touched)])
            self.rounds += 1
            self.filled += before
        return fair

    def release(self, t: int) -> None:
        """Let flow ``t`` be filled anew."""
        flow = self.flows[t]
        if not flow.active or t in self.region:
            return
        self.region[t] = None
        flow.old = flow.rate
        for link, _ in flow.hops:
            self.touched[link] = None

    def residuals(self) -> list[tuple[float, int]]:
        """Return the shares that the touched links have left for the region."""
        flows = self.flows
        for t in self.region:
            flows[t].rate = -1.0
        heap = []
        for link in self.touched:
            wire = self.wires[link]
            others = load = 0.0
            for t, hop in wire.crossers:
                flow = flows[t]
                if flow.rate < 0:
                    load += flow.hops[hop][1]
                else:
                    others += flow.hops[hop][1] * flow.rate
            wire.remaining, wire.load = wire.capacity - others, load
            if load > 0:
                heap.append((_share(wire), link))
        heapify(heap)
        return heap

    def fill(self, heap: list[tuple[float, int]]) -> None:
        """Give every flow of the region its rate."""
        waiting = len(self.region)
        while waiting and heap:
            key, link = heap[0]
            wire = self.wires[link]
            if self.weighted:
                self.sum_load(wire)
            if wire.load > 0:
                now = _share(wire)
                if now > key:
                    heapreplace(heap, (now, link))
                    continue
                waiting -= self.freeze(link, now)
            heappop(heap)

    def sum_load(self, wire: Wire) -> None:
        """Sum the load anew, so that nothing is left over from subtracting fractions."""
        wire.load = 0.0
        for t, hop in wire.crossers:
            if self.flows[t].rate < 0:
                wire.load += self.flows[t].hops[hop][1]

    def freeze(self, link: int, rate: float) -> int:
        """Give the flows of ``link`` that have none yet their rate; return how many those are."""
        given = 0
        for t, _ in self.wires[link].crossers:
            flow = self.flows[t]
            if flow.rate < 0:
                flow.rate, flow.bottleneck = rate, link
                given += 1
                for one, part in flow.hops:
                    other = self.wires[one]
                    other.remaining -= part * rate
                    other.load -= part
        return given

    def broken(self, link: int) -> bool:
        """Whether the certificate fails on ``link``; what breaks it is released."""
        wire, total, greatest, least = self.wires[link], 0.0, 0.0, inf
        for t, hop in wire.crossers:
            flow = self.flows[t]
            total += flow.hops[hop][1] * flow.rate
            greatest = max(greatest, flow.rate)
            if flow.bottleneck == link:
                least = min(least, flow.rate)
        full = total >= wire.capacity * (1 - TOLERANCE)
        over = total > wire.capacity * (1 + TOLERANCE)
        if not over and (least == inf or (full and least >= greatest * (1 - TOLERANCE))):
            return False
        for t, _ in wire.crossers:
            flow = self.flows[t]
            low = not full or flow.rate < greatest * (1 - TOLERANCE)
            above = full and flow.rate > least * (1 + TOLERANCE)
            if over or above or (low and flow.bottleneck == link):
                self.release(t)
        return True


def _share(wire: Wire) -> float:
    """Return what a flow of weight 1 would get of ``wire`` now."""
    return wire.remaining / wire.load if wire.remaining > 0 else 0.0
