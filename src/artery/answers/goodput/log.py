"""``goodput --log``: where the time of a real run went, beside what was predicted of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import mean, median
from typing import Final

from artery.answers.goodput.clocks import day, on_one_clock, said_of_times, zone_of
from artery.answers.goodput.result import GoodputAnswer
from artery.cloud.accounting import Account, Activity, Span, account
from artery.errors import InputError, Problem, Problems
from artery.formats.reading import Reading
from artery.formats.recognise import read
from artery.units.durations import DAY

_RESTART: Final[tuple[Activity, ...]] = (
    "detect", "teardown", "reschedule", "start", "rendezvous", "communicators", "load",
    "first_step",
)  # fmt: skip
"""The parts of a restart, in the order they happen; named as those of the prediction."""

_MENDED: Final[tuple[Activity, ...]] = (*_RESTART, "save", "redone", "stall", "data", "evaluate")
"""What may be mended, one by one."""

_PROGRAMS: Final = ("megatron-log", "torchrun")
"""Formats that each node may write for itself."""

YEAR_ONLY: Final = 366 * DAY
"""Files whose times are further apart than a year do not tell of one run."""


@dataclass(frozen=True, slots=True)
class LogFile:
    """A file that was accounted: its format and the number of spans it told."""

    path: str
    format: str
    spans: int


@dataclass(frozen=True, slots=True)
class Gain:
    """What the run would have been with half of the time on ``activity``."""

    activity: Activity
    seconds: float
    ettr: float


@dataclass(frozen=True, slots=True)
class Against:
    """One figure of a run beside its prediction; ``None`` where the log or the model has none."""

    name: str
    unit: str
    measured: float | None
    predicted: float | None


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """A real run: its account, and what follows from it.

    ``mtbf`` is the wall clock over the restarts (``None``: none), ``interval`` the mean seconds of
    training between saves, ``restart`` the mean seconds of all parts of one restart.
    """

    files: tuple[LogFile, ...]
    account: Account
    mtbf: float | None
    interval: float | None
    restart: float | None
    gains: tuple[Gain, ...]
    against: tuple[Against, ...]
    warnings: tuple[str, ...]


def measured_run(
    paths: Sequence[str],
    predicted: GoodputAnswer | None = None,
    progress: Callable[[int], None] | None = None,
    time_zone: str | None = None,
) -> MeasuredRun:
    """Return the account of the run that the files at ``paths`` tell of, all taken together.

    They may be of our own runner, torchrun and the program under it, Slurm and Kubernetes; one
    fills what another leaves open. ``predicted`` is laid beside it. ``time_zone`` (``UTC``,
    ``+08:00``, ``Europe/Berlin``) is that of the files whose times name none.

    Raises :class:`artery.errors.InputError` for files that cannot be read, that tell no times, that
    do not tell of one run, and, without ``time_zone``, for files of which some name their zone
    and some do not.
    """
    zone = None if time_zone is None else zone_of(time_zone)
    told: list[tuple[str, Reading]] = []
    files = []
    with Problems() as problems:
        for path in paths:
            try:
                reading = read(path, None, progress)
            except InputError as error:
                problems.absorb(error.at(file=path))
                continue
            if not reading.spans:
                problems.add(_without_times(path, reading))
            files.append(LogFile(path, reading.format, len(reading.spans)))
            told.append((path, reading))
    told = on_one_clock(told, zone)
    spans = _together(told)
    found = account(_one_run(spans, paths))
    return MeasuredRun(
        files=tuple(files),
        account=found,
        mtbf=found.wall / found.restarts if found.restarts else None,
        interval=_interval(found),
        restart=_restart(found),
        gains=tuple(_gains(found)),
        against=tuple(_against(found, predicted)) if predicted is not None else (),
        warnings=(*_passed_over(told), *said_of_times(told), *_warnings(found)),
    )


def _together(told: Sequence[tuple[str, Reading]]) -> list[Span]:
    """The spans of all files; logs of several nodes' programs tell of lanes of their own."""
    programs = [path for path, reading in told if reading.format in _PROGRAMS]
    found: dict[Span, None] = {}
    for path, reading in told:
        apart = len(set(programs)) > 1 and path in programs
        for span in reading.spans:
            found[replace(span, lane=path) if apart else span] = None
    return list(found)


