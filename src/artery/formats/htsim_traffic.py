"""Schedules written as traffic for csg-htsim: connections that start each other.

The grammar is that of ``ConnectionMatrix::load`` (Broadcom, csg-htsim, BSD-2): a connection
starts at a time or when a trigger fires, and fires one when it is sent and one when it is
received; a barrier fires when it has been fired ``count`` times. Identifiers begin at 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from artery.core.arrays import Ints
from artery.core.schedule import Schedule
from artery.errors import InputError, Problem
from artery.formats.channels import Channel, Sent, sent, title

LARGEST: Final = 2**31 - 1
"""htsim reads sizes as 32-bit integers with a sign; a size of 0 is a flow without end."""


def check_switches(schedules: Iterable[Schedule]) -> None:
    """Raise :class:`artery.errors.InputError` for a schedule in which switches add."""
    for one in schedules:
        if one.switches:
            fix = "take a ring or a tree, or --offload none"
            raise _refused(one.name, "htsim's switches add nothing", fix)


def htsim_traffic(channels: Sequence[Channel]) -> Iterator[str]:
    """Yield the lines of ``channels`` that run side by side.

    A rank sends in a step when all is done that it sent and received before in its channel. Empty
    messages are written as one byte. Raises :class:`artery.errors.InputError` for switches that
    add, and for a message of 2 GiB.
    """
    check_switches(one.schedule for one in channels)
    messages = sent(channels)
    traffic, where = _traffic(messages), messages.hosts
    if traffic.size.max(initial=0) > LARGEST:
        rule = f"htsim reads messages of up to {LARGEST} bytes"
        raise _refused(f"a message of {traffic.size.max()} bytes", rule, "take a smaller size")
    yield f"# {title(channels)}"
    yield f"Nodes {int(where.max(initial=-1)) + 1}"
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

    source: Ints
    target: Ints
    size: Ints
    begins: Ints
    sent: Ints
    received: Ints
    counts: Ints


def _traffic(messages: Sent) -> _Traffic:
    source, target, steps = messages.source, messages.target, messages.steps
    # What a rank does in a step holds back its next sends: the steps in which it sends, in a row.
    own = source * steps + messages.step
    sending = np.unique(own)
    next_of = [_next(sending, actor * steps + messages.step, steps) for actor in (source, target)]
    held = np.unique(np.concatenate(next_of))
    held = held[held >= 0]
    counts = sum(
        np.bincount(np.searchsorted(held, one[one >= 0]), minlength=len(held)) for one in next_of
    )
    return _Traffic(
        source,
        target,
        messages.size,
        _identifier(held, own),
        _identifier(held, next_of[0]),
        _identifier(held, next_of[1]),
        np.asarray(counts, np.int64),
    )


def _next(sending: Ints, key: Ints, steps: int) -> Ints:
    """Return the key of the next step in which the same rank sends, -1 if there is none."""
    place = np.searchsorted(sending, key, side="right")
    found = np.append(sending, -1)[np.minimum(place, len(sending))]
    return np.where(found // steps == key // steps, found, -1)


def _identifier(held: Ints, key: Ints) -> Ints:
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
