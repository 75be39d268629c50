"""What the log of a training program, of torchrun around it, or of both in one file, tells of time.

Three kinds of lines count: reports of steps (see :mod:`artery.formats.training.log`), torchrun's
own (rendezvous, start, failure, stop; their wording is that of ``torch.distributed.elastic``), and
those of saving and loading checkpoints (Megatron-LM, torchtitan). All else has no meaning here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from statistics import median
from typing import Final, Literal

from artery.cloud.accounting import Activity, Span
from artery.formats.syntax.stamps import stamp, year, zoned
from artery.formats.text import Text
from artery.formats.wording import counted
from artery.units import show_time
from artery.units.durations import DAY

Mark = Literal["begin", "rendezvous", "start", "failed", "stop", "load", "loaded", "save", "saved"]

_MARKS: Final[tuple[tuple[Mark, re.Pattern[str]], ...]] = (
    ("rendezvous", re.compile(r"Rendezvous'ing worker group")),
    ("start", re.compile(r"Rendezvous complete for workers|\] Starting worker group")),
    ("failed", re.compile(r"failed \(exitcode: -?\d+\)|Worker group FAILED|will restart worker")),
    ("stop", re.compile(r"Stopping worker group|closing signal SIG|death signal, shutting down")),
    ("loaded", re.compile(r"successfully loaded checkpoint|Finished loading the checkpoint")),
    ("load", re.compile(r"\bloading (?:distributed )?checkpoint from|Loading the checkpoint from")),
    ("saved", re.compile(r"successfully saved checkpoint|Finished saving the checkpoint")),
    ("save", re.compile(r"\bsaving checkpoint at iteration|Saving the checkpoint")),
    ("begin", re.compile(r"using world size|Starting job:|initializing torch distributed")),
)

_WORDS: Final = (
    "Rendezvous", "orker group", "failed (exitcode", "restart worker", "signal", "checkpoint",
    "using world size", "Starting job:", "initializing torch",
)  # fmt: skip
"""One of them stands in every line that a mark or a timer matches."""

_TIMER: Final = re.compile(r"\b(save|load)-checkpoint[ .]+: \((\d+(?:\.\d+)?), (\d+(?:\.\d+)?)\)")
"""Megatron's timers: least and most milliseconds over ranks."""

_RANK: Final = re.compile(r"\s*\[(?:rank|default)(\d+)\]|\s*(\d+):\s")
"""What launchers put before a rank's lines: torchrun, torch's ``--tee``, ``srun --label``."""

STALL: Final = 3.0
"""Assumed: a report this many times the usual step was held up, and the rest was a stall."""

HALF_YEAR: Final = 183 * DAY

_DISORDER: Final = 60.0
"""Assumed: lines of several processes stand at most this many seconds out of order."""

GAP: Final = DAY
"""Assumed: a log that is silent for a day has a hole, or its clock was set."""

_SUNDAY: Final = 6

SLOW_FIRST: Final = 1.5
"""Assumed: a first report this many times the usual step holds compiling and warming up."""


@dataclass(frozen=True, slots=True)
class Report:
    """A line that says how many steps are done, and perhaps how long one took, in seconds."""

    line: int
    number: int
    each: float | None


class _Clock:
    """Where a log has come to: what it does since when, and what it did before."""

    def __init__(self, reports: Sequence[Report]) -> None:
        timed = [report.each for report in reports if report.each is not None]
        self.usual = median(timed) if timed else None
        apart = [b.number - a.number for a, b in pairwise(reports) if b.number > a.number]
        self.interval = int(median(apart)) if apart else 1
        self.now: float | None = None
        self.since = 0.0
        self.activity: Activity | None = None
        self.attempt = 0
        self.step: int | None = None
        self.fresh = True
        self.failed = False
        self.spans: list[Span] = []

    def at(self, time: float) -> None:
        """Go on to ``time``, never back; the first one begins the start of the job."""
        if self.now is None:
            self.now = self.since = time
            self.activity = "start"
        self.now = max(self.now, time)

    def enter(self, activity: Activity | None) -> None:
        """End what is done now, and begin ``activity``."""
        now = self.now or 0.0
        if self.activity is not None:
            self.add(self.since, now, self.activity)
        self.activity, self.since = activity, now

    def add(self, start: float, end: float, activity: Activity) -> None:
        """Note a span that is over."""
        if end > start:
            self.spans.append(Span(start, end, activity, attempt=self.attempt))

    def again(self) -> None:
        """The job begins anew."""
        self.attempt, self.fresh, self.failed = self.attempt + 1, True, False


def program_spans(
    lines: Sequence[str], reports: Sequence[Report], remarks: list[str] | None = None
) -> tuple[Span, ...]:
    """Return the spans that the ``lines`` of one log tell, with the ``reports`` found in them.

    A line without a time of its own happens when the line before it did; a report without one
    comes as much later than the report before as its steps took. Times that go back, or on by
    more than a day, are told to ``remarks``.
    """
    reports = _of_one_rank(lines, reports)
    found = {report.line: report for report in reports}
    marked = set(Text("", "\n".join(lines)).lines_with(*_WORDS))
    head = "\n".join(lines[:2000])
    clock, reader, leaps = _Clock(reports), _Stamps(year(head)), _Leaps()
    for number, line in enumerate(lines, 1):
        at = reader.read(line, clock.now)
        if at is not None:
            leaps.look(number, clock.now, at)
            clock.at(at)
        if number in found:
            _report(clock, found[number], stamped=at is not None)
        elif number in marked and clock.now is not None:
            _line(clock, line)
    if remarks is not None:
        remarks += leaps.remarks()
    if zoned(head):
        return tuple(clock.spans)
    return tuple(replace(span, zoned=False) for span in clock.spans)