def _passed_over(told: Sequence[tuple[str, Reading]]) -> Iterator[str]:
    for path, reading in told:
        lines = sum(each.count for each in reading.ignored)
        if lines and reading.format not in _PROGRAMS:
            yield f"{path}: {lines} lines passed over; artery read says which"


def _without_times(path: str, reading: Reading) -> Problem:
    names = {row.get("name") for row in reading.fields.get("jobs", ()) if reading.jobs}
    if len(names) > 1:
        return Problem(
            file=path,
            found=f"jobs of {len(names)} names",
            rule="an account is of one run: jobs of one name, requeued or one after the other",
            fix="sacct -j JOBID, or --name NAME",
        )
    return Problem(
        file=path,
        found=f"a file of format {reading.format} without times",
        rule="an account needs to know when something happened",
        fix="a log whose lines carry the time, sacct -P -D -o JobID,JobName,State,Submit,Start,End "
        "or kubectl get pods,events -o json",
    )


def _one_run(spans: list[Span], paths: Sequence[str]) -> list[Span]:
    begin, end = min(s.start for s in spans), max(s.end for s in spans)
    if not 0 < end - begin < YEAR_ONLY:
        raise InputError(
            Problem(
                file=", ".join(paths),
                found=f"times over {(end - begin) / DAY:,.0f} days, {day(begin)} to {day(end)}",
                rule="all files must tell of one run, at most a year long",
                fix="leave out the file of another run, or the one whose lines have no year; a "
                "clock that was never set says 1970",
            )
        )
    return spans


def _interval(found: Account) -> float | None:
    saves = len(found.events.get("save", ()))
    return found.productive / saves if saves else None


def _restart(found: Account) -> float | None:
    if not found.restarts:
        return None
    return sum(_each(found, part) or 0.0 for part in _RESTART)


def _each(found: Account, part: Activity) -> float | None:
    """The mean seconds of a part of a restart; the first start of a job is none."""
    times = found.events.get(part, ())
    first = part not in {"detect", "teardown", "reschedule"} and len(times) > found.restarts
    later = times[1:] if first else times
    return mean(later) if later else None


def _gains(found: Account) -> Iterator[Gain]:
    """Yield what halving each loss would bring, the largest first."""
    mended = [
        Gain(each, found.seconds[each], found.productive / (found.wall - found.seconds[each] / 2))
        for each in _MENDED
        if found.seconds.get(each, 0.0) > 0.0
    ]
    yield from sorted(mended, key=lambda gain: -gain.ettr)


def _against(found: Account, predicted: GoodputAnswer) -> Iterator[Against]:
    """Yield the figures that both sides have a name for."""
    saves = found.events.get("save", ())
    tier = next(t for t in predicted.tiers if t.name == predicted.told.tiers[0])
    yield Against("ettr", "1", found.meta_ettr, predicted.ettr.value)
    yield Against("goodput", "1", found.dlrover_goodput, predicted.definitions.dlrover_goodput)
    mtbf = found.wall / found.restarts if found.restarts else None
    yield Against("mtbf", "s", mtbf, predicted.mtbf.value)
    yield Against("interval", "s", _interval(found), predicted.intervals.best)
    yield Against("save", "s", median(saves) if saves else None, tier.save)
    step = found.productive / found.steps if found.steps else None
    yield Against("step", "s", step, predicted.plan.plans[0].time.root.value)
    parts = {part.name: part.value for part in predicted.recovery}
    for name in _RESTART:
        measured = _each(found, name)
        if measured is not None or name in parts:
            yield Against(name, "s", measured, parts.get(name))
    yield Against("restart", "s", _restart(found), predicted.restart)


def _warnings(found: Account) -> Iterator[str]:
    unknown = found.share("unexplained", "running")
    if unknown > 0.01:
        yield (
            f"{100 * unknown:.1f} % of the time is not explained: no line of these files says what "
            "happened then"
        )
    if not found.steps:
        yield "no report of a step: what trained cannot be told; add the log of the program"
