"""Why a run was set back: what its record says of each restart that did steps again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class SetBack:
    """``steps`` were done again when ``attempt`` began; ``lost``: the hosts lost since the last.

    ``ranks_on``: the hosts on which the last attempt that came to train had ranks; ``avoidable``:
    how many of the steps a host that was still there had in its memory.
    """

    attempt: int
    steps: int
    ranks_on: tuple[str, ...]
    lost: tuple[str, ...]
    avoidable: int

    def __str__(self) -> str:
        """Return it in words."""
        gone = ", ".join(self.lost) or "no host"
        return (
            f"{self.steps} in attempt {self.attempt}: ranks were on {', '.join(self.ranks_on)}, "
            f"lost was {gone}; {self.avoidable} of them lay in the memory of a host that was left"
        )


@dataclass(slots=True)
class _Reader:
    """Follows a record: who is there, what lies in whose memory, how far the run is."""

    memory: dict[str, int] = field(default_factory=dict)
    reached: int = 0
    lost: list[str] = field(default_factory=list)
    before: tuple[str, ...] = ()
    now: tuple[str, ...] = ()
    best: int = 0
    resumed: int = 0

    def event(self, row: dict[str, Any]) -> SetBack | None:
        """Take in one event; return the set-back that it shows."""
        host = row.get("host")
        match row["event"]:
            case "HostLost" | "HostLeaving":
                self.memory.pop(row["host"], None)
                self.lost.append(row["host"])
            case "Saved" if host is not None:
                self.memory[host] = row["step"]
            case "Resumed" if row["attempt"] != self.resumed:
                return self._resumed(row["attempt"], row["step"])
        self.reached = max(self.reached, row.get("step", 0))
        return None

    def begin(self, members: Iterable[str]) -> None:
        """An attempt begins."""
        self.now = tuple(dict.fromkeys(member.rpartition(".")[0] for member in members))
        self.best = max(self.memory.values(), default=0)

    def _resumed(self, attempt: int, step: int) -> SetBack | None:
        steps, before, lost = self.reached - step, self.before, tuple(self.lost)
        self.reached, self.resumed, self.before, self.lost = step, attempt, self.now, []
        if steps <= 0:
            return None
        return SetBack(attempt, steps, before, lost, max(0, min(steps, self.best - step)))


def set_backs(lines: Iterable[str]) -> Iterator[SetBack]:
    """Yield the set-backs that ``recovery.jsonl`` tells of, in order."""
    reader = _Reader()
    for line in lines:
        row = json.loads(line)
        if "event" in row:
            found = reader.event(row)
            if found is not None:
                yield found
        elif row.get("action") == "Begin":
            reader.begin(row["members"])
