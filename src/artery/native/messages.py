"""The message engine: segments over paths of FIFO links.

The rules, for a segment of b bytes that meets links 1, 2, ... of rate B and latency α:

- It is served at link i from s = max(arrival, when the link is free) on; the link is taken for
  b / B, by bytes only, so that other segments use the gaps of one that comes in slowly.
- A switch passes it on once ``packet`` bytes are there (0: cut-through; ``WHOLE``: store and
  forward): it reaches the next link at s + packet / B + α.
- Its last byte leaves at max(s + b / B, arrival of the last byte + packet / B).
- A message is cut into segments; the next one may leave when the one before has left and the
  one ``window`` before has been acknowledged, an acknowledgement taking the path's latency.

Equal times are served in the order of transfer, then segment. Alone on its path a message takes
b / B + Σα + (hops - 1)·packet / B, the cut-through closed form (Kermani and Kleinrock,
"Virtual cut-through", Computer Networks 3, 1979).

Without ``Buffers`` those of the switches are never full, and a link's next free moment says all
of its queue. With them every queue is played, segment by segment: a full buffer stops the ports
that feed it, and what waits there for other links too (``artery.native.packets``, whose units are
then segments). The rules above hold in both forms, and where no buffer fills both come to the
same picosecond.
"""

from __future__ import annotations

from ctypes import c_int64
from dataclasses import dataclass
from heapq import heappop, heappush, heapreplace
from typing import Final, Literal

import numpy as np

from artery.errors import UsageError
from artery.native import library, queues
from artery.native.buffers import address
from artery.native.gates import Opener
from artery.native.packets import Ports, packets
from artery.native.work import Longs, Marshalled, Played, Work, check, duration

WHOLE: Final = 2**63 - 1
"""``packet`` of a switch that stores a whole segment before it passes it on."""
PACKET: Final = 4096
"""Bytes: no message is cut finer than this; the packets of InfiniBand and RoCE are no larger."""

STATE: Final = 4
"""Words that ``struct state`` of messages.c takes for each link."""


@dataclass(frozen=True, slots=True)
class Transport:
    """How messages are sent.

    A message is cut into segments of ``segment`` bytes (0: not at all), into ``least`` of them
    or more as long as they have 4096 bytes. ``window`` segments may be unacknowledged; a switch
    passes on after ``packet`` bytes. ``segment`` times ``window`` is the transport's window in
    bytes: it decides how much of a message can stand in queues, and so how messages on one link
    share it. A message in one piece holds others up as its packets would not: ``least``.
    """

    segment: int = 32_768
    window: int = 16
    packet: int = 0
    least: int = 4

    def __post_init__(self) -> None:
        if self.segment < 0 or self.window < 1 or self.packet < 0 or self.least < 1:
            raise UsageError(f"transport: {self}, window and least at least 1, none negative")


@dataclass(frozen=True, slots=True, eq=False)
class Buffers:
    """What the ports of switches hold of each class, bytes by link: the buffer at its far end.

    ``pause``: priority flow control (IEEE 802.1Qbb) from ``xoff`` on, until ``xon``, with
    ``headroom`` for what is on its way. ``credit``: no more than ``xoff`` (InfiniBand). Segments
    that meet more than ``mark`` bytes in a queue are marked and halve their sender's window (0:
    none).
    """

    control: Literal["pause", "credit"]
    xoff: Longs
    xon: Longs
    headroom: Longs
    mark: int = 0


def messages(
    work: Work, transport: Transport, buffers: Buffers | None = None, *, times: bool = True
) -> Played:
    """Return what happens when ``work`` is played, times in ps; see the rules above.

    ``times`` asks for the times of each transfer; without, those of the gates remain.
    Raises ``UsageError`` where the arrays do not fit together, and where messages that are not cut
    are to be held in buffers.
    """
    if buffers is not None:
        return packets(work, _ports(transport, buffers), times=times)
    check(work)
    loaded = library()
    if loaded is None:
        return twin(work, transport, times=times)
    marshalled = Marshalled(work, times=times)
    state = np.zeros((work.links.rate.size, STATE), np.int64)  # in huge pages, as malloc's is not
    failed = loaded.artery_messages(
        marshalled.reference,
        c_int64(transport.segment),
        c_int64(transport.window),
        c_int64(transport.packet),
        c_int64(transport.least),
        address(state),
    )
    if failed:
        raise MemoryError("the message engine ran out of memory")
    return marshalled.played()


