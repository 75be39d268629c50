"""Errors that come again: what failed the same way at the same step twice fails again."""

from __future__ import annotations


class Repeats:
    """The errors of a run's ranks since it last came further; ``found``: one has come again."""

    def __init__(self) -> None:
        self.found = False
        self._seen: dict[tuple[str, int], int] = {}

    def came_to(self, step: int) -> None:
        """``step`` steps are done: errors after fewer were overcome."""
        if any(failed < step for _, failed in self._seen):
            self._seen = {key: number for key, number in self._seen.items() if key[1] >= step}

    def again(self, reason: str, step: int, attempt: int) -> bool:
        """Note an error after ``step`` steps; return whether an attempt before failed so."""
        before = self._seen.setdefault((reason, step), attempt)
        self.found = self.found or before < attempt
        return before < attempt
