"""Transfers as fluid: at every moment each flows at its max-min fair rate.

That is what long transfers under a fair transport come to; short ones queue instead, and the
message engine is right for them. A transfer's rate is set anew whenever one that shares a link,
or shares with one that shares, starts or ends, and when a link changes. It is sent when its last
byte leaves, rounded up to a picosecond, and delivered one latency of its path later. A transfer
with ``spread`` k takes 1/k of its rate on each of its paths.

Where the rates are kept up by local repair (see ``repair.c``), each set of rates carries the
certificate of max-min fairness; ``Flowed.unfair`` counts those that missed it.
"""

from __future__ import annotations

from ctypes import c_int64
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from artery.errors import UsageError
from artery.native import library
from artery.native.buffers import address, contiguous
from artery.native.stream import ENDLESS, Stream
from artery.native.work import MAX_RATE, Ints, Longs, Marshalled, Played, Work, check

__all__ = ["ENDLESS", "NO_CHANGES", "Changes", "Flowed", "fluid", "twin"]

NEVER: Final = 2**62
"""ps: a link that fails so late does not fail."""


@dataclass(frozen=True, slots=True)
class Changes:
    """From ``time`` (ps) on, ``link`` has ``rate`` B/s; 0: it is down.

    A transfer on a link that goes down takes its other path, if it has one, with what is left
    of it; else it waits for the link to come back.
    """

    time: Longs
    link: Ints
    rate: Longs


NO_CHANGES: Final = Changes(np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int64))


@dataclass(frozen=True, slots=True)
class Flowed:
    """What came out, and what it took.

    ``played.bytes`` is what crossed each link, ``played.events`` how often a rate was set; its
    queues are 0. ``batches`` counts the moments at which rates changed, ``rounds`` the attempts
    at repair, ``filled`` the rates reckoned in them, ``unfair`` the batches whose rates missed
    their certificate: 0, unless the weights are beyond the reach of doubles.
    """

    played: Played
    batches: int
    rounds: int
    filled: int
    unfair: int


def fluid(
    work: Work,
    changes: Changes = NO_CHANGES,
    weight: NDArray[np.float64] | None = None,
    *,
    epsilon: int = 0,
) -> Flowed:
    """Return what happens when ``work`` flows, times in ps.

    ``weight`` is what a transfer takes of each hop of ``link`` per unit of its rate (``None``: 1).
    A transfer of ``ENDLESS`` bytes is background: it never ends, and the run ends without it.
    Events at most ``epsilon`` ps apart share one repair: faster, and about that much less exact.
    Raises ``UsageError`` where the arrays do not fit together.
    """
    check(work)
    changes = _with_failures(work, changes)
    _check(work, changes, weight, epsilon)
    if weight is not None:
        weight = contiguous(weight, np.float64)
    if library() is None:
        return twin(work, changes, weight, epsilon)
    return _compiled(work, changes, weight, epsilon)


def twin(work: Work, changes: Changes, weight: NDArray[np.float64] | None, epsilon: int) -> Flowed:
    """Return the same, to the picosecond, in plain Python."""
    stream = Stream(work, (changes.time.tolist(), changes.link.tolist(), changes.rate.tolist()))
    if weight is not None:
        stream.weight, stream.weighted = weight.tolist(), True
    stream.play(epsilon)
    return Flowed(stream.played(), *stream.counts)


def _compiled(
    work: Work, changes: Changes, weight: NDArray[np.float64] | None, epsilon: int
) -> Flowed:
    core = library()
    marshalled = Marshalled(work, times=True)
    counts = np.zeros(4, np.int64)
    failed = core is None or core.artery_fluid(
        marshalled.reference,
        address(weight),
        c_int64(epsilon),
        c_int64(changes.time.size),
        address(changes.time),
        address(changes.link),
        address(changes.rate),
        address(counts),
    )
    if failed:
        raise MemoryError("the fluid engine ran out of memory")
    return Flowed(marshalled.played(), *counts.tolist())


def _with_failures(work: Work, changes: Changes) -> Changes:
    """Return the changes, and those links of the work that fail."""
    time, link = contiguous(changes.time, np.int64), contiguous(changes.link, np.int32)
    rate = contiguous(changes.rate, np.int64)
    if work.links.fails is None:
        return Changes(time, link, rate)
    failing = np.flatnonzero(work.links.fails < NEVER)
    return Changes(
        np.concatenate([time, work.links.fails[failing]]),
        np.concatenate([link, failing.astype(np.int32)]),
        np.concatenate([rate, np.zeros(failing.size, np.int64)]),
    )


def _check(work: Work, changes: Changes, weight: NDArray[np.float64] | None, epsilon: int) -> None:
    time, link, rate = changes.time, changes.link, changes.rate
    if not time.shape == link.shape == rate.shape:
        raise UsageError("changes: time, link and rate must be of one length")
    if link.size and not 0 <= link.min() <= link.max() < work.links.rate.size:
        raise UsageError("changes: link must be a link's number")
    if time.size and (time.min() < 0 or rate.min() < 0 or rate.max() > MAX_RATE):
        raise UsageError("changes: times and rates must not be negative, nor rates beyond MAX_RATE")
    if weight is not None and (weight.shape != work.transfers.link.shape or (weight <= 0).any()):
        raise UsageError("weight: must be positive, one for each hop in link")
    if epsilon < 0:
        raise UsageError(f"epsilon: {epsilon} ps found, must not be negative")
