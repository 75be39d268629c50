"""Who hangs, who lags: judged from the progress of all ranks, as it is looked at from time to time.

A rank computes, then meets the others (``meeting``), step after step. Where one hangs, all others
wait at the meeting: whoever has not come is to blame. Where all have come and nobody goes on, it is
the network. Who computes much longer than the others, step after step, is slow: nobody else sees
it, since all steps end together.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from math import inf
from statistics import median
from typing import Final

LONGEST: Final = 20.0
"""A step is overdue after so many times the median step (assumed), and no sooner than ``hang``."""

HABIT: Final = 5, 2.0
"""Steps, and seconds, over which somebody must have been slow (assumed)."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a rank is: steps done, whether it waits for the others, seconds computed so far."""

    step: int
    meeting: bool
    computed: float


@dataclass(frozen=True, slots=True)
class Hung:
    """Members that keep the others waiting; none: all wait."""

    members: tuple[str, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Lagging:
    """A member whose steps take ``factor`` times the median of the others' computing."""

    member: str
    factor: float


@dataclass(slots=True)
class _Seen:
    last: Progress
    since: float
    computed: deque[tuple[float, int, float]] = field(default_factory=deque)


class Watch:
    """The progress of one attempt. ``hang``: seconds without any progress that are too long.

    ``slow``: a factor over the others' median that is too slow.
    """

    def __init__(self, hang: float, slow: float, habit: tuple[int, float] = HABIT) -> None:
        self._hang = hang
        self._slow = slow
        self._habit = habit
        self._seen: dict[str, _Seen] = {}
        self._moved = -inf
        self._step_time = 0.0
        self._first: tuple[float, int] | None = None
        self._named: set[str] = set()

    def observe(self, at: float, member: str, progress: Progress) -> None:
        """Note where ``member`` was at ``at``."""
        seen = self._seen.get(member)
        if seen is None:
            seen = self._seen[member] = _Seen(progress, at)
            self._moved = max(self._moved, at)
        elif progress != seen.last:
            seen.last, seen.since = progress, at
            self._moved = at
        if not seen.computed or progress.step > seen.computed[-1][1]:
            seen.computed.append((at, progress.step, progress.computed))
            while len(seen.computed) > 2 and self._enough(seen.computed[1], seen.computed[-1]):
                seen.computed.popleft()
        self._pace(at, progress.step)

    def _enough(self, first: tuple[float, int, float], last: tuple[float, int, float]) -> bool:
        steps, seconds = self._habit
        return last[1] - first[1] >= steps and last[0] - first[0] >= seconds

    def _pace(self, at: float, step: int) -> None:
        if self._first is None:
            self._first = at, step
        elif step > self._first[1]:
            self._step_time = (at - self._first[0]) / (step - self._first[1])

    @property
    def patience(self) -> float:
        """Seconds without progress after which somebody hangs."""
        return max(self._hang, LONGEST * self._step_time)

    def hung(self, at: float) -> Hung | None:
        """Return who hangs at ``at``, if anybody does."""
        quiet = at - self._moved
        if not self._seen or quiet < self.patience:
            return None
        least = min(self._place(seen) for seen in self._seen.values())
        behind = tuple(name for name, seen in self._seen.items() if self._place(seen) == least)
        everybody = len(behind) == len(self._seen)
        return Hung(() if everybody and least[1] else behind, quiet)

    @staticmethod
    def _place(seen: _Seen) -> tuple[int, bool]:
        return seen.last.step, seen.last.meeting

    def lagging(self) -> Lagging | None:
        """Return who is slow and was not named before, if anybody is."""
        pace = {name: self._per_step(seen) for name, seen in self._seen.items()}
        known = {name: seconds for name, seconds in pace.items() if seconds is not None}
        if len(known) < max(2, len(self._seen)):
            return None
        slowest = max(known, key=lambda name: known[name])
        others = median(seconds for name, seconds in known.items() if name != slowest)
        if slowest in self._named or others <= 0.0 or known[slowest] < self._slow * others:
            return None
        self._named.add(slowest)
        return Lagging(slowest, known[slowest] / others)

    def _per_step(self, seen: _Seen) -> float | None:
        first, last = seen.computed[0], seen.computed[-1]
        return (last[2] - first[2]) / (last[1] - first[1]) if self._enough(first, last) else None
