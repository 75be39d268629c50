"""What the event-driven engines are given, and what they give back: arrays, in SI but for time.

Time is in integer picoseconds: a run of up to 106 days fits in 64 bits, and both the compiled
loops and their Python twins come to the same number. Bytes and B/s are integers too.

A **transfer** moves ``size`` bytes along a path. A **gate** opens when it has had ``count``
signals, ``delay`` later; then it starts the transfers that wait for it and signals the gates that
follow. A transfer signals one gate when it is sent (its source may go on) and one when it is
delivered (its target has it). Steps of a collective, computation, release times of other jobs and
any graph of dependencies are all gates (``artery.native.gates``).
"""

from __future__ import annotations

from ctypes import Structure, byref, c_int64, c_void_p
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from artery.errors import UsageError
from artery.native.buffers import address, contiguous

Longs = NDArray[np.int64]
Ints = NDArray[np.int32]
Whole = NDArray[np.integer]

PICOSECONDS: Final = 10**12
"""In a second."""
MAX_RATE: Final = 18 * 10**12
"""B/s: up to here durations are computed without overflow in 64 bits."""

MOST: Final = 2**29
"""Transfers: their number shares 61 bits with that of a segment."""


@dataclass(frozen=True, slots=True)
class Links:
    """Directed links: ``rate`` in B/s, ``latency`` in ps, and when each ``fails`` (ps), if any do.

    A transfer (or segment) that has not left its source when a link of its path has failed takes
    its other path; what is already under way still arrives.
    """

    rate: Longs
    latency: Longs
    fails: Longs | None = None

    def at(self, rate: Longs) -> Links:
        """Return the same links, the first of them at other rates."""
        return replace(self, rate=np.concatenate([rate, self.rate[len(rate) :]]))


@dataclass(frozen=True, slots=True)
class Transfers:
    """``size`` bytes over path number ``path``; path p is ``link[start[p]:start[p + 1]]``.

    Segment j takes path ``path + j mod spread`` (``spread`` absent: 1). ``other`` is the path to
    take when that one has failed (-1: none, the transfer stalls). ``classes`` is the traffic
    class, for priority flow control.
    """

    size: Longs
    path: Ints
    start: Longs
    link: Ints
    spread: Ints | None = None
    other: Ints | None = None
    classes: Ints | None = None


@dataclass(frozen=True, slots=True)
class Gates:
    """Gate g waits for ``count[g]`` signals, opens ``delay[g]`` ps after the last of them.

    It then starts transfers ``first[g]`` to ``first[g + 1] - 1`` (each transfer has one gate) and
    signals gates ``then[then_start[g]:then_start[g + 1]]``, or if there is a ``chain`` (both are
    then empty) gate g + ``chain``, where there is one. ``sent`` and ``delivered`` give, for each
    transfer, the gate it signals (-1: none).
    """

    count: Ints
    first: Ints
    then_start: Ints
    then: Ints
    sent: Ints
    delivered: Ints
    delay: Longs | None = None
    chain: int = 0


