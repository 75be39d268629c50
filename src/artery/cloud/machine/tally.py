"""What a job has come to: attempts, steps that are done, steps that had to be done again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(slots=True)
class Counts:
    """What happened so far. ``lost_steps``: steps that were done and had to be done again."""

    attempts: int = 0
    restarts: int = 0
    resizes: int = 0
    lost_steps: int = 0
    killed: int = 0


class Tally:
    """Counts, and how far the job is.

    ``reached``: the steps that are done; those that were ``saved`` by an earlier run are, until
    their states prove torn. ``in_vain``: attempts that began where the one before did, or further
    back, since the job last came further than ever: who goes on, however slowly, is no such one.
    """

    def __init__(self, saved: Iterable[int] = ()) -> None:
        self.counts = Counts()
        self.reached = max(saved, default=0)
        self.in_vain = 0
        self._furthest = self.reached
        self._began = self.reached

    def came_to(self, step: int) -> None:
        """So many steps are done."""
        self.reached = max(self.reached, step)

    def goes_on_from(self, step: int) -> None:
        """An attempt has the state after ``step`` steps: those after it are done again."""
        self.counts.lost_steps += max(0, self.reached - step)
        self.reached = step

    def look_back(self) -> None:
        """Before an attempt: whether the ones before it came further."""
        if self.reached > self._furthest:
            self._furthest, self.in_vain = self.reached, 0

    def attempt(self, step: int, *, failed: bool) -> None:
        """An attempt begins after ``step`` steps: the one before ``failed``, or another size."""
        self.counts.attempts += 1
        if failed:
            self.counts.restarts += 1
        elif self.counts.attempts > 1:
            self.counts.resizes += 1
        self.in_vain += step <= self._began
        self._began = step