def twin(
    work: Work, transport: Transport, buffers: Buffers | None = None, *, times: bool = True
) -> Played:
    """Return the same, to the picosecond, in plain Python."""
    if buffers is not None:
        return queues.twin(work, _ports(transport, buffers), times=times)
    run = _Run(work, transport)
    run.play()
    return run.played(times=times)


def _ports(transport: Transport, buffers: Buffers) -> Ports:
    """Return the same transport with every queue."""
    if not transport.segment:
        raise UsageError("segment: buffers hold segments, messages must be cut into them")
    return Ports(
        unit=transport.segment,
        window=transport.window,
        packet=transport.packet,
        control=buffers.control,
        xoff=buffers.xoff,
        xon=buffers.xon,
        headroom=buffers.headroom,
        mark=buffers.mark,
        least=transport.least,
    )


@dataclass(slots=True)
class _Slot:
    """A transfer of several segments under way; the fields are those of messages.c."""

    missing: int
    acknowledged: list[int]
    waits: int = -1
    tail: int = -1
    next: int = 1


Event = tuple[int, int, int, int, int, int, int, int]
"""Time, transfer, segment, tail, bytes, place in ``link``, hops behind and ahead."""


class _Run:
    def __init__(self, work: Work, transport: Transport) -> None:
        links, transfers, _ = work
        self.window, self.packet = transport.window, transport.packet
        passed_on = 0 if transport.packet == WHOLE else transport.packet
        self.rate, self.latency = links.rate.tolist(), links.latency.tolist()
        passing = {rate: duration(passed_on, rate) for rate in set(self.rate)}
        self.first = [passing[rate] for rate in self.rate]
        self.fails = [] if links.fails is None else links.fails.tolist()
        self.size, self.path = transfers.size.tolist(), transfers.path.tolist()
        self.cut, self.count = (found.tolist() for found in _cuts(transfers.size, transport))
        self.start, self.link = transfers.start.tolist(), transfers.link.tolist()
        self.spread = [] if transfers.spread is None else transfers.spread.tolist()
        self.other = [] if transfers.other is None else transfers.other.tolist()
        count = len(self.rate)
        self.free, self.bytes, self.queue = [0] * count, [0] * count, [0] * count
        by_rate: dict[int, dict[int, int]] = {rate: {} for rate in self.rate}
        self.durations = [by_rate[rate] for rate in self.rate]
        self.sent, self.delivered = [-1] * len(self.size), [-1] * len(self.size)
        self.slots: dict[int, _Slot] = {}
        self.heap: list[Event] = []
        self.done = self.events = 0
        self.gates = Opener(work.gates, self.begin)

    def begin(self, t: int, time: int) -> None:
        """Transfer ``t`` starts."""
        if self.count[t] > 1:
            self.slots[t] = _Slot(self.count[t], [-1] * self.window)
        self.push(time, t, 0)

    def push(self, time: int, t: int, j: int) -> None:
        """Segment ``j`` of transfer ``t`` reaches its source's port at ``time``."""
        size = self.cut[t] if j + 1 < self.count[t] else self.size[t] - j * self.cut[t]
        path = self.path[t]
        if self.spread:
            path += j % self.spread[t]
        at = self.start[path]
        heappush(self.heap, (time, t, j, time, size, at, 0, self.start[path + 1] - at))

    def play(self) -> None:  # noqa: C901 - the inner loop, without calls
        """Process events until none is left: the first segment is served at the link it is at."""
        self.gates.open_roots()
        heap, link, packet, first = self.heap, self.link, self.packet, self.first
        free, carried, latency, durations = self.free, self.bytes, self.latency, self.durations
        queue, leave, arrive, events = self.queue, self.leave, self.arrive, 0
        while heap:
            time, t, j, tail, size, at, hop, left = heap[0]
            if not hop and self.fails:
                way = self.choose(time, t, at, left)
                if way is None:
                    heappop(heap)
                    continue
                at, left = way
            leaves = time
            if left:
                events += 1
                here = link[at]
                taken = durations[here].get(size)
                if taken is None:
                    taken = durations[here][size] = duration(size, self.rate[here])
                begin = free[here]
                if begin <= time:
                    begin = time
                elif begin - time > queue[here]:
                    queue[here] = begin - time
                leaves = free[here] = begin + taken
                carried[here] += size
                wait = taken if size < packet else first[here]
                if tail + wait > leaves:  # noqa: PLR1730 - a call less in the inner loop
                    leaves = tail + wait
                away = latency[here]
                time, tail = begin + wait + away, leaves + away
            if left > 1:
                heapreplace(heap, (time, t, j, tail, size, at + 1, hop + 1, left - 1))
                if not hop:
                    leave(t, j, leaves)
                continue
            heappop(heap)
            if not hop:
                leave(t, j, leaves)
            arrive(t, j, tail, at - hop, at + left)
        self.events = events

    def choose(self, time: int, t: int, at: int, left: int) -> tuple[int, int] | None:
        """Return place and hops of a path of transfer ``t`` that has not failed, if any."""
        ways = [(at, left)]
        other = self.other[t] if self.other else -1
        if other >= 0:
            ways.append((self.start[other], self.start[other + 1] - self.start[other]))
        for place, hops in ways:
            if all(self.fails[here] > time for here in self.link[place : place + hops]):
                return place, hops
        return None

    def leave(self, t: int, j: int, time: int) -> None:
        """Segment ``j`` has left its source: send the next one as the window allows."""
        following = j + 1
        if following == self.count[t]:
            self.sent[t] = time
            if self.gates.sent[t] >= 0:
                self.gates.signal(self.gates.sent[t], time)
            return
        slot = self.slots[t]
        known = slot.acknowledged[following % self.window]
        if following >= self.window and known < 0:
            slot.waits, slot.next = time, following
            return
        slot.acknowledged[following % self.window] = -1
        self.push(max(time, known), t, following)

    def arrive(self, t: int, j: int, time: int, start: int, stop: int) -> None:
        """The last byte of segment ``j`` arrives; its acknowledgement goes back the same way."""
        if self.count[t] == 1:
            self.deliver(t, time)
            return
        slot = self.slots[t]
        slot.tail = max(slot.tail, time)
        back = time + sum(self.latency[here] for here in self.link[start:stop])
        if slot.waits >= 0 and slot.next == j + self.window:
            self.push(max(back, slot.waits), t, slot.next)
            slot.waits = -1
        else:
            slot.acknowledged[j % self.window] = back
        slot.missing -= 1
        if not slot.missing:
            del self.slots[t]
            self.deliver(t, slot.tail)

    def deliver(self, t: int, time: int) -> None:
        self.delivered[t] = time
        self.done += 1
        self.gates.signal(self.gates.delivered[t], time)

    def played(self, *, times: bool) -> Played:
        """Return what came out."""
        sent, delivered = np.array(self.sent, np.int64), np.array(self.delivered, np.int64)
        return Played(
            sent if times else None,
            delivered if times else None,
            self.gates.closed(),
            np.array(self.bytes, np.int64),
            np.array(self.queue, np.int64),
            max(self.delivered, default=0) if self.done else 0,
            self.events,
            len(self.size) - self.done,
        )


def _cuts(size: Longs, transport: Transport) -> tuple[Longs, Longs]:
    """Return the bytes of a segment of each transfer (0: the whole) and how many it has."""
    part = np.maximum(-(-size // transport.least), min(transport.segment, PACKET))
    short = size < transport.segment * transport.least
    cut = np.where(short, part, transport.segment)
    count = -(-size // np.maximum(cut, 1))
    return cut, np.where((cut > 0) & (cut < size), count, 1)