@dataclass(frozen=True, slots=True)
class Played:
    """What came out, times in ps, -1 for what never happened.

    ``sent`` and ``delivered`` by transfer (``None`` if not asked for), ``opened`` by gate;
    by link the ``bytes`` carried and the longest ``queue`` met (ps of waiting in the message
    engine, bytes in the packet engine). ``makespan`` is the last delivery; ``unfinished`` counts
    transfers that were never delivered; ``overflow`` is how far, in bytes, a lossless buffer
    ran over what its thresholds and headroom allow (more than 0: packets would be lost). ``idle``
    says how long flow control kept each link from sending what was waiting, ps (``None``: there
    is none).
    """

    sent: Longs | None
    delivered: Longs | None
    opened: Longs
    bytes: Longs
    queue: Longs
    makespan: int
    events: int
    unfinished: int
    overflow: int = 0
    idle: Longs | None = None

    def busy(self, links: Links) -> Longs:
        """Return how long each link was sending, ps: its bytes at its rate."""
        whole, rest = np.divmod(self.bytes, links.rate)
        million = 10**6
        part, rest = np.divmod(rest * million, links.rate)
        return (whole * million + part) * million + -(-rest * million // links.rate)


def duration(size: int, rate: int) -> int:
    """Return ceil(size·10¹² / rate): how long a link of ``rate`` B/s sends ``size`` bytes, ps."""
    return -(-size * PICOSECONDS // rate)


class Work(NamedTuple):
    """What an engine plays."""

    links: Links
    transfers: Transfers
    gates: Gates


_ARRAYS: Final[dict[str, type[np.int64 | np.int32]]] = {
    **dict.fromkeys(("rate", "latency", "fails", "size"), np.int64),
    **dict.fromkeys(("path", "spread", "other", "class_of"), np.int32),
    "start": np.int64,
    **dict.fromkeys(("link", "first", "then_start", "then"), np.int32),
    **dict.fromkeys(("sent_gate", "delivered_gate"), np.int32),
    "delay": np.int64,
    "count": np.int32,
    **dict.fromkeys(("opened", "sent", "delivered", "bytes", "queue", "idle"), np.int64),
}
"""The pointers of ``struct work`` in work.h, in its order."""


class Record(Structure):
    """``struct work`` of work.h."""

    _fields_ = (
        *((name, c_int64) for name in ("links", "transfers", "gates", "classes", "chain")),
        *((name, c_void_p) for name in _ARRAYS),
        *((name, c_int64) for name in ("makespan", "events", "unfinished", "overflow")),
    )


class Marshalled:
    """The arrays of a ``Work`` in the shape C wants, with room for the results."""

    def __init__(self, work: Work, *, times: bool) -> None:
        links, transfers, gates = work
        n = transfers.size.size
        self.opened = np.zeros(gates.count.size, np.int64)
        self.bytes = np.zeros(links.rate.size, np.int64)
        self.queue = np.zeros(links.rate.size, np.int64)
        self.idle = np.zeros(links.rate.size, np.int64)
        self.sent = np.full(n, -1, np.int64) if times else None
        self.delivered = np.full(n, -1, np.int64) if times else None
        arrays: dict[str, NDArray[np.integer] | None] = {
            "rate": links.rate, "latency": links.latency, "fails": links.fails,
            "size": transfers.size, "path": transfers.path, "spread": transfers.spread,
            "other": transfers.other, "class_of": transfers.classes,
            "start": transfers.start, "link": transfers.link,
            "first": gates.first,
            "then_start": None if gates.chain else gates.then_start,
            "then": None if gates.chain else gates.then,
            "sent_gate": gates.sent, "delivered_gate": gates.delivered, "delay": gates.delay,
            "count": gates.count.copy(), "opened": self.opened, "sent": self.sent,
            "delivered": self.delivered, "bytes": self.bytes, "queue": self.queue,
            "idle": self.idle,
        }  # fmt: skip
        self._kept = [
            None if array is None else contiguous(array, _ARRAYS[name])
            for name, array in arrays.items()
        ]
        self.record = Record(
            links.rate.size,
            n,
            gates.count.size,
            class_count(work),
            gates.chain,
            *map(address, self._kept),
        )

    @property
    def reference(self) -> object:
        """What to hand over."""
        return byref(self.record)

    def played(self) -> Played:
        """Return the results, after the engine ran."""
        record = self.record
        return Played(
            self.sent,
            self.delivered,
            self.opened,
            self.bytes,
            self.queue,
            record.makespan,
            record.events,
            record.unfinished,
            record.overflow,
        )


def class_count(work: Work) -> int:
    """Return the number of traffic classes."""
    classes = work.transfers.classes
    return 1 if classes is None or not classes.size else int(classes.max()) + 1


def check(work: Work) -> None:
    """Refuse arrays that would make an engine read where nothing is.

    Raises ``UsageError`` that names the array.
    """
    links, transfers, gates = work
    n, paths, count = transfers.size.size, transfers.start.size - 1, gates.count.size
    if n >= MOST or transfers.link.size >= 2**31:
        raise UsageError(f"{n} transfers over {transfers.link.size} hops, at most {MOST}, 2^31")
    _within("rate", links.rate, 1, MAX_RATE)
    _within("latency", links.latency, 0, None)
    _within("size", transfers.size, 0, None)
    _within("link", transfers.link, 0, links.rate.size - 1)
    _rising("start", transfers.start, transfers.link.size)
    _rising("first", gates.first, n)
    if not gates.chain:
        _rising("then_start", gates.then_start, gates.then.size)
    _within("then", gates.then, 0, count - 1)
    _within("count", gates.count, 0, None)
    spread = 0 if transfers.spread is None else transfers.spread - 1
    _within("path", transfers.path, 0, None)
    _within("path and spread", transfers.path + spread, 0, paths - 1)
    for name, array, length in (
        ("latency", links.latency, links.rate.size),
        ("fails", links.fails, links.rate.size),
        ("path", transfers.path, n),
        ("spread", transfers.spread, n),
        ("other", transfers.other, n),
        ("classes", transfers.classes, n),
        ("sent", gates.sent, n),
        ("delivered", gates.delivered, n),
        ("first", gates.first, count + 1),
        ("then_start", gates.then_start, 0 if gates.chain else count + 1),
        ("delay", gates.delay, count),
    ):
        if array is not None and array.size != length:
            raise UsageError(f"{name}: {array.size} entries, must be {length}")
    for name, array, least, most in (
        ("sent", gates.sent, -1, count - 1),
        ("delivered", gates.delivered, -1, count - 1),
        ("other", transfers.other, -1, paths - 1),
        ("spread", transfers.spread, 1, None),
        ("classes", transfers.classes, 0, 7),
        ("delay", gates.delay, 0, None),
    ):
        if array is not None:
            _within(name, array, least, most)


def _within(name: str, array: NDArray[np.integer], least: int, most: int | None) -> None:
    if array.size and int(array.min()) < least:
        raise UsageError(f"{name}: {array.min()} found, must be at least {least}")
    if array.size and most is not None and int(array.max()) > most:
        raise UsageError(f"{name}: {array.max()} found, must be at most {most}")


def _rising(name: str, array: NDArray[np.integer], end: int) -> None:
    if not array.size or array[0] != 0 or array[-1] != end or np.any(np.diff(array) < 0):
        raise UsageError(f"{name}: must rise from 0 to {end}")
