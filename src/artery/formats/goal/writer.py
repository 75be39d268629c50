"""A schedule written as GOAL."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

import numpy as np

from artery.collective.schedules import messages
from artery.core.schedule import Schedule


class _Operation(NamedTuple):
    """One line of a rank: what it does in a step, and with whom."""

    rank: int
    step: int
    receives: int
    peer: int
    size: int

    def __str__(self) -> str:
        verb, word = ("recv", "from") if self.receives else ("send", "to")
        return f"{verb} {self.size}b {word} {self.peer} tag {self.step}"


def goal(schedule: Schedule, size: int) -> Iterator[str]:
    """Yield the lines of ``schedule`` on ``size`` bytes per rank (as in nccl-tests).

    The tag of a message is its step. What a rank does in a step requires all that it did in the
    last step in which it did anything. Switches become ranks after the real ones.
    """
    yield f"// {schedule.collective} by {schedule.name}: {size} bytes, {schedule.steps} steps"
    if schedule.switches:
        last = schedule.ranks + schedule.switches - 1
        yield f"// ranks {schedule.ranks} to {last} are switches"
    yield f"num_ranks {schedule.ranks + schedule.switches}"
    by_rank = {
        rank: list(operations)
        for rank, operations in groupby(_operations(schedule, size), lambda one: one.rank)
    }
    for rank in range(schedule.ranks + schedule.switches):
        yield ""
        yield f"rank {rank} {{"
        yield from _block(by_rank.get(rank, []))
        yield "}"


def _operations(schedule: Schedule, size: int) -> Iterator[_Operation]:
    """Yield what each rank does, by rank, then step; sends before receives."""
    rows = []
    for k in range(schedule.steps):
        sent = messages(schedule, k, size)
        step = np.full(len(sent.size), k)
        for receives, (rank, peer) in enumerate(
            ((sent.source, sent.target), (sent.target, sent.source))
        ):
            side = np.full(len(sent.size), receives)
            rows.append(np.stack([rank, step, side, peer, sent.size], axis=1))
    table = np.concatenate(rows) if rows else np.zeros((0, 5), np.int64)
    order = np.lexsort(table[:, ::-1].T)
    for row in table[order].tolist():
        yield _Operation(*row)


def _block(operations: list[_Operation]) -> Iterator[str]:
    label, before = 0, range(0)
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
