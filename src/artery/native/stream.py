"""The twin of fluid.c: the same steps in the same order, in plain Python."""

from __future__ import annotations

from heapq import heappop, heappush
from math import ceil
from typing import Final

import numpy as np

from artery.native.gates import Opener
from artery.native.repair import Flow, Repair, Wire
from artery.native.work import Played, Work

SECOND: Final = 1e12
"""Picoseconds."""
LATEST: Final = 4e18
"""Picoseconds, 46 days: what takes longer never ends."""
ENDLESS: Final = 2**62
"""Bytes of a transfer that never ends."""

Changes = tuple[list[int], list[int], list[int]]
"""Time, link and rate of each change of a link."""


class Stream:
    """One run; ``counts``: batches, rounds of repair, rates filled, batches left unfair."""

    def __init__(self, work: Work, changes: Changes) -> None:
        links, transfers, gates = work
        self.latency: list[int] = links.latency.tolist()
        self.size: list[int] = transfers.size.tolist()
        self.path: list[int] = transfers.path.tolist()
        self.start: list[int] = transfers.start.tolist()
        self.link: list[int] = transfers.link.tolist()
        spread, other = transfers.spread, transfers.other
        self.spread: list[int] = [1] * len(self.size) if spread is None else spread.tolist()
        self.other: list[int] = [-1] * len(self.size) if other is None else other.tolist()
        self.changes = changes
        self.weight: list[float] | None = None
        self.weighted = any(one > 1 for one in self.spread)
        self.flows = [Flow() for _ in self.size]
        self.wires = [Wire(float(rate)) for rate in links.rate.tolist()]
        self.carried = [0.0] * len(self.wires)
        self.due: dict[int, int] = {}
        self.heap: list[tuple[int, int]] = []
        self.now = self.makespan = self.events = 0
        self.outstanding = sum(size < ENDLESS for size in self.size)
        self.sent, self.delivered = [-1] * len(self.size), [-1] * len(self.size)
        self.begun: list[int] = []
        self.seeds: dict[int, bool] = {}
        self.counts = [0, 0, 0, 0]
        self.gates = Opener(gates, self.start_at)

    # What is to happen, by (time, code), as in agenda.h.

    def schedule(self, code: int, time: int) -> None:
        """Let ``code`` happen at ``time``, and at no other."""
        self.due[code] = time
        heappush(self.heap, (time, code))

    def start_at(self, t: int, time: int) -> None:
        """Transfer ``t`` starts at ``time``."""
        self.schedule(len(self.size) + len(self.changes[0]) + t, time)

    def first(self) -> tuple[int, int] | None:
        """Return time and code of what happens next."""
        while self.heap and self.due.get(self.heap[0][1]) != self.heap[0][0]:
            heappop(self.heap)
        return self.heap[0] if self.heap else None

    # Flows on links.

    def enter(self, t: int) -> None:
        """Put flow ``t`` on its links."""
        flow = self.flows[t]
        flow.rate, flow.bottleneck = 0.0, -1
        flow.entered = flow.remaining
        flow.active = True
        self.begun.append(t)
        flow.places = []
        for hop, (link, _) in enumerate(flow.hops):
            crossers = self.wires[link].crossers
            flow.places.append(len(crossers))
            crossers.append((t, hop))
            self.seeds.setdefault(link, False)

    def leave(self, t: int) -> None:
        """Take flow ``t`` off its links."""
        flow = self.flows[t]
        flow.active = False
        for hop, (link, part) in enumerate(flow.hops):
            crossers, place = self.wires[link].crossers, flow.places[hop]
            last = crossers.pop()
            if place < len(crossers):
                crossers[place] = last
            self.flows[last[0]].places[last[1]] = place
            self.carried[link] += part * (flow.entered - flow.remaining)
            self.seeds.setdefault(link, False)

    def progress(self, t: int) -> None:
        """Let flow ``t`` come as far as it is now."""
        flow = self.flows[t]
        flow.remaining -= flow.rate * float(self.now - flow.since) / SECOND
        if flow.remaining < 0 and self.size[t] < ENDLESS:
            flow.remaining = 0.0
        flow.since = self.now

    def take_path(self, t: int, path: int, spread: int) -> None:
        """Give flow ``t`` the links of its paths."""
        flow, part = self.flows[t], 1.0 / spread
        from_, end = self.start[path], self.start[path + spread]
        weight = self.weight
        flow.hops = [
            (self.link[k], part if weight is None else weight[k] * part) for k in range(from_, end)
        ]
        flow.delay = max(
            sum(self.latency[one] for one in self.link[self.start[p] : self.start[p + 1]])
            for p in range(path, path + spread)
        )

    # What an event does.

    def end(self, t: int) -> None:
        """Transfer ``t`` has left its source."""
        flow = self.flows[t]
        if flow.active:
            flow.remaining = 0.0
            self.leave(t)
        delivered = self.now + flow.delay
        self.sent[t], self.delivered[t] = self.now, delivered
        self.makespan = max(self.makespan, delivered)
        self.outstanding -= 1
        self.gates.signal(self.gates.sent[t], self.now)
        self.gates.signal(self.gates.delivered[t], delivered)

    def diverts(self, t: int) -> bool:
        """Whether transfer ``t`` is to take its other path."""
        flow = self.flows[t]
        if flow.diverted or self.other[t] < 0:
            return False
        return any(self.wires[link].capacity == 0 for link, _ in flow.hops)

    def divert(self, t: int) -> None:
        """Give transfer ``t`` its other path."""
        self.flows[t].diverted = True
        self.take_path(t, self.other[t], 1)

    def begin(self, t: int) -> None:
        """Transfer ``t`` starts."""
        flow = self.flows[t]
        self.take_path(t, self.path[t], self.spread[t])
        if self.diverts(t):
            self.divert(t)
        flow.since, flow.fresh = self.now, True
        flow.remaining = 0.0 if self.size[t] >= ENDLESS else float(self.size[t])
        self.launch(t)

    def launch(self, t: int) -> None:
        """Let transfer ``t`` flow; without bytes or links it has left already."""
        if self.size[t] == 0 or not self.flows[t].hops:
            self.schedule(t, self.now)
        else:
            self.enter(t)

    def change(self, number: int) -> None:
        """A link has another rate from now on."""
        link = self.changes[1][number]
        wire = self.wires[link]
        wire.capacity = float(self.changes[2][number])
        self.seeds[link] = True
        place = len(wire.crossers)
        while place > 0 and wire.capacity == 0:
            place -= 1
            if place < len(wire.crossers) and self.diverts(t := wire.crossers[place][0]):
                self.progress(t)
                self.due.pop(t, None)
                self.leave(t)
                self.divert(t)
                self.launch(t)

    def handle(self, code: int) -> None:
        """Let happen what ``code`` says."""
        count, changes = len(self.size), len(self.changes[0])
        if code < count:
            self.end(code)
        elif code < count + changes:
            self.change(code - count)
        else:
            self.begin(code - count - changes)

    def reckon(self, t: int) -> None:
        """Say when flow ``t`` ends, now that it has its rate."""
        flow = self.flows[t]
        rate = flow.rate
        if rate == flow.old and not flow.fresh:
            return
        flow.rate = flow.old
        if not flow.fresh:
            self.progress(t)
        flow.rate, flow.fresh = rate, False
        self.events += 1
        if self.size[t] >= ENDLESS:
            return
        wait = flow.remaining / rate * SECOND if rate > 0 else LATEST
        if wait < LATEST:
            self.schedule(t, max(self.now, flow.since + ceil(wait)))
        else:
            self.due.pop(t, None)

    def play(self, epsilon: int) -> None:
        """Play until all that ends has ended, or nothing happens any more."""
        for number, time in enumerate(self.changes[0]):
            self.schedule(len(self.size) + number, time)
        self.gates.open_roots()
        while self.outstanding and (next_ := self.first()):
            last = next_[0] + epsilon
            self.begun, self.seeds = [], {}
            while next_ and next_[0] <= last:
                self.now, code = next_
                heappop(self.heap)
                del self.due[code]
                self.handle(code)
                next_ = self.first()
            self.settle()

    def settle(self) -> None:
        """Set the rates anew near what happened."""
        repair = Repair(self.flows, self.wires, weighted=self.weighted)
        self.counts[0] += 1
        self.counts[3] += not repair.settle(self.begun, self.seeds)
        self.counts[1] += repair.rounds
        self.counts[2] += repair.filled
        for t in repair.region:
            self.reckon(t)

    def played(self) -> Played:
        """Return what came out; what still flows has crossed its links as far as it came."""
        for t, flow in enumerate(self.flows):
            if flow.active:
                self.progress(t)
                self.leave(t)
        count = len(self.wires)
        return Played(
            np.array(self.sent, np.int64),
            np.array(self.delivered, np.int64),
            self.gates.closed(),
            np.array([round(carried) for carried in self.carried], np.int64),
            np.zeros(count, np.int64),
            self.makespan,
            self.events,
            self.outstanding,
        )
