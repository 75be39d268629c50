"""What ``simulate --work`` answers: when each rank is done, and what held up the last one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from artery.core.system import System

if TYPE_CHECKING:
    from artery.answers.simulate.down import Down


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of the critical path: what rank did for how many seconds.

    ``kind`` is ``compute``, ``message`` or a collective; ``name`` is the task's own.
    """

    rank: int
    kind: str
    name: str
    seconds: float


@dataclass(frozen=True, slots=True)
class RankTime:
    """When a rank is done, and how long of that it computes and does not compute, in seconds."""

    rank: int
    finish: float
    compute: float

    @property
    def exposed(self) -> float:
        """Seconds in which it only communicates or waits."""
        return self.finish - self.compute


@dataclass(frozen=True, slots=True)
class WorkAnswer:
    """A work of many tasks, played.

    ``form`` is ``chakra`` or ``goal``. ``seconds`` is when the last rank is done. ``critical`` are
    the stretches of the path that decides it, from first to last; they add up to ``seconds``.
    ``error`` is how far off the engine may be. ``replicated`` says that one rank's trace stands
    for all, ``timeless`` counts computations of which the trace says no duration. ``links`` are
    the hottest links by name, with the share of the time in which they send. ``down`` is what has
    failed.
    """

    system: System
    request: Mapping[str, object]
    file: str
    form: str
    ranks: int
    tasks: int
    collectives: int
    messages: int
    seconds: float
    times: tuple[RankTime, ...]
    critical: tuple[Stretch, ...]
    engine: str
    error: float
    events: int
    links: tuple[tuple[str, float], ...]
    replicated: bool
    timeless: int
    down: Down | None = None

    @property
    def shares(self) -> dict[str, float]:
        """Seconds of the critical path by kind, the longest first."""
        found: dict[str, float] = {}
        for one in self.critical:
            found[one.kind] = found.get(one.kind, 0.0) + one.seconds
        return dict(sorted(found.items(), key=lambda item: -item[1]))
