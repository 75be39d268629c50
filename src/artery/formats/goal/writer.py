"""Schedules written as GOAL."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from artery.formats.channels import Channel, Sent, sent, title


class _Operation(NamedTuple):
    """One line of a host: what one of its actors does in a step, and with whom."""

    host: int
    actor: int
    step: int
    receives: int
    peer: int
    size: int
    tag: int

    def __str__(self) -> str:
        verb, word = ("recv", "from") if self.receives else ("send", "to")
        return f"{verb} {self.size}b {word} {self.peer} tag {self.tag}"


def goal(channels: Sequence[Channel]) -> Iterator[str]:
    """Yield the lines of ``channels`` that run side by side; hosts are GOAL's ranks.

    The tag of a message is its step, those of each channel after those of the one before. What a
    rank does in a step requires all that it did in the last step of its channel in which it did
    anything. Switches become ranks after the real ones.
    """
    traffic = sent(channels)
    switches = sum(one.schedule.switches for one in channels)
    ranks = int(traffic.hosts.max(initial=-1)) + 1
    yield f"// {title(channels)}"
    if switches:
        yield f"// ranks {ranks - switches} to {ranks - 1} are switches"
    yield f"num_ranks {ranks}"
    by_host = {
        host: list(operations)
        for host, operations in groupby(_operations(traffic), lambda one: one.host)
    }
    for host in range(ranks):
        yield ""
        yield f"rank {host} {{"
        label = 0
        for _, group in groupby(by_host.get(host, []), lambda one: one.actor):
            label = yield from _block(list(group), label)
        yield "}"


def _operations(traffic: Sent) -> Iterator[_Operation]:
    """Yield what each host does, by actor, then step; sends before receives."""
    rows = []
    for receives, (actor, peer) in enumerate(
        ((traffic.source, traffic.target), (traffic.target, traffic.source))
    ):
        side = np.full(len(actor), receives)
        ends = traffic.hosts[actor], actor
        rows.append(
            np.stack(
                [*ends, traffic.step, side, traffic.hosts[peer], traffic.size, traffic.tag], axis=1
            )
        )
    table = np.concatenate(rows)
    order = np.lexsort(table[:, ::-1].T)
    for row in table[order].tolist():
        yield _Operation(*row)


def _block(operations: list[_Operation], label: int) -> Generator[str, None, int]:
    """Yield the lines of one actor, labels after ``label``; return the last label."""
    before = range(0)
    for _, group in groupby(operations, lambda one: one.step):
        now = list(group)
        if len(before) * len(now) > len(before) + len(now):
            # A computation of no length joins what would need every pair.
            label += 1
            yield f"l{label}: calc 0"
            yield from (f"l{label} requires l{earlier}" for earlier in before)
            before = range(label, label + 1)
        first = label + 1
        for one in now:
            label += 1
            yield f"l{label}: {one}"
            yield from (f"l{label} requires l{earlier}" for earlier in before)
        before = range(first, label + 1)
    return label
