"""Plays a schedule on this process: the third reader of a :class:`Schedule`.

A rank starts a step once everything of the step before has arrived and left. Within a step all
messages are under way at once, in pieces, so that one piece is added while the next one travels.
What is set, in one run of elements that nobody sends, is received in its place; all else is
received beside and then added or copied.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from artery.core.schedule import Schedule
from artery.errors import UsageError
from artery.runner.executor.program import Message, Span, Stage, homes, program
from artery.runner.executor.transport import Buffer, Parcel, Transport, Work

PIECE: Final = 2 * 2**20
"""Bytes. Assumed: small enough that adding hides behind the transfer of the next piece."""

PACED_PIECE: Final = 64 * 2**10
"""Bytes. Assumed: what a paced flow sends at once; the error of a time is one piece's."""

NAP: Final = 1e-3
"""Seconds. Assumed: a transport that needs somebody's time gets it this often during a pause."""


class Gate(Protocol):
    """What holds sends back: see :class:`artery.runner.executor.pacer.Pacer`."""

    def reserve(
        self, source: int, target: int, size: int, ready: float, step: int = 0
    ) -> tuple[float, float]:
        """Return when the message has left, and when it arrives."""
        ...

    def arrived(self, source: int, target: int, step: int) -> float:
        """Return when the last of a step arrives at ``target`` from ``source``."""
        ...


@dataclass(frozen=True, slots=True)
class _Arrival:
    """A message on its way here: ``room`` is where it is received, in ``pieces``."""

    message: Message
    room: Buffer
    direct: bool
    pieces: tuple[slice, ...]


