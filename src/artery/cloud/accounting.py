"""Where the time of a run went, from the spans that its logs tell.

A log tells spans: from when to when somebody did what. Lanes are the ranks or pods that it tells
apart; a span without a lane is the whole job's. At every instant of a lane the most telling span
that covers it counts, so that a step reported by the program goes before the allocation that the
scheduler saw around it. What nobody covers is unexplained.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, Literal, TypeVar

Activity = Literal[
    "step", "redone", "save", "load", "first_step", "data", "evaluate", "communicators",
    "rendezvous", "start", "teardown", "detect", "stall", "reschedule", "queue",
    "running", "unexplained",
]  # fmt: skip
"""What a lane may do. ``redone`` are steps that were lost and done again; ``running`` is the
knowledge that it ran, and no more."""

TELLING: Final[tuple[Activity, ...]] = (
    "save", "load", "first_step", "redone", "step", "data", "evaluate", "communicators",
    "rendezvous", "start", "teardown", "detect", "stall", "reschedule", "queue", "running",
)  # fmt: skip
"""From the most telling to the least: a save inside the time of a step is a save, and the start
of a pod tells more than that its job was there."""

AWAY: Final[tuple[Activity, ...]] = ("queue", "reschedule")
"""The chips are not there: Google's scheduling goodput counts these."""

GOOGLE: Final[Mapping[Activity, str]] = MappingProxyType(
    {
        "start": "program_startup",
        "communicators": "accelerator_initialization",
        "rendezvous": "infrastructure_recovery_from_disruption",
        "reschedule": "infrastructure_recovery_from_disruption",
        "detect": "infrastructure_recovery_from_disruption",
        "teardown": "infrastructure_recovery_from_disruption",
        "load": "unproductive_checkpoint_restore_time",
        "save": "unproductive_checkpoint_save_time",
        "first_step": "training_prep",
        "data": "data_loading_sync",
        "evaluate": "custom",
        "redone": "wasted_progress_from_disruption",
        "stall": "step_time_deviation",
        "queue": "other",
        "running": "other",
        "unexplained": "other",
    }
)
"""The kinds of lost time of ml-goodput-measurement (version 0.2.3) that ours fall into."""


@dataclass(frozen=True, slots=True)
class Span:
    """From ``start`` to ``end`` (seconds of one clock) ``lane`` did ``activity``.

    ``lane`` is ``None`` for the whole job. ``first`` and ``last`` are the numbers of the steps done
    in it, if it is of steps; ``attempt`` counts the starts of the job, where that is known. Without
    ``zoned`` its times name no zone: they are those of some wall clock, taken as UTC.
    """

    start: float
    end: float
    activity: Activity
    lane: str | None = None
    first: int | None = None
    last: int | None = None
    attempt: int | None = None
    zoned: bool = True


@dataclass(frozen=True, slots=True)
class Account:
    """The seconds of each activity, as the mean over ``lanes``; they sum to ``wall``.

    ``restarts`` counts how often the job began again, ``redone_steps`` the steps done twice,
    ``steps`` those that counted. ``events`` has the seconds of every single span of a restart or
    of saving, by activity, in order.
    """

    wall: float
    seconds: Mapping[Activity, float]
    lanes: int
    restarts: int
    steps: int
    redone_steps: int
    events: Mapping[Activity, tuple[float, ...]]

    @property
    def productive(self) -> float:
        """Seconds of steps that counted."""
        return self.seconds.get("step", 0.0)

    def share(self, *activities: Activity) -> float:
        """Return the share of the wall clock that ``activities`` took."""
        return sum(self.seconds.get(each, 0.0) for each in activities) / self.wall

    @property
    def meta_ettr(self) -> float:
        """Productive over wall clock, queue included (arXiv 2410.21680)."""
        return self.productive / self.wall

    @property
    def dlrover_goodput(self) -> float:
        """Time on new steps over the time since the first start."""
        queued = self.seconds.get("queue", 0.0)
        return self.productive / (self.wall - queued) if self.wall > queued else 0.0

    @property
    def google_scheduling(self) -> float:
        """The share of the wall clock in which the chips were there (arXiv 2502.06982)."""
        return 1.0 - self.share(*AWAY)

    @property
    def google_runtime(self) -> float:
        """Productive over the time that the chips were there."""
        there = self.google_scheduling
        return self.meta_ettr / there if there > 0.0 else 0.0

    def google_classes(self) -> dict[str, float]:
        """Return the lost seconds by the names of Google's library."""
        lost: dict[str, float] = defaultdict(float)
        for activity, seconds in self.seconds.items():
            if activity != "step" and seconds > 0.0:
                lost[GOOGLE[activity]] += seconds
        return dict(lost)


