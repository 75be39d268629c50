"""Bytes of a schedule: sizes that do not divide make the last chunks a byte smaller."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from artery.core.arrays import Ints
from artery.core.schedule import Schedule
from artery.errors import UsageError


@dataclass(frozen=True, slots=True)
class Messages:
    """The messages of one step: ``size`` bytes from ``source`` to ``target`` (arrays).

    ``reduce`` says which the target adds to its own, all of it or a part.
    """

    source: Ints
    target: Ints
    size: Ints
    reduce: NDArray[np.bool_]


def chunk_bytes(schedule: Schedule, size: int | Ints, first: Ints, count: Ints) -> Ints:
    """Return the bytes of ``count`` chunks from ``first`` on.

    ``size`` is the bytes of a buffer, which is cut so that all chunks together are the buffer,
    exactly: c chunks have size//c bytes and one more in the first size%c. For all-to-all it may
    be a matrix instead, what each rank sends to each (int64[ranks, ranks]), as experts with
    unequal load do.
    """
    parts = _parts(schedule, size)
    return parts.before(first + count) - parts.before(first)


@dataclass(frozen=True, slots=True)
class _Parts:
    """Buffers one behind the other, each cut into ``cuts`` chunks: where they begin and end."""

    cuts: int
    begin: int | Ints
    size: int | Ints

    def before(self, chunk: Ints) -> Ints:
        """Return the bytes of all chunks before ``chunk``."""
        buffer, place = np.divmod(chunk, self.cuts)
        if isinstance(self.size, int):
            whole, extra = divmod(self.size, self.cuts)
            return np.asarray(buffer * self.begin + place * whole + np.minimum(place, extra))
        wholes, extras = np.divmod(self.size[buffer], self.cuts)
        begin = np.asarray(self.begin)[buffer]
        return np.asarray(begin + place * wholes + np.minimum(place, extras))


def _parts(schedule: Schedule, size: int | Ints) -> _Parts:
    if isinstance(size, int):
        own = schedule.collective in {"alltoall", "sendrecv"}
        return _Parts(schedule.chunks // (schedule.ranks if own else 1), size, size)
    pairs = schedule.ranks**2
    if schedule.collective != "alltoall" or size.shape != (schedule.ranks, schedule.ranks):
        raise UsageError(
            f"{schedule.collective} over {schedule.ranks} ranks takes no matrix of {size.shape};"
            " all-to-all takes one of ranks by ranks"
        )
    flat = np.append(size.reshape(-1), 0)
    return _Parts(schedule.chunks // pairs, np.cumsum(flat) - flat, flat)


def messages(schedule: Schedule, k: int, size: int | Ints) -> Messages:
    """Return the messages of step ``k`` of a collective.

    ``size`` is the bytes per rank, counted as in :class:`artery.core.pricing.Demand`, or a
    matrix (:func:`chunk_bytes`). Transfers with the same source and target are one message; the
    order is that of the step.
    """
    step = schedule.step(k)
    sizes = chunk_bytes(schedule, size, step.first, step.count)
    key = step.source * (schedule.ranks + schedule.switches) + step.target
    if np.all(key[1:] > key[:-1]):
        return Messages(step.source, step.target, sizes, step.reduce)
    unique, start, place = np.unique(key, return_index=True, return_inverse=True)
    if len(unique) == len(key):
        return Messages(step.source, step.target, sizes, step.reduce)
    total = np.zeros(len(unique), np.int64)
    np.add.at(total, place, sizes)
    adds = np.zeros(len(unique), np.bool_)
    np.logical_or.at(adds, place, step.reduce)
    order = np.argsort(start)
    at = start[order]
    return Messages(step.source[at], step.target[at], total[order], adds[order])
