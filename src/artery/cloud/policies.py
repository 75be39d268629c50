"""Scheduling policies: what each allows, and the pure choices that they make.

Nothing here knows of clocks or nodes by name: a cluster's state comes in as numbers, a choice goes
out. EASY backfill: Lifka, JSSPP 1995; Mu'alem and Feitelson, IEEE TPDS 12(6), 2001.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

Backfill = Literal["none", "easy"]
Estimates = Literal["perfect", "limits"]
Placing = Literal["topology", "blind"]


@dataclass(frozen=True, slots=True)
class Policy:
    """What a scheduler may do.

    ``backfill`` lets jobs pass the head of the queue by ``estimates`` of run times (the true ones,
    or the users' limits). ``elastic`` resizes jobs that can be. ``preempt`` lets a higher priority
    stop a lower one. ``placing`` keeps jobs within few leaves, or takes the first free nodes.
    ``max_wait`` seconds may be waited for a placement at full speed, ``defragment`` moves running
    jobs together. Times in seconds.
    """

    name: str
    backfill: Backfill = "none"
    estimates: Estimates = "perfect"
    elastic: bool = False
    preempt: bool = False
    placing: Placing = "topology"
    max_wait: float = 0.0
    defragment: bool = False


_POLICIES: Final = (
    Policy("fifo"),
    Policy("backfill", backfill="easy"),
    Policy("backfill-limits", backfill="easy", estimates="limits"),
    Policy("elastic", elastic=True),
    Policy("elastic-backfill", backfill="easy", elastic=True),
    Policy("priority", backfill="easy", preempt=True),
)

POLICIES: Final = {policy.name: policy for policy in _POLICIES}
"""The policies by name."""

DEPTH: Final = 8
"""Waiting jobs of each size class that backfill looks at in one pass (Slurm's ``bf_max_job_test``
bounds the same search)."""

TICK: Final = 600.0
"""Assumed: seconds between looks for jobs to grow or to move."""

HOLD: Final = 600.0
"""Assumed: seconds that a job keeps its size before it is asked to give below what it wants, or
may grow again. What it has beyond its own size can be taken at any time."""

HEADROOM: Final = 0.02
"""Assumed: share of the nodes that growth leaves free, so that small jobs find room at once."""

WORTH: Final = 2.0
"""A move must save so many times what it costs."""


class Reservation(NamedTuple):
    """The head's promise: it starts at ``time`` at the latest.

    ``extra`` nodes are free then beyond what it needs; ``node`` is the one that is kept for a head
    smaller than a node, -1 otherwise.
    """

    time: int
    extra: int
    node: int = -1


def reservation(need: int, free: int, ends: Iterable[tuple[int, int]]) -> Reservation | None:
    """Return when ``need`` nodes are free, given ``free`` now and (end, nodes) in order of end.

    All that ends at that moment counts. ``None``: never.
    """
    time = -1
    for end, nodes in ends:
        if free >= need and end > time:
            break
        free += nodes
        time = end
    return Reservation(time, free - need) if free >= need else None


def may_pass(end: int, nodes: int, head: Reservation) -> bool:
    """Whether a job on ``nodes`` free nodes until ``end`` leaves the head's promise as it is."""
    return end <= head.time or nodes <= head.extra


def largest_fitting(sizes: Sequence[int], most: int, room: int) -> int:
    """Return the largest of the rising ``sizes`` up to ``most`` that fits ``room``; 0: none.

    >>> largest_fitting((8, 16, 32), 16, 20), largest_fitting((8, 16, 32), 32, 4)
    (16, 0)
    """
    return max((size for size in sizes if size <= most and size <= room), default=0)


def next_below(sizes: Sequence[int], size: int) -> int:
    """Return the next smaller size; 0: there is none."""
    return max((each for each in sizes if each < size), default=0)


def next_above(sizes: Sequence[int], size: int) -> int:
    """Return the next larger size; 0: there is none."""
    return min((each for each in sizes if each > size), default=0)


def worth_it(remaining: float, speed: float, new_speed: float, cost: float) -> bool:
    """Whether going from ``speed`` to ``new_speed`` saves :data:`WORTH` times its ``cost``.

    ``remaining`` is work in seconds at speed 1; ``cost`` is seconds without work.
    """
    return remaining / speed - remaining / new_speed > WORTH * cost


def victims(need: int, running: Iterable[tuple[int, int, int, int]]) -> list[int]:
    """Return which jobs to stop so that ``need`` nodes come free, or none if they do not suffice.

    ``running`` has (priority, start, index, nodes) of what may be stopped. The lowest priority
    goes first, within it the latest start: it loses least.
    """
    chosen: list[int] = []
    for _, _, index, nodes in sorted(running, key=lambda job: (job[0], -job[1], job[2])):
        if need <= 0:
            break
        chosen.append(index)
        need -= nodes
    return chosen if need <= 0 else []


def jain(values: Sequence[float]) -> float:
    """Return Jain's index of fairness, (sum x)²/(n·sum x²): 1 if all are equal, 1/n at worst.

    Jain, Chiu, Hawe, DEC TR-301, 1984.

    >>> jain([1.0, 1.0]), jain([1.0, 0.0])
    (1.0, 0.5)
    """
    squares = sum(value * value for value in values)
    return sum(values) ** 2 / (len(values) * squares) if squares else 1.0