def account(spans: Iterable[Span]) -> Account:
    """Return where the time went between the first start and the last end of ``spans``.

    Raises ``ValueError`` if there is no span with any length.
    """
    told = [span for span in spans if span.end > span.start]
    if not told:
        raise ValueError("no span of any length")
    begin, end = min(span.start for span in told), max(span.end for span in told)
    told, steps, redone = _redone(told)
    lanes = sorted({span.lane for span in told if span.lane is not None})
    common = [span for span in told if span.lane is None]
    total: dict[Activity, float] = defaultdict(float)
    for lane in lanes or [""]:
        own = [span for span in told if span.lane == lane]
        for activity, seconds in _sweep([*common, *own], begin, end).items():
            total[activity] += seconds / max(len(lanes), 1)
    return Account(
        wall=end - begin,
        seconds=dict(total),
        lanes=len(lanes),
        restarts=_restarts(told),
        steps=steps,
        redone_steps=redone,
        events=_events(told),
    )


def _sweep(spans: Sequence[Span], begin: float, end: float) -> dict[Activity, float]:
    """The seconds of each activity of one lane, the most telling span first at every instant."""
    ranked = ((s.start, s.end, (TELLING.index(s.activity), s.activity)) for s in spans)
    seconds: dict[Activity, float] = covered(ranked)
    open_ = end - begin - sum(seconds.values())
    return {**seconds, "unexplained": open_} if open_ > 1e-9 * (end - begin) else seconds


Name = TypeVar("Name", bound=str)


def covered(spans: Iterable[tuple[float, float, tuple[int, Name]]]) -> dict[Name, float]:
    """Return the seconds of each name: every instant counts for the lowest rank that covers it.

    A span is its start, its end, and its rank and name.
    """
    told = [span for span in spans if span[1] > span[0]]
    ranks = sorted({span[2] for span in told})
    place = {rank: index for index, rank in enumerate(ranks)}
    marks = sorted(
        [(start, 1, place[rank]) for start, _, rank in told]
        + [(end, -1, place[rank]) for _, end, rank in told]
    )
    open_ = [0] * len(ranks)
    seconds: dict[Name, float] = defaultdict(float)
    now = marks[0][0] if marks else 0.0
    for at, change, index in marks:
        if at > now:
            first = next((i for i, count in enumerate(open_) if count), None)
            if first is not None:
                seconds[ranks[first][1]] += at - now
            now = at
        open_[index] += change
    return dict(seconds)


def _redone(spans: Sequence[Span]) -> tuple[list[Span], int, int]:
    """Mark the steps that were done again later; return the spans, and steps kept and redone.

    A span of several steps of which only the last ones were lost is cut in proportion.
    """
    kept: list[Span] = []
    counted: dict[str | None, int] = defaultdict(int)
    lost: dict[str | None, int] = defaultdict(int)
    floor: dict[str | None, int] = {}
    for span in sorted(spans, key=lambda one: one.start, reverse=True):
        if span.activity != "step" or span.first is None or span.last is None:
            kept.append(span)
            continue
        steps = span.last - span.first + 1
        again = min(steps, max(0, span.last - floor.get(span.lane, span.last + 1) + 1))
        floor[span.lane] = min(floor.get(span.lane, span.first), span.first)
        counted[span.lane] += steps - again
        lost[span.lane] += again
        cut = span.end - (span.end - span.start) * again / steps
        if again < steps:
            kept.append(_part(span, span.start, cut, "step"))
        if again:
            kept.append(_part(span, cut, span.end, "redone"))
    return kept[::-1], max(counted.values(), default=0), max(lost.values(), default=0)


def _part(span: Span, start: float, end: float, activity: Activity) -> Span:
    return replace(span, start=start, end=end, activity=activity)


def _restarts(spans: Sequence[Span]) -> int:
    """How often the job began again: by its attempts, or by the failures that were noticed."""
    attempts = {span.attempt for span in spans if span.attempt is not None}
    if attempts:
        return len(attempts) - 1
    lanes = {span.lane for span in spans}
    return max(
        sum(span.activity == "detect" and span.lane == lane for span in spans) for lane in lanes
    )


_SINGLE: Final = frozenset(TELLING) - {"step", "redone", "running", "data", "evaluate"}

_ONCE: Final = frozenset(
    {"start", "reschedule", "rendezvous", "communicators", "load", "first_step"}
)
"""What an attempt does once, in however many spans."""


def _events(spans: Sequence[Span]) -> dict[Activity, tuple[float, ...]]:
    """Every event that is not of steps, by activity: how long each was, over lanes the longest."""
    found: dict[Activity, dict[tuple[str, float], dict[str | None, float]]] = {}
    for span in sorted(spans, key=lambda one: one.start):
        if span.activity in _SINGLE:
            once = span.activity in _ONCE or span.lane is not None
            key = ("start", span.start)
            if span.attempt is not None and once and span.activity not in {"save", "stall"}:
                key = ("attempt", float(span.attempt))
            lanes = found.setdefault(span.activity, {}).setdefault(key, defaultdict(float))
            lanes[span.lane] += span.end - span.start
    return {
        activity: tuple(max(lanes.values()) for lanes in each.values())
        for activity, each in found.items()
    }
