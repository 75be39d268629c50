"""Times of something done again and again."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

Action = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds of every repeat, in order; there is at least one."""

    seconds: tuple[float, ...]

    @property
    def least(self) -> float:
        """The shortest: what the hardware can do while nobody disturbs it."""
        return min(self.seconds)

    @property
    def median(self) -> float:
        """The one in the middle: what a job sees."""
        return median(self.seconds)

    @property
    def most(self) -> float:
        """The longest."""
        return max(self.seconds)

    def share(self, part: float) -> float:
        """Return the time that ``part`` (0 to 1) of the repeats do not exceed (nearest rank)."""
        ordered = sorted(self.seconds)
        return ordered[min(int(part * len(ordered)), len(ordered) - 1)]


def nothing() -> None:
    """Do nothing: where nothing has to be made ready or settled."""


def repeated(
    action: Action,
    *,
    warmup: int,
    repeats: int,
    before: Action = nothing,
    after: Action = nothing,
    most: float = float("inf"),
) -> Times:
    """Return the times of ``repeats`` runs of ``action``, after ``warmup`` that do not count.

    ``before`` runs ahead of each without being timed (a barrier); ``after`` is timed with it (the
    wait for a device). Once ``most`` seconds are spent no further repeat is begun, but one is done.
    """
    end = time.perf_counter() + most
    for _ in range(warmup):
        before()
        action()
        after()
        if time.perf_counter() > end:
            break
    found = []
    for _ in range(max(repeats, 1)):
        before()
        start = time.perf_counter()
        action()
        after()
        found.append(time.perf_counter() - start)
        if time.perf_counter() > end:
            break
    return Times(tuple(found))


def slowest(ranks: Sequence[Sequence[float]]) -> Times:
    """Return the times of a common action: of each repeat, that of the rank that took longest."""
    return Times(tuple(max(each) for each in zip(*ranks, strict=True)))
