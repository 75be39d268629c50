"""Schedules side by side, as other simulators take them: who sends what to which host, and when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from artery.collective.schedules import messages
from artery.core.arrays import Ints
from artery.core.schedule import Schedule


@dataclass(frozen=True, slots=True, eq=False)
class Channel:
    """A schedule on ``size`` bytes per rank (as in nccl-tests, or a matrix), rank r on a host.

    ``hosts`` says which host each rank is (rank r is host r if not given).
    """

    schedule: Schedule
    size: int | Ints
    hosts: Ints | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Sent:
    """All messages of channels, channel by channel and step by step.

    ``source`` and ``target`` are actors, the ranks and switches of each channel, numbered one
    channel after the other; ``hosts`` says on which host each actor is (switches come after all
    hosts). ``tag`` tells steps of different channels apart. ``steps`` are more than any channel's.
    """

    source: Ints
    target: Ints
    size: Ints
    step: Ints
    tag: Ints
    hosts: Ints
    steps: int


def sent(channels: Sequence[Channel]) -> Sent:
    """Return the messages of ``channels``."""
    rows: list[Ints] = [np.zeros((5, 0), np.int64)]
    actors = tag = 0
    for channel in channels:
        one = channel.schedule
        for k in range(one.steps):
            part = messages(one, k, channel.size)
            turn = [np.full(len(part.size), value) for value in (k, tag + k)]
            ends = part.source + actors, part.target + actors
            rows.append(np.stack([*ends, part.size, *turn]))
        actors += one.ranks + one.switches
        tag += one.steps
    steps = max((channel.schedule.steps for channel in channels), default=0)
    source, target, size, step, tags = np.concatenate(rows, axis=1)
    return Sent(source, target, size, step, tags, _hosts(channels), steps + 1)


def _hosts(channels: Sequence[Channel]) -> Ints:
    """Return the host of each actor."""
    ranks = [
        np.arange(one.schedule.ranks) if one.hosts is None else np.asarray(one.hosts, np.int64)
        for one in channels
    ]
    switch = 1 + max((int(one.max(initial=-1)) for one in ranks), default=-1)
    found: list[Ints] = []
    for channel, own in zip(channels, ranks, strict=True):
        found += [own, switch + np.arange(channel.schedule.switches)]
        switch += channel.schedule.switches
    return np.concatenate(found) if found else np.zeros(0, np.int64)


def title(channels: Sequence[Channel]) -> str:
    """Return what the channels are, in one line: all that are alike are said once."""
    each = [
        f"{one.schedule.collective} by {one.schedule.name}: {_bytes(one.size)}, "
        f"{one.schedule.steps} steps"
        for one in channels
    ]
    alike = {text: each.count(text) for text in each}
    return "; ".join(
        text + (f", {many} channels" if many > 1 else "") for text, many in alike.items()
    )


def _bytes(size: int | Ints) -> str:
    return f"{size} bytes" if isinstance(size, int) else "a matrix"
