"""The twin of packets.c and queues.h: the same steps in the same order, in plain Python."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

from artery.native.gates import Opener
from artery.native.work import Played, Work, class_count, duration

if TYPE_CHECKING:
    from artery.native.packets import Ports

_READY, _CHANGE, _BACK, _ARRIVE = range(4)


def twin(work: Work, ports: Ports, *, times: bool = True) -> Played:
    """Return what ``packets`` returns, to the picosecond, in plain Python."""
    run = _Net(work, ports)
    run.play()
    return run.played(times=times)


@dataclass(slots=True, eq=False)
class _Unit:
    """A unit under way: where it is in ``link``, the hops behind and ahead, the link it came by."""

    order: int
    size: int
    tail: int
    at: int
    left: int
    hop: int = 0
    came: int = -1
    marked: bool = False
    tag: int = 0
    sequence: int = 0


@dataclass(slots=True)
class _Port:
    free: int = 0
    queued: int = 0
    bytes: int = 0
    peak: int = 0
    since: int = -1
    idle: int = 0
    waiting: int = 0
    scheduled: bool = False


@dataclass(slots=True)
class _Lane:
    """One class of one port; ``held`` and ``pausing`` are of the buffer at the far end."""

    room: int
    held: int = 0
    virtual: int = 0
    paused: bool = False
    pausing: bool = False
    queue: deque[_Unit] = field(default_factory=deque)


@dataclass(slots=True)
class _Flow:
    """One transfer."""

    count: int
    missing: int
    cut: int
    window: int
    next: int = 0
    flying: int = 0
    ready: int = 0
    tail: int = -1
    since: int = 0
    grown: int = 0
    waits: bool = False


class _Net:
    """One run; the functions are those of packets.c."""

    def __init__(self, work: Work, ports: Ports) -> None:
        links, transfers, _ = work
        self.rules = ports
        self.rate, self.latency = links.rate.tolist(), links.latency.tolist()
        self.fails = [] if links.fails is None else links.fails.tolist()
        self.size, self.path = transfers.size.tolist(), transfers.path.tolist()
        self.start, self.link = transfers.start.tolist(), transfers.link.tolist()
        self.spread = [] if transfers.spread is None else transfers.spread.tolist()
        self.other = [] if transfers.other is None else transfers.other.tolist()
        classes = transfers.classes
        self.class_of = [0] * len(self.size) if classes is None else classes.tolist()
        self.classes = class_count(work)
        self.ports = [_Port() for _ in self.rate]
        self.xoff, self.xon, self.headroom = (one.tolist() for one in ports.buffers(len(self.rate)))
        self.lanes = [_Lane(room) for room in self.xoff for _ in range(self.classes)]
        self.flows: dict[int, _Flow] = {}
        self.tags: dict[tuple[int, int], int] = {}
        self.heap: list[tuple[int, int, int, int, _Unit | None]] = []
        self.sent, self.delivered = [-1] * len(self.size), [-1] * len(self.size)
        self.sequence = self.done = self.events = self.overflow = 0
        self.gates = Opener(work.gates, self.begin)

    def post(self, time: int, kind: int, order: int, what: int, unit: _Unit | None = None) -> None:
        heappush(self.heap, (time, kind << 61 | order, what, 0, unit))

    def tell(self, time: int, lane: int, what: int) -> None:
        heappush(self.heap, (time, _CHANGE << 61 | self.sequence, lane, what, None))
        self.sequence += 1

    def begin(self, t: int, time: int) -> None:
        size, unit = self.size[t], self.rules.unit
        if size < unit * self.rules.least:
            unit = max(-(-size // self.rules.least), min(unit, 4096))
        count = max(1, -(-size // unit))
        self.flows[t] = _Flow(count, count, unit, self.rules.window)
        self.inject(t, time)

    def inject(self, t: int, time: int) -> None:
        flow = self.flows[t]
        j = flow.next
        flow.next, flow.waits, flow.flying = j + 1, False, flow.flying + 1
        path = self.path[t] + (j % self.spread[t] if self.spread else 0)
        at, end = self.start[path], self.start[path + 1]
        size = min(self.size[t] - j * flow.cut, flow.cut)
        unit = _Unit(t << 32 | j, size, time, at, end - at)
        self.post(time, _ARRIVE, unit.order, 0, unit)

    def play(self) -> None:
        """Process events until none is left."""
        self.gates.open_roots()
        while self.heap:
            time, order, what, change, unit = heappop(self.heap)
            kind = order >> 61
            if unit:
                self.arrive(unit, time)
            elif kind == _READY:
                self.ports[what].scheduled = False
                self.attempt(what, time)
            elif kind == _BACK:
                self.acknowledge((order & (1 << 61) - 1) >> 32, time, marked=bool(what))
            else:
                self.change(what, change, time)

    def change(self, index: int, what: int, time: int) -> None:
        lane = self.lanes[index]
        if self.rules.control == "credit":
            lane.room += what
        else:
            lane.paused = bool(what)
        self.attempt(index // self.classes, time)

    def leave(self, t: int, time: int) -> None:
        flow = self.flows[t]
        flow.ready = time
        if flow.next == flow.count:
            self.sent[t] = time
            self.gates.signal(self.gates.sent[t], time)
        elif flow.flying < flow.window:
            self.inject(t, time)
        else:
            flow.waits = True

    def acknowledge(self, t: int, time: int, *, marked: bool) -> None:
        flow = self.flows[t]
        flow.flying -= 1
        flow.since += 1
        if marked and flow.since > flow.window:
            flow.window = max(1, flow.window // 2)
            flow.since = flow.grown = 0
        elif not marked and flow.window < self.rules.window:
            flow.grown += 1
            if flow.grown >= flow.window:
                flow.window, flow.grown = flow.window + 1, 0
        if flow.waits and flow.flying < flow.window:
            self.inject(t, max(flow.ready, time))

    def complete(self, unit: _Unit) -> None:
        t = unit.order >> 32
        flow = self.flows[t]
        crossed = self.link[unit.at - unit.hop : unit.at]
        back = unit.tail + sum(self.latency[here] for here in crossed)
        flow.tail = max(flow.tail, unit.tail)
        if flow.count > 1:
            self.post(back, _BACK, unit.order, int(unit.marked))
        flow.missing -= 1
        if not flow.missing:
            self.delivered[t] = flow.tail
            self.done += 1
            self.gates.signal(self.gates.delivered[t], flow.tail)

    def enqueue(self, unit: _Unit, lane: _Lane) -> None:
        unit.sequence = self.sequence
        self.sequence += 1
        if self.rules.fair:
            key = unit.order >> 32, unit.hop
            unit.tag = max(self.tags.get(key, 0), lane.virtual)
            self.tags[key] = unit.tag + unit.size
        queue = lane.queue
        if not queue or queue[-1].tag <= unit.tag:
            queue.append(unit)
        else:
            queue.insert(next(i for i, one in enumerate(queue) if one.tag > unit.tag), unit)

    def eligible(self, link: int) -> int:
        """Return the lane that may send and whose first unit came first, -1: none."""
        found, least = -1, self.sequence
        for index in range(link * self.classes, (link + 1) * self.classes):
            lane = self.lanes[index]
            if not lane.queue or lane.paused:
                continue
            unit = lane.queue[0]
            if self.rules.control == "credit" and unit.left > 1 and lane.room < unit.size:
                continue
            if unit.sequence < least:
                found, least = index, unit.sequence
        return found

    def release(self, link: int, index: int, size: int, time: int) -> None:
        lane, heard = self.lanes[index], time + self.latency[link]
        lane.held -= size
        if self.rules.control == "credit":
            self.tell(heard, index, size)
        if lane.pausing and lane.held <= self.xon[link]:
            lane.pausing = False
            self.tell(heard, index, 0)

    def serve(self, link: int, lane: _Lane, time: int) -> None:
        port, unit, rate = self.ports[link], lane.queue.popleft(), self.rate[link]
        t = unit.order >> 32
        taken = duration(unit.size, rate)
        waits = taken if unit.size < self.rules.packet else duration(self.rules.packet, rate)
        lane.virtual = unit.tag
        port.free = time + taken
        port.bytes += unit.size
        port.queued -= unit.size
        port.waiting -= 1
        if port.since >= 0:
            port.idle += time - port.since
        port.since = -1
        tail = max(time + taken, unit.tail + waits)
        if unit.came >= 0:
            index = unit.came * self.classes + self.class_of[t]
            self.release(unit.came, index, unit.size, time)
        first, unit.came = unit.hop == 0, link
        unit.tail = tail + self.latency[link]
        unit.at, unit.hop, unit.left = unit.at + 1, unit.hop + 1, unit.left - 1
        self.events += 1
        if unit.left:
            if self.rules.control == "credit":
                lane.room -= unit.size
            self.post(time + waits + self.latency[link], _ARRIVE, unit.order, 0, unit)
        else:
            self.complete(unit)
        if first:
            self.leave(t, tail)

    def attempt(self, link: int, time: int) -> None:
        port = self.ports[link]
        while port.waiting and port.free <= time:
            index = self.eligible(link)
            if index < 0:
                port.since = time if port.since < 0 else port.since
                return
            self.serve(link, self.lanes[index], time)
        if port.waiting and port.free > time and not port.scheduled:
            port.scheduled = True
            self.post(port.free, _READY, link, link)

    def choose(self, unit: _Unit, time: int) -> bool:
        """Take a path that has not failed; return whether there is one."""
        ways = [(unit.at, unit.left)]
        other = self.other[unit.order >> 32] if self.other else -1
        if other >= 0:
            ways.append((self.start[other], self.start[other + 1] - self.start[other]))
        for unit.at, unit.left in ways:
            if all(self.fails[here] > time for here in self.link[unit.at : unit.at + unit.left]):
                return True
        return False

    def arrive(self, unit: _Unit, time: int) -> None:
        t = unit.order >> 32
        if not unit.hop and self.fails and not self.choose(unit, time):
            return
        if not unit.left:
            self.complete(unit)
            self.leave(t, time)
            return
        link, came = self.link[unit.at], unit.came
        port, rules = self.ports[link], self.rules
        index = came * self.classes + self.class_of[t]
        unit.marked |= 0 < rules.mark < port.queued
        port.queued += unit.size
        port.waiting += 1
        if came >= 0:
            self.lanes[index].held += unit.size
        self.enqueue(unit, self.lanes[link * self.classes + self.class_of[t]])
        self.attempt(link, time)
        port.peak = max(port.peak, port.queued)
        if came < 0 or rules.control != "pause":
            return
        lane = self.lanes[index]
        xoff = self.xoff[came]
        self.overflow = max(self.overflow, lane.held - xoff - self.headroom[came])
        if lane.held > xoff and not lane.pausing:
            lane.pausing = True
            self.tell(time + self.latency[came], index, 1)

    def played(self, *, times: bool) -> Played:
        """Return what came out."""
        return Played(
            np.array(self.sent, np.int64) if times else None,
            np.array(self.delivered, np.int64) if times else None,
            self.gates.closed(),
            np.array([port.bytes for port in self.ports], np.int64),
            np.array([port.peak for port in self.ports], np.int64),
            max(self.delivered, default=0) if self.done else 0,
            self.events,
            len(self.size) - self.done,
            self.overflow,
            np.array([port.idle for port in self.ports], np.int64),
        )
