"""The message engine: segments over paths of FIFO links whose buffers are never full.

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
"""

from __future__ import annotations

from ctypes import c_int64
from dataclasses import dataclass
from heapq import heappop, heappush, heapreplace
from typing import Final

import numpy as np

from artery.errors import UsageError
from artery.native import library
from artery.native.gates import Opener
from artery.native.work import Marshalled, Played, Work, check, duration

WHOLE: Final = 2**63 - 1
"""``packet`` of a switch that stores a whole segment before it passes it on."""
PACKET: Final = 4096
"""Bytes: no message is cut finer than this; the packets of InfiniBand and RoCE are no larger."""


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


def messages(work: Work, transport: Transport, *, times: bool = True) -> Played:
    """Return what happens when ``work`` is played, times in ps; see the rules above.

    ``times`` asks for the times of each transfer; without, those of the gates remain.
    Raises ``UsageError`` where the arrays do not fit together.
    """
    check(work)
    loaded = library()
    if loaded is None:
        return twin(work, transport, times=times)
    marshalled = Marshalled(work, times=times)
    failed = loaded.artery_messages(
        marshalled.reference,
        c_int64(transport.segment),
        c_int64(transport.window),
        c_int64(transport.packet),
        c_int64(transport.least),
    )
    if failed:
        raise MemoryError("the message engine ran out of memory")
    return marshalled.played()


def twin(work: Work, transport: Transport, *, times: bool = True) -> Played:
    """Return the same, to the picosecond, in plain Python."""
    run = _Run(work, transport)
    run.play()
    return run.played(times=times)


@dataclass(slots=True)
class _Slot:
    """A transfer of several segments under way; the fields are those of messages.c."""

    missing: int
    acknowledged: list[int]
    waits: int = -1
    tail: int = -1
    next: int = 1


Event = tuple[int, int, int, int, int, int, int]
"""Time, order (transfer << 32 | segment), tail, bytes, place in ``link``, hops behind and ahead."""


class _Run:
    def __init__(self, work: Work, transport: Transport) -> None:
        links, transfers, _ = work
        self.segment, self.window = transport.segment, transport.window
        self.packet, self.least = transport.packet, transport.least
        passed_on = 0 if transport.packet == WHOLE else transport.packet
        self.first = [duration(passed_on, rate) for rate in links.rate.tolist()]
        self.rate, self.latency = links.rate.tolist(), links.latency.tolist()
        self.fails = [] if links.fails is None else links.fails.tolist()
        self.size, self.path = transfers.size.tolist(), transfers.path.tolist()
        self.start, self.link = transfers.start.tolist(), transfers.link.tolist()
        self.spread = [] if transfers.spread is None else transfers.spread.tolist()
        self.other = [] if transfers.other is None else transfers.other.tolist()
        count = len(self.rate)
        self.free, self.bytes, self.queue = [0] * count, [0] * count, [0] * count
        self.durations: dict[tuple[int, int], int] = {}
        self.sent, self.delivered = [-1] * len(self.size), [-1] * len(self.size)
        self.slots: dict[int, _Slot] = {}
        self.heap: list[Event] = []
        self.done = self.events = 0
        self.gates = Opener(work.gates, self.begin)

    def begin(self, t: int, time: int) -> None:
        """Transfer ``t`` starts."""
        count = self.segments(t)
        if count > 1:
            self.slots[t] = _Slot(count, [-1] * self.window)
        self.push(time, t, 0)

    def cut(self, t: int) -> int:
        """Return the bytes of a segment of transfer ``t``, 0: the whole."""
        size: int = self.size[t]
        if not self.segment or size >= self.segment * self.least:
            return self.segment
        return max(-(-size // self.least), min(self.segment, PACKET))

    def segments(self, t: int) -> int:
        """Return how many segments transfer ``t`` has."""
        size, segment = self.size[t], self.cut(t)
        return -(-size // segment) if 0 < segment < size else 1

    def push(self, time: int, t: int, j: int) -> None:
        """Segment ``j`` of transfer ``t`` reaches its source's port at ``time``."""
        segment = self.cut(t)
        left = self.size[t] - j * segment
        size = segment if 0 < segment < left else left
        path = self.path[t] + (j % self.spread[t] if self.spread else 0)
        at, end = self.start[path], self.start[path + 1]
        heappush(self.heap, (time, t << 32 | j, time, size, at, 0, end - at))

    def play(self) -> None:
        """Process events until none is left."""
        self.gates.open_roots()
        heap, serve = self.heap, self.serve
        while heap:
            time, order, tail, size, at, hop, left = heap[0]
            if not hop and self.fails:
                way = self.choose(time, order >> 32, at, left)
                if way is None:
                    heappop(heap)
                    continue
                at, left = way
            source = at - hop
            leaves = time
            if left:
                time, tail, leaves = serve(time, tail, size, self.link[at])
                at, left = at + 1, left - 1
            if left:
                heapreplace(heap, (time, order, tail, size, at, hop + 1, left))
            else:
                heappop(heap)
            if not hop:
                self.leave(order >> 32, order & 0x7FFFFFFF, leaves)
            if not left:
                self.arrive(order >> 32, order & 0x7FFFFFFF, tail, (source, at))

    def serve(self, time: int, tail: int, size: int, here: int) -> tuple[int, int, int]:
        """Serve a segment at link ``here``.

        Return its next arrival, that of its last byte, and when its last byte leaves.
        """
        rate = self.rate[here]
        taken = self.durations.get((size, rate))
        if taken is None:
            taken = self.durations[size, rate] = duration(size, rate)
        begin = max(self.free[here], time)
        leaves = self.free[here] = begin + taken
        self.bytes[here] += size
        self.queue[here] = max(self.queue[here], begin - time)
        first = taken if size < self.packet else self.first[here]
        leaves = max(leaves, tail + first)
        self.events += 1
        latency = self.latency[here]
        return begin + first + latency, leaves + latency, leaves

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
        if following == self.segments(t):
            self.sent[t] = time
            self.gates.signal(self.gates.sent[t], time)
            return
        slot = self.slots[t]
        known = slot.acknowledged[following % self.window]
        if following >= self.window and known < 0:
            slot.waits, slot.next = time, following
            return
        slot.acknowledged[following % self.window] = -1
        self.push(max(time, known), t, following)

    def arrive(self, t: int, j: int, time: int, path: tuple[int, int]) -> None:
        """The last byte of segment ``j`` arrives; its acknowledgement goes back over ``path``."""
        slot = self.slots.get(t)
        if slot is None:
            self.deliver(t, time)
            return
        slot.tail = max(slot.tail, time)
        back = time + sum(self.latency[here] for here in self.link[slice(*path)])
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
