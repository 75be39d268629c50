"""``FailureModel``: what breaks in a system, how often, and how badly a job is hit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf
from typing import Final, Literal

from artery.core.source import Source

Severity = Literal["process", "node", "domain", "silent", "stall", "slow"]
"""``process``: the job dies, its nodes live. ``node``: a node is lost. ``domain``: all nodes behind
one part are. ``silent``: results were wrong for a while. ``stall``: the job waits and goes on.
``slow``: the job goes on at the pace of the slowest part."""

STOPPING: Final[tuple[Severity, ...]] = ("process", "node", "domain", "silent")
"""Severities after which a job starts again from a checkpoint."""


@dataclass(frozen=True, slots=True)
class FailureClass:
    """One kind of failure.

    ``count`` parts of kind ``part`` fail ``rate`` times a second each, by the sources known from
    ``low`` to ``high``. ``duration`` in seconds is the wait of a stall, the time until a slow part
    is taken out, or the time until a silent error is noticed; ``slowdown`` is the step time with a
    slow part over that without.
    """

    name: str
    part: str
    count: int
    rate: float
    low: float
    high: float
    severity: Severity
    source: Source
    duration: float = 0.0
    slowdown: float = 1.0

    @property
    def per_second(self) -> float:
        """Failures a second of all parts together."""
        return self.count * self.rate


@dataclass(frozen=True, slots=True)
class FailureModel:
    """All classes of one system; independent, so that their rates add up (a series system)."""

    name: str
    classes: tuple[FailureClass, ...]

    def rate(self, severities: Iterable[Severity] = STOPPING) -> float:
        """Return the failures a second of these severities."""
        wanted = frozenset(severities)
        return sum(each.per_second for each in self.classes if each.severity in wanted)

    @property
    def mtbf(self) -> float:
        """Mean seconds between failures that stop the job; infinite where nothing fails."""
        rate = self.rate()
        return 1.0 / rate if rate > 0.0 else inf
