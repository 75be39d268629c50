"""A schedule written as traffic for csg-htsim: connections that start each other.

The grammar is that of ``ConnectionMatrix::load`` (Broadcom, csg-htsim, BSD-2): a connection
starts at a time or when a trigger fires, and fires one when it is sent and one when it is
received; a barrier fires when it has been fired ``count`` times. Identifiers begin at 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from artery.collective.schedules import messages
from artery.core.schedule import Schedule
from artery.errors import InputError, Problem

LARGEST: Final = 2**31 - 1
"""htsim reads sizes as 32-bit integers with a sign; a size of 0 is a flow without end."""

_Ints = NDArray[np.int64]


def htsim_traffic(
    schedule: Schedule, size: int, hosts: Sequence[int] | None = None
) -> Iterator[str]:
    """Yield the lines of ``schedule`` on ``size`` bytes per rank (as in nccl-tests).

    ``hosts`` says which host each rank is (rank r is host r if not given). A rank sends in a
    step when all is done that it sent and received before. Empty messages are written as one byte.
    Raises :class:`artery.errors.InputError` for switches that add, and for a message of 2 GiB.
    """
    if schedule.switches:
        raise _refused(schedule.name, "htsim's switches add nothing", "take a ring or a tree")
    traffic = _traffic(schedule, size)
    if traffic.size.max(initial=0) > LARGEST:
        rule = f"htsim reads messages of up to {LARGEST} bytes"
        raise _refused(f"a message of {traffic.size.max()} bytes", rule, "take a smaller size")
    where = np.arange(schedule.ranks) if hosts is None else np.asarray(hosts, np.int64)
    yield f"# {schedule.collective} by {schedule.name}: {size} bytes, {schedule.steps} steps"
    yield f"Nodes {int(where.max()) + 1}"
    yield f"Connections {len(traffic.size)}"
    yield f"Triggers {len(traffic.counts)}"
    rows = np.stack(
        [
            where[traffic.source],
            where[traffic.target],
            np.maximum(traffic.size, 1),
            traffic.begins,
            traffic.sent,
            traffic.received,
        ],
        axis=1,
    )
    for number, row in enumerate(rows.tolist(), start=1):
        yield _connection(number, row)
    for trigger, count in enumerate(traffic.counts.tolist(), start=1):
        yield f"trigger id {trigger} barrier count {count}"


@dataclass(frozen=True, slots=True)
class _Traffic:
    """Messages, the trigger that begins each and those that it fires; 0 is none."""

    source: _Ints
    target: _Ints
    size: _Ints
    begins: _Ints
    sent: _Ints
    received: _Ints
    counts: _Ints


def _traffic(schedule: Schedule, size: int) -> _Traffic:
    parts = [messages(schedule, k, size) for k in range(schedule.steps)]
    none = np.zeros(0, np.int64)
    source = np.concatenate([none, *(part.source for part in parts)])
    target = np.concatenate([none, *(part.target for part in parts)])
    sizes = np.concatenate([none, *(part.size for part in parts)])
    step = np.repeat(np.arange(schedule.steps), [len(part.size) for part in parts])
    # What a rank does in a step holds back its next sends: the steps in which it sends, in a row.
    sending = np.unique(source * schedule.steps + step)
    next_of = [
        _next(sending, rank * schedule.steps + step, schedule.steps) for rank in (source, target)
    ]
    held = np.unique(np.concatenate(next_of))
    held = held[held >= 0]
    counts = sum(
        np.bincount(np.searchsorted(held, one[one >= 0]), minlength=len(held)) for one in next_of
    )
    own = source * schedule.steps + step
    return _Traffic(
        source,
        target,
        sizes,
        _identifier(held, own),
        _identifier(held, next_of[0]),
        _identifier(held, next_of[1]),
        np.asarray(counts, np.int64),
    )


def _next(sending: _Ints, key: _Ints, steps: int) -> _Ints:
    """Return the key of the next step in which the same rank sends, -1 if there is none."""
    place = np.searchsorted(sending, key, side="right")
    found = np.append(sending, -1)[np.minimum(place, len(sending))]
    return np.where(found // steps == key // steps, found, -1)


def _identifier(held: _Ints, key: _Ints) -> _Ints:
    """Return the trigger of each key, 0 where nothing is waited for."""
    if not len(held):
        return np.zeros(len(key), np.int64)
    place = np.minimum(np.searchsorted(held, key), len(held) - 1)
    return np.where(held[place] == key, place + 1, 0)


def _connection(number: int, row: list[int]) -> str:
    source, target, size, begins, sent, received = row
    start = f"trigger {begins}" if begins else "start 0"
    done = f" send_done_trigger {sent}" if sent else ""
    done += f" recv_done_trigger {received}" if received else ""
    return f"{source}->{target} id {number} {start} size {size}{done}"


def _refused(found: str, rule: str, fix: str) -> InputError:
    return InputError(Problem(found=found, rule=rule, fix=fix))
