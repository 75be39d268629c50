"""A schedule compiled for one process: its messages step by step, in elements of the buffer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from artery.collective.schedules import chunk_bytes
from artery.collective.verify import own
from artery.core.arrays import Ints
from artery.core.schedule import Schedule, Step


@dataclass(frozen=True, slots=True)
class Span:
    """Elements ``begin`` to ``end`` - 1 of a buffer; what arrives is added if ``adds``."""

    begin: int
    end: int
    adds: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """One message from vertex ``source`` to vertex ``target``.

    ``peer`` is the process at the other end and ``spans`` are the parts of the buffer at this end,
    in the order in which they travel. If both vertices live here, ``spans`` are those of the
    target and ``taken`` those of the source. ``sets`` says that the step adds nothing of it: then
    nothing else is written there in the same step (the verifier has seen to it).
    """

    source: int
    target: int
    peer: int
    spans: tuple[Span, ...]
    taken: tuple[Span, ...] = ()
    sets: bool = False

    @property
    def elements(self) -> int:
        """Elements that travel."""
        return sum(span.end - span.begin for span in self.spans)

    @property
    def adds(self) -> bool:
        """Whether anything of it is added."""
        return any(span.adds for span in self.spans)


@dataclass(frozen=True, slots=True)
class Stage:
    """One step as this process sees it.

    ``sends`` go to other processes, ``arrivals`` come from them or from a vertex of this one, and
    are written in their order. ``crossing`` says that some of what leaves is also written: then
    nothing may be written before all of it has left.
    """

    sends: tuple[Message, ...]
    arrivals: tuple[Message, ...]
    crossing: bool


@dataclass(frozen=True, slots=True)
class Program:
    """All stages of one process, and the ``length`` of the buffer of each of its vertices."""

    stages: tuple[Stage, ...]
    vertices: tuple[int, ...]
    length: int


def homes(schedule: Schedule, processes: int) -> Ints:
    """Return the process of each vertex: ranks on their own, all switches on the last one.

    With no process to spare, the last rank lends its own to the switches.
    """
    home = np.arange(schedule.ranks + schedule.switches)
    home[schedule.ranks :] = processes - 1
    return home


def bounds(schedule: Schedule, elements: int) -> Ints:
    """Return where each chunk begins, and at last where the buffer ends, in elements.

    ``elements`` counts one rank's buffer as in :class:`artery.core.pricing.Demand`; for all-to-all
    and send/receive the buffers of all ranks lie one behind the other.
    """
    chunk = np.arange(schedule.chunks + 1)
    return chunk_bytes(schedule, elements, np.zeros_like(chunk), chunk)


def program(schedule: Schedule, elements: int, process: int, home: Ints) -> Program:
    """Return what ``process`` does; ``home`` is the process of each vertex."""
    cut = bounds(schedule, elements)
    held = np.zeros((schedule.ranks + schedule.switches, schedule.chunks), np.bool_)
    held[: schedule.ranks] = own(schedule)
    stages = tuple(
        _stage(_Steps(schedule.step(k), cut, held), process, home) for k in range(schedule.steps)
    )
    here = tuple(int(vertex) for vertex in np.flatnonzero(home == process))
    return Program(stages, here, int(cut[-1]))


class _Steps:
    """One step, and what each vertex holds when it begins; both ends cut messages the same."""

    def __init__(self, step: Step, cut: Ints, held: NDArray[np.bool_]) -> None:
        self.step, self.cut, self.held = step, cut, held

    def pairs(self, mine: NDArray[np.bool_]) -> Iterator[tuple[int, int, Sequence[int]]]:
        """Yield source, target and entries of each message of the entries chosen by ``mine``."""
        found: dict[tuple[int, int], list[int]] = {}
        for entry in np.flatnonzero(mine).tolist():
            ends = int(self.step.source[entry]), int(self.step.target[entry])
            found.setdefault(ends, []).append(entry)
        for (source, target), entries in found.items():
            yield source, target, entries

    def chunks(self, entries: Sequence[int]) -> Ints:
        """Return the chunks of the entries, in their order."""
        first, count = self.step.first, self.step.count
        return np.concatenate([np.arange(first[one], first[one] + count[one]) for one in entries])

    def leaving(self, entries: Sequence[int]) -> tuple[Span, ...]:
        """Return the spans of what a source sends."""
        chunk = self.chunks(entries)
        return _spans(self.cut, chunk, np.zeros(len(chunk), np.bool_))

    def arriving(self, target: int, entries: Sequence[int]) -> tuple[Span, ...]:
        """Return the spans of what a target receives; what it does not hold yet is set, not added.

        So nobody need begin with zeros: not a switch, nor a rank with room for others' chunks.
        """
        chunk = self.chunks(entries)
        adds = np.repeat(self.step.reduce[list(entries)], self.step.count[list(entries)])
        adds &= self.held[target, chunk]
        self.held[target, chunk] = True
        return _spans(self.cut, chunk, adds)


def _spans(cut: Ints, chunk: Ints, adds: NDArray[np.bool_]) -> tuple[Span, ...]:
    """Return chunks as spans, neighbours joined and empty ones left out."""
    spans: list[Span] = []
    ends = zip(cut[chunk].tolist(), cut[chunk + 1].tolist(), adds.tolist(), strict=True)
    for begin, end, add in ends:
        if begin == end:
            continue
        if spans and spans[-1].end == begin and spans[-1].adds == add:
            spans[-1] = Span(spans[-1].begin, end, add)
        else:
            spans.append(Span(begin, end, add))
    return tuple(spans)


def _stage(now: _Steps, process: int, home: Ints) -> Stage:
    """Return the stage of one step, and note in ``now.held`` what has arrived by its end."""
    out = home[now.step.source] == process
    into = home[now.step.target] == process
    sends = tuple(
        Message(source, target, int(home[target]), now.leaving(entries))
        for source, target, entries in now.pairs(out & ~into)
    )
    arrivals = []
    crossing = _crossing(now, out, into)
    for source, target, entries in now.pairs(into):
        peer = int(home[source])
        taken = now.leaving(entries) if peer == process else ()
        sets = not now.step.reduce[list(entries)].any()
        spans = now.arriving(target, entries)
        arrivals.append(Message(source, target, peer, spans, taken, sets=sets))
    return Stage(_filled(sends), _filled(arrivals), crossing)


def _filled(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the messages that carry anything: a buffer may have fewer elements than chunks."""
    return tuple(message for message in messages if message.spans)


def _crossing(now: _Steps, out: NDArray[np.bool_], into: NDArray[np.bool_]) -> bool:
    """Whether a chunk of a vertex here both leaves and is written in the step."""
    chunks = now.held.shape[1]

    def cells(vertex: Ints, which: NDArray[np.bool_]) -> Ints:
        entries = np.flatnonzero(which)
        if not len(entries):
            return np.zeros(0, np.int64)
        owner = np.repeat(vertex[entries], now.step.count[entries])
        return np.asarray(owner * chunks + now.chunks(entries.tolist()))

    leaving, arriving = cells(now.step.source, out), cells(now.step.target, into)
    return bool(np.isin(leaving, arriving).any())