class _Leaps:
    """Where the times of a log do not follow one another."""

    def __init__(self) -> None:
        self._back: list[tuple[int, float]] = []
        self._ahead: list[tuple[int, float]] = []

    def look(self, line: int, before: float | None, at: float) -> None:
        """Note a time that is far from the latest before it."""
        if before is None:
            return
        if at < before - _DISORDER:
            self._back.append((line, before - at))
        elif at > before + GAP:
            self._ahead.append((line, at - before))

    def remarks(self) -> list[str]:
        """What is to be said of them, the first of each kind."""
        said = []
        if self._back:
            line, by = self._back[0]
            said.append(
                f"line {line}: its time is {show_time(by)} before that of the lines above "
                f"({counted(len(self._back), 'such line')}): a clock set back, or two logs in one "
                "file; until the times go on it counts as the latest before"
            )
        if self._ahead:
            line, by = self._ahead[0]
            said.append(
                f"line {line}: {show_time(by)} pass without a line "
                f"({counted(len(self._ahead), 'such gap')}): a clock set on, or a log with a hole"
            )
        return said


class _Stamps:
    """The times of a log's lines, over the end of a year and of daylight saving time."""

    def __init__(self, of_year: int) -> None:
        self.of_year = of_year
        self.shift = 0.0

    def read(self, line: str, now: float | None) -> float | None:
        """Return the time of ``line``; ``now`` is that of the line before.

        Stamps without a year that fall back by months are of the next year; those that fall back
        by up to an hour on a Sunday tell the end of daylight saving time.
        """
        at = stamp(line, self.of_year)
        if at is None or now is None:
            return at
        if now - self.shift - at > HALF_YEAR:
            self.of_year += 1
            at = stamp(line, self.of_year) or at
        back = now - self.shift - at
        if _DISORDER < back <= 3600.0 and datetime.fromtimestamp(at, UTC).weekday() == _SUNDAY:
            self.shift += 3600.0
        return at + self.shift


def _of_one_rank(lines: Sequence[str], reports: Sequence[Report]) -> list[Report]:
    """The reports of the rank that reports first: every rank may print the same step."""

    def rank(report: Report) -> str | None:
        found = _RANK.match(lines[report.line - 1]) if report.line <= len(lines) else None
        return None if found is None else found[1] or found[2]

    first = rank(reports[0]) if reports else None
    return [report for report in reports if rank(report) == first]


def _line(clock: _Clock, line: str) -> None:
    if timer := _TIMER.search(line):
        clock.enter("save" if timer[1] == "save" else "load")
        clock.at((clock.now or 0.0) + float(timer[3]) / 1000.0)
        clock.enter(None)
        return
    mark = next((name for name, pattern in _MARKS if pattern.search(line)), None)
    if mark is not None:
        _mark(clock, mark)


def _mark(clock: _Clock, mark: Mark) -> None:
    idle = clock.activity is None
    if mark == "begin" and idle and not clock.fresh:
        clock.again()
        clock.activity = "reschedule"
        clock.enter("start")
    elif mark in {"failed", "stop"} and clock.activity != "teardown":
        clock.failed = True
        if idle and mark == "failed":
            clock.activity = "detect"
        clock.enter("teardown")
    elif mark == "rendezvous":
        if clock.failed or not clock.fresh:
            clock.again()
        clock.enter("rendezvous")
    elif (mark == "start" and clock.activity != "start") or (
        mark == "loaded" and clock.activity == "load"
    ):
        clock.enter("start")
    elif mark in {"load", "save"}:
        clock.enter("load" if mark == "load" else "save")
    elif mark == "saved" and clock.activity == "save":
        clock.enter(None)


def _report(clock: _Clock, report: Report, *, stamped: bool) -> None:
    """Lay the steps of a report before its time; a slow first one began with warming up."""
    before, each = clock.step, report.each
    goes_on = before is not None and report.number > before and not clock.fresh
    done = report.number - (before or 0) if goes_on else min(clock.interval, max(report.number, 1))
    if before is not None and report.number <= before and not clock.fresh:
        clock.again()
    if clock.now is None:
        clock.now = clock.since
    if not stamped:
        clock.at(clock.since + done * (each or 0.0))
    end = clock.now
    if clock.step is None and clock.since == end and each is not None:
        clock.since = end - done * each  # the log begins with this report
    if each is None and clock.fresh:
        start = end
    else:
        start = max(clock.since, clock.since if each is None else end - done * each)
    clock.now = start
    clock.enter(None)
    if clock.fresh and each is not None and clock.usual and each > SLOW_FIRST * clock.usual:
        warm = end - done * clock.usual
        clock.add(start, warm, "first_step")
        start = max(start, warm)
    elif each is not None and clock.usual and each > STALL * clock.usual:
        held = end - done * clock.usual
        clock.add(start, held, "stall")
        start = max(start, held)
    if end > start:
        first = report.number - done + 1
        clock.spans.append(Span(start, end, "step", None, first, report.number, clock.attempt))
    clock.now = clock.since = end
    clock.step, clock.fresh = report.number, False
