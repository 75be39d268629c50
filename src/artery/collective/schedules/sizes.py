"""Bytes of a schedule: sizes that do not divide make the last chunks a byte smaller."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from artery.collective.arrays import Ints
from artery.core.schedule import Schedule


@dataclass(frozen=True, slots=True)
class Messages:
    """The messages of one step: ``size`` bytes from ``source`` to ``target`` (arrays)."""

    source: Ints
    target: Ints
    size: Ints


def cuts(schedule: Schedule) -> int:
    """Return into how many chunks one rank's buffer is cut.

    All of them, except that in all-to-all and send/receive every rank numbers its own.
    """
    if schedule.collective in {"alltoall", "sendrecv"}:
        return schedule.chunks // schedule.ranks
    return schedule.chunks


def chunk_bytes(schedule: Schedule, size: int, first: Ints, count: Ints) -> Ints:
    """Return the bytes of ``count`` chunks from ``first`` on, of a buffer of ``size`` bytes.

    A buffer cut into c chunks has size//c bytes in each and one more in the first size%c, so
    that all chunks together are the buffer, exactly.
    """
    parts = cuts(schedule)
    return _before(first + count, parts, size) - _before(first, parts, size)


def _before(chunk: Ints, parts: int, size: int) -> Ints:
    """Return the bytes of all chunks before ``chunk``, over the buffers of all ranks."""
    whole, extra = divmod(size, parts)
    buffer, place = np.divmod(chunk, parts)
    return np.asarray(buffer * size + place * whole + np.minimum(place, extra))


def messages(schedule: Schedule, k: int, size: int) -> Messages:
    """Return the messages of step ``k`` of a collective on ``size`` bytes per rank.

    ``size`` counts as in :class:`artery.core.pricing.Demand`. Transfers with the same source
    and target are one message. Messages are sorted by source, then target.
    """
    step = schedule.step(k)
    sizes = chunk_bytes(schedule, size, step.first, step.count)
    key = step.source * (schedule.ranks + schedule.switches) + step.target
    if not np.all(key[1:] > key[:-1]):
        order = np.argsort(key, kind="stable")
        key, sizes = key[order], sizes[order]
        start = np.flatnonzero(np.r_[True, key[1:] != key[:-1]])
        key, sizes = key[start], np.add.reduceat(sizes, start)
    source, target = np.divmod(key, schedule.ranks + schedule.switches)
    return Messages(source, target, sizes)
