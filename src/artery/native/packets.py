"""The packet engine: packets, or segments, through real queues with finite buffers.

It plays the same work as the message engine, by the same rules for what a link and a switch do
(``artery.native.messages``), but every queue is there: a unit stands in the queue of a port until
the port sends it. So it can do what a message engine with endless buffers cannot:

- ``control="pause"``: priority flow control (IEEE 802.1Qbb). When more than ``xoff`` bytes of a
  class stand in the buffer at the far end of a link, the sender is told to stop that class, and
  to go on at ``xon``; word takes the link's latency, for which ``headroom`` is left. A stopped
  port stops everyone behind it, whoever they are for.
- ``control="credit"``: the sender has ``xoff`` bytes of credit per class and sends only what fits
  (InfiniBand architecture, credit-based flow control). Credit comes back with the link's latency.
- ``fair``: a queue per transfer instead of one per class (start-time fair queueing; Goyal, Vin
  and Cheng, SIGCOMM 1996). A transfer that is spread over paths has one place in line per hop,
  whichever way it goes.
- ``mark``: explicit congestion notification without delay or noise. A unit that meets more
  than ``mark`` bytes is marked; the sender halves its window at most once a window, else adds one.

With small units it is slow and close to the truth: the oracle of the message engine. With segments
as units it is the message engine with finite buffers. A buffer counts a unit from its arrival to
the start of its sending.
"""

from __future__ import annotations

from collections import deque
from ctypes import Structure, byref, c_int64
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Final, Literal

import numpy as np

from artery.errors import UsageError
from artery.native import library
from artery.native.gates import Opener
from artery.native.work import Marshalled, Played, Work, check, class_count, duration

Control = Literal["none", "pause", "credit"]

_CONTROLS: Final = ("none", "pause", "credit")
_READY, _CHANGE, _BACK, _ARRIVE = range(4)


@dataclass(frozen=True, slots=True)
class Ports:
    """How ports and sources behave; sizes in bytes, ``window`` in units of ``unit`` bytes.

    ``packet`` is what a switch waits for before it passes on, as in the message engine.
    """

    unit: int = 4096
    window: int = 128
    packet: int = 4096
    control: Control = "none"
    xoff: int = 0
    xon: int = 0
    headroom: int = 0
    fair: bool = False
    mark: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.unit < 2**31 or self.window < 1 or self.packet < 0 or self.mark < 0:
            raise UsageError(f"ports: {self}, unit (to 2 GiB) and window at least 1, none below 0")
        if self.control not in _CONTROLS:
            raise UsageError(f"control: {self.control!r}, must be one of {', '.join(_CONTROLS)}")
        if self.control == "pause" and not 0 <= self.xon <= self.xoff:
            raise UsageError(f"xon: {self.xon} found, must be from 0 to xoff ({self.xoff})")
        if self.control == "credit" and self.xoff < self.unit:
            raise UsageError(f"xoff: {self.xoff} found, a buffer must hold a unit ({self.unit})")


class _Rules(Structure):
    """``struct rules`` of packets.c."""

    _fields_ = tuple(
        (name, c_int64)
        for name in (
            "unit", "window", "packet", "control", "xoff", "xon", "headroom",
            "fair", "mark", "hops",
        )
    )  # fmt: skip


def packets(work: Work, ports: Ports, *, times: bool = True) -> Played:
    """Return what happens when ``work`` is played through ``ports``, times in ps.

    ``queue`` is the most bytes that stood in each port's queue. With flow control a circle of
    links can lock up: what is in it stays unfinished.
    Raises ``UsageError`` where the arrays do not fit together.
    """
    check(work)
    loaded = library()
    if loaded is None:
        return twin(work, ports, times=times)
    marshalled = Marshalled(work, times=times)
    hops = int(np.diff(work.transfers.start).max(initial=0))
    rules = _Rules(
        ports.unit, ports.window, ports.packet, _CONTROLS.index(ports.control),
        ports.xoff, ports.xon, ports.headroom, ports.fair, ports.mark, hops,
    )  # fmt: skip
    if loaded.artery_packets(marshalled.reference, byref(rules)):
        raise MemoryError("the packet engine ran out of memory")
    return marshalled.played()


def twin(work: Work, ports: Ports, *, times: bool = True) -> Played:
    """Return the same, to the picosecond, in plain Python."""
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
    window: int
    next: int = 0
    flying: int = 0
    ready: int = 0
    tail: int = -1
    since: int = 0
    grown: int = 0
    waits: bool = False


class _Net:
    """The functions are those of packets.c."""

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
        self.lanes = [_Lane(ports.xoff) for _ in range(len(self.rate) * self.classes)]
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
        count = max(1, -(-self.size[t] // self.rules.unit))
        self.flows[t] = _Flow(count, count, self.rules.window)
        self.inject(t, time)

    def inject(self, t: int, time: int) -> None:
        flow = self.flows[t]
        j = flow.next
        flow.next, flow.waits, flow.flying = j + 1, False, flow.flying + 1
        path = self.path[t] + (j % self.spread[t] if self.spread else 0)
        at, end = self.start[path], self.start[path + 1]
        size = min(self.size[t] - j * self.rules.unit, self.rules.unit)
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
        if lane.pausing and lane.held <= self.rules.xon:
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
        if port.free <= time:
            index = self.eligible(link)
            if index >= 0:
                self.serve(link, self.lanes[index], time)
        if port.queued and port.free > time and not port.scheduled:
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
        if came >= 0:
            self.lanes[index].held += unit.size
        self.enqueue(unit, self.lanes[link * self.classes + self.class_of[t]])
        self.attempt(link, time)
        port.peak = max(port.peak, port.queued)
        if came < 0 or rules.control != "pause":
            return
        lane = self.lanes[index]
        self.overflow = max(self.overflow, lane.held - rules.xoff - rules.headroom)
        if lane.held > rules.xoff and not lane.pausing:
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
        )
