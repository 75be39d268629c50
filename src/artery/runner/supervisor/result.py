"""What a run came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from artery.cloud.machine.actions import Outcome


@dataclass(slots=True)
class Recovery:
    """One way back to work, in seconds, part by part.

    ``detect``: from the last step that was done to the notice. ``teardown``: until nobody was in
    the attempt. ``reform``: until there were enough to begin. ``rejoin``: until all had met and had
    the state. ``first_step``: until a new step was done.
    """

    attempt: int
    reason: str
    detect: float = 0.0
    teardown: float = 0.0
    reform: float = 0.0
    rejoin: float = 0.0
    first_step: float = 0.0
    lost_steps: int = 0
    ranks: int = 0

    @property
    def total(self) -> float:
        """Seconds from the notice to the first new step: what the failure cost beside lost work."""
        return self.teardown + self.reform + self.rejoin + self.first_step


@dataclass(slots=True)
class RunResult:
    """How a run ended and what it cost. ``score`` is what ``metric`` says, on held-out samples.

    ``repeated``: it ended because the same error came again at the same step; ``frames`` is where
    the last error of a rank came from, for ``--debug``.
    """

    outcome: Outcome
    reason: str
    steps: int
    ranks: int
    attempts: int = 0
    restarts: int = 0
    resizes: int = 0
    lost_steps: int = 0
    digest: str | None = None
    score: float | None = None
    metric: str = "score"
    loss: float | None = None
    figures: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    recoveries: tuple[Recovery, ...] = ()
    worlds: tuple[int, ...] = ()
    slow: tuple[tuple[int, float], ...] = ()
    warnings: tuple[str, ...] = ()
    log: Path | None = None
    repeated: bool = False
    frames: str = ""