class Player:
    """One schedule over buffers of ``elements``, ready to be run any number of times.

    ``buffers`` holds the whole buffer of each vertex that lives on this process: fill it, run,
    read it. The processes are those of ``transport``; ranks live on the first of them and
    switches on the last.
    """

    def __init__(
        self,
        schedule: Schedule,
        elements: int,
        transport: Transport,
        dtype: str = "float",
        gate: Gate | None = None,
    ) -> None:
        if gate is not None and schedule.switches:
            raise UsageError(
                f"{schedule.name} adds in switches, and a paced run has none; "
                "leave pacing out, or use ring, tree or hierarchical"
            )
        home = homes(schedule, transport.processes)
        whole = program(schedule, elements, transport.process, home)
        self.buffers = {one: transport.empty(whole.length, dtype) for one in whole.vertices}
        self._transport, self._dtype, self._gate = transport, dtype, gate
        some = transport.empty(1, dtype)
        self._width = int(getattr(some, "itemsize", 1))
        self._piece = max((PACED_PIECE if gate else PIECE) // self._width, 1)
        self._rooms: list[Buffer] = []
        self._clock = 0.0
        self._stages = [self._bound(stage) for stage in whole.stages]

    def run(self) -> None:
        """Play all steps once."""
        self._clock = time.monotonic()
        for step, (stage, arrivals, parcels) in enumerate(self._stages):
            self._play(step, stage, arrivals, parcels)

    def _bound(self, stage: Stage) -> tuple[Stage, list[_Arrival], list[Parcel]]:
        """Return a stage with the buffers of its arrivals and what is posted for them."""
        arrivals, parcels = [], []
        rooms = 0
        for message in stage.arrivals:
            direct = _in_place(message) and not stage.crossing
            if direct:
                span = message.spans[0]
                room = self.buffers[message.target][span.begin : span.end]
            else:
                room, rooms = self._room(rooms, message.elements), rooms + 1
            pieces = () if message.taken else _pieces(message.elements, self._piece)
            arrivals.append(_Arrival(message, room, direct, pieces))
            parcels += [Parcel(room[piece], message.peer) for piece in pieces]
        return stage, arrivals, parcels

    def _room(self, number: int, elements: int) -> Buffer:
        """Return a buffer beside, the same for every step that asks for that number and length."""
        while len(self._rooms) <= number:
            self._rooms.append(self._transport.empty(0, self._dtype))
        if len(self._rooms[number]) < elements:
            self._rooms[number] = self._transport.empty(elements, self._dtype)
        return self._rooms[number][:elements]

    def _play(
        self, step: int, stage: Stage, arrivals: list[_Arrival], parcels: list[Parcel]
    ) -> None:
        for arrival in arrivals:
            if arrival.message.taken:
                buffer = self.buffers[arrival.message.source]
                _pack(arrival.room, buffer, arrival.message.taken)
        if self._gate is None:
            sends = [parcel for message in stage.sends for parcel in self._parcels(message)]
            left, come = self._transport.post(sends, parcels)
        else:
            _, come = self._transport.post([], parcels)
            left = self._paced(step, stage.sends, self._gate)
        if stage.crossing:
            _wait(left)
        works = iter(come)
        for arrival in arrivals:
            self._take(arrival, works)
        if not stage.crossing:
            _wait(left)
        if self._gate is not None:
            for arrival in arrivals:
                source, target = arrival.message.source, arrival.message.target
                self._clock = max(self._clock, self._gate.arrived(source, target, step))

    def _parcels(self, message: Message) -> list[Parcel]:
        """Return the pieces of a message to send; scattered spans are packed first."""
        buffer = self.buffers[message.source]
        if len(message.spans) == 1:
            whole = buffer[message.spans[0].begin : message.spans[0].end]
        else:
            whole = self._transport.empty(message.elements, self._dtype)
            _pack(whole, buffer, message.spans)
        pieces = _pieces(message.elements, self._piece)
        return [Parcel(whole[piece], message.peer) for piece in pieces]

    def _paced(self, step: int, messages: Sequence[Message], gate: Gate) -> list[Work]:
        """Send pieces as the links let them through, those of all messages in turn.

        The step begins when, by the links' own reckoning, the one before has ended: what the
        operating system wakes up late is not added up.
        """
        queues = [self._parcels(message) for message in messages]
        waiting: list[tuple[float, float, int, int]] = []
        last = begin = self._clock

        def reserve(number: int, piece: int, ready: float) -> None:
            message, size = messages[number], len(queues[number][piece].view) * self._width
            left, arrives = gate.reserve(message.source, message.target, size, ready, step)
            heapq.heappush(waiting, (arrives, left, number, piece))

        for number in range(len(messages)):
            reserve(number, 0, begin)
        works: list[Work] = []
        while waiting:
            due, left, number, piece = heapq.heappop(waiting)
            self._sleep(due)
            posted, _ = self._transport.post([queues[number][piece]], [])
            works += posted
            last = max(last, left)
            if piece + 1 < len(queues[number]):
                reserve(number, piece + 1, left)
        self._clock = last
        return works

    def _sleep(self, due: float) -> None:
        """Return at ``due`` on the monotonic clock."""
        while (left := due - time.monotonic()) > 0:
            time.sleep(min(left, NAP))
            self._transport.progress()

    def _take(self, arrival: _Arrival, works: Iterator[Work]) -> None:
        """Wait for an arrival and write it where it belongs."""
        message = arrival.message
        buffer = self.buffers[message.target]
        one = len(message.spans) == 1 and not arrival.direct
        for piece in arrival.pieces:
            next(works).wait()
            if one:
                begin = message.spans[0].begin
                _write(buffer, begin + piece.start, begin + piece.stop, arrival.room[piece],
                       adds=message.adds)  # fmt: skip
        if arrival.direct or (one and arrival.pieces):
            return
        place = 0
        for span in message.spans:
            size = span.end - span.begin
            room = arrival.room[place : place + size]
            _write(buffer, span.begin, span.end, room, adds=span.adds)
            place += size


def _in_place(message: Message) -> bool:
    """Whether a message may be received where it belongs.

    Only what is set, and comes from another process; the verifier has seen that nothing else is
    written there in the same step. What is set only because nothing is held yet is no such case:
    more may come to be added.
    """
    return len(message.spans) == 1 and not message.taken and message.sets


def _pieces(elements: int, most: int) -> tuple[slice, ...]:
    """Return ``elements`` as pieces of at most ``most``."""
    starts = range(0, elements, most)
    return tuple(slice(start, min(start + most, elements)) for start in starts)


def _write(buffer: Buffer, begin: int, end: int, values: Buffer, *, adds: bool) -> None:
    part = buffer[begin:end]
    if adds:
        part += values  # on a name of its own: torch would copy the slice onto itself once more
    else:
        part[...] = values


def _pack(room: Buffer, buffer: Buffer, spans: Sequence[Span]) -> None:
    place = 0
    for span in spans:
        size = span.end - span.begin
        room[place : place + size] = buffer[span.begin : span.end]
        place += size


def _wait(works: Sequence[Work]) -> None:
    for work in works:
        work.wait()
