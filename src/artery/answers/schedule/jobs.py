"""``TRACE``: a file of jobs of whatever format, or a mix that is made up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import ceil
from typing import Any, Final

from artery.answers.schedule.request import Request
from artery.answers.schedule.work import Kind, default_kind, sizes_of
from artery.cloud.fleet_job import FleetJob
from artery.cloud.generator import LARGEST, MIXES, Asked, generate, large_part
from artery.core.system import System
from artery.errors import InputError, Problem, Problems, UnknownNameError
from artery.formats.jobs.rows import JobRow
from artery.formats.reading import Reading
from artery.formats.recognise import read
from artery.formats.wording import counted
from artery.units import show_percent, show_time

MADE_UP: Final = "synthetic:"
JOBS: Final = 10_000
DAYS: Final = 11.0
LOAD: Final = 0.85

_GOLDEN: Final = 0.6180339887498949
"""Spreads the elastic jobs evenly over the list: the n-th is one if n·0.618 mod 1 < share."""


@dataclass(frozen=True, slots=True)
class Jobs:
    """The jobs with their kinds settled, what they are called, where they come from, and notes."""

    jobs: tuple[FleetJob, ...]
    kinds: tuple[Kind, ...]
    source: str
    notes: tuple[str, ...]


def read_trace(trace: str) -> Reading | None:
    """Return what the file ``trace`` says; ``None`` if it names a mix that is made up."""
    return None if trace.startswith(MADE_UP) else read(trace)


def jobs_of(trace: str, reading: Reading | None, system: System, request: Request) -> Jobs:
    """Return the jobs of ``trace``, which :func:`read_trace` has read, for ``system``.

    Raises ``InputError`` for a file that is none or has no jobs, and for a mix that there is not.
    """
    notes: list[str] = []
    told: dict[str, Mapping[str, Any]] = {}
    shared: frozenset[str] = frozenset()
    if reading is None:
        asked = asked_of(trace, system.chips, request.seed)
        found = generate(asked)
        source = f"made up after {MIXES[asked.mix].source}{_large(found, asked)}"
        _say_short(found, asked, notes)
    else:
        found, told, shared = _of_file(trace, reading, notes)
        passed = sum(each.count for each in reading.ignored)
        if passed:
            notes.append(f"{passed:,} lines of {trace} are no jobs; artery read says which and why")
        source = reading.format
    kept = _kept(trace, found, system, request, notes)
    _say_shared(kept, shared, notes)
    kinds: dict[Kind, int] = {}
    shapes: dict[tuple[object, ...], tuple[int, tuple[int, ...]]] = {}
    jobs = []
    wrong = Problems()
    for number, job in enumerate(kept):
        own = told.get(job.id, {})
        key = job.chips, *(own.get(name) for name in _SHAPING)
        if key not in shapes:
            try:
                kind = _kind(job.chips, own, system, request)
            except InputError as error:
                wrong.absorb(error)
                kind = Kind("none")
            shapes[key] = kinds.setdefault(kind, len(kinds)), _sizes(job, own, kind, system)
        index, sizes = shapes[key]
        said = own.get("min_chips") or own.get("max_chips")
        rigid = job.service or (not said and _stays(job, number, request.elastic))
        jobs.append(job._replace(kind=index, sizes=(job.chips,) if rigid else sizes))
    wrong.raise_if_any()
    _say_defaults(jobs, kinds, notes)
    return Jobs(tuple(jobs), tuple(kinds), source, tuple(notes))


def asked_of(trace: str, chips: int, seed: int) -> Asked:
    """Return what ``synthetic:MIX,jobs=N,days=N,load=X,large=X,burst=X`` asks.

    Raises ``InputError``.
    """
    mix, *rest = trace.removeprefix(MADE_UP).split(",")
    asked = Asked(mix, JOBS, chips, DAYS, LOAD, seed=seed)
    with Problems() as problems:
        if mix not in MIXES:
            problems.absorb(UnknownNameError("mix of jobs", mix, MIXES))
        for part in rest:
            name, _, value = part.partition("=")
            known = {field.name for field in fields(Asked)} - {"mix", "chips", "seed"}
            if name not in known:
                problems.absorb(UnknownNameError("option of a mix", name, sorted(known)))
                continue
            try:
                number = float(value)
            except ValueError:
                number = -1.0
            most = {"jobs": 5e6, "days": 1e5, "load": 10.0, "large": 1.0, "burst": 100.0}[name]
            if not (0.0 <= number <= most) or (name in {"jobs", "days", "load"} and not number):
                least = "from 0 to" if name in {"large", "burst"} else "above 0, at most"
                rule = f"a number {least} {most:g}"
                fix = f"{name}=0.85" if name == "load" else f"leave {name} out"
                problems.add(Problem(field=name, found=f'"{value}"', rule=rule, fix=fix))
                continue
            if name == "large" and mix in MIXES and not MIXES[mix].large_jobs:
                having = ", ".join(each for each in MIXES if MIXES[each].large_jobs)
                rule = f"only a mix with a part of large jobs has a share of it: {having}"
                problems.add(Problem(field=name, found=mix, rule=rule, fix="leave large out"))
                continue
            value_of: Any = int(number) if name == "jobs" else number
            asked = replace(asked, **{name: value_of})
    return asked


def _large(jobs: Sequence[FleetJob], asked: Asked) -> str:
    """What part of ``jobs`` is large, counted, where the mix has such a part."""
    mix = MIXES[asked.mix]
    if not mix.large_jobs:
        return ""
    size = f"of {mix.large_chips:,} chips or more"
    work, count = large_part(jobs, mix.large_chips)
    if count:
        return f": {show_percent(work)} of chip-time in {show_percent(count)} of the jobs, {size}"
    most = max(asked.chips // LARGEST, 1)
    if most < mix.large_chips:
        return f": none {size}, as no job takes over {most:,} of {asked.chips:,}"
    return f": none {size}"


def _say_short(jobs: Sequence[FleetJob], asked: Asked, notes: list[str]) -> None:
    """Say if the load that was asked for could not be reached."""
    reached = sum(job.chips * job.run for job in jobs) / (asked.chips * asked.days * 86400.0)
    if asked.load is not None and reached < 0.99 * asked.load:
        longest = MIXES[asked.mix].longest / 86400.0
        notes.append(
            f"{asked.jobs:,} jobs of up to {longest:.0f} days reach a load of {reached:.2f}, not "
            f"{asked.load:g}: ask for more jobs"
        )


def _of_file(
    trace: str, reading: Reading, notes: list[str]
) -> tuple[list[FleetJob], dict[str, Mapping[str, Any]], frozenset[str]]:
    """The jobs of a file that can be played, what else they tell, and which share a chip."""
    usable = [row for row in reading.jobs if row.gpus and row.run_s and row.submit_s is not None]
    if not usable:
        fix = "a trace of jobs, or submit,run,chips as CSV"
        if reading.format == "slurm-sacct":
            fix = "sacct -P -o JobID,State,Submit,Start,End,Elapsed,Timelimit,User,AllocTRES"
        found = f"{reading.format}, {len(reading.jobs)} jobs, none usable"
        lacking = reading.fields.get("columns_missing")
        if lacking:
            found = f"{reading.format} without the columns {', '.join(lacking)}"
            fix = "the file of that trace that has them"
        rule = "needs jobs with a submission time, a run time and chips"
        raise InputError(Problem(file=trace, found=found, rule=rule, fix=fix))
    dropped = len(reading.jobs) - len(usable)
    if dropped:
        notes.append(
            f"{dropped:,} of all {len(reading.jobs):,} jobs of {trace} have no chips or run time: "
            "left out"
        )
    jobs = [_job(row, n) for n, row in enumerate(usable)]
    pairs = list(zip(jobs, usable, strict=True))
    told = {job.id: row.told for job, row in pairs if row.told}
    return jobs, told, frozenset(job.id for job, row in pairs if row.gpus != job.chips)


def _say_shared(kept: Sequence[FleetJob], shared: Collection[str], notes: list[str]) -> None:
    """Say how many of the jobs that are played ask for a part of a chip."""
    count = sum(job.id in shared for job in kept)
    if count:
        verb = "shares" if count == 1 else "share"
        notes.append(f"{counted(count, 'job')} {verb} a chip: each is taken to hold it whole")


def _job(row: JobRow, number: int) -> FleetJob:
    chips = max(ceil(row.gpus or 1), 1)
    return FleetJob(
        row.id or f"j{number}", row.submit_s or 0.0, row.run_s or 0.0, chips, row.limit_s,
        int(row.told.get("priority", 0)), row.user or "", (), 0, row.state,
        row.told.get("kind") == "service",
    )  # fmt: skip


def _kept(
    trace: str, jobs: Sequence[FleetJob], system: System, request: Request, notes: list[str]
) -> list[FleetJob]:
    """Those of the window that fit the system."""
    ordered = sorted(jobs, key=lambda job: job.submit)
    first = ordered[0].submit
    if request.window is not None:
        begin, end = request.window
        ordered = [job for job in ordered if begin <= job.submit - first < end]
    if request.jobs is not None:
        ordered = ordered[: request.jobs]
    room = (system.nodes - request.spares) * system.chips_per_node
    fitting = [job for job in ordered if job.chips <= room]
    if len(fitting) < len(ordered):
        most = max(job.chips for job in ordered)
        notes.append(
            f"{counted(len(ordered) - len(fitting), 'job')} of more chips (up to {most:,}) than "
            f"there are ({room:,}): left out"
        )
    if not ordered:
        found = f"none of {counted(len(jobs), 'job')} is submitted in it"
        last = show_time(max(job.submit for job in jobs) - first)
        rule, fix = "one job at least must be left", f"0d:{last}; the last job comes {last} in"
        raise InputError(Problem(field="window", found=found, rule=rule, fix=fix))
    if not fitting:
        least = min(job.chips for job in ordered)
        found = f"jobs of {least:,} chips or more, on {room:,} chips"
        rule, fix = "one job at least must fit the system", "a larger system, or fewer spares"
        raise InputError(Problem(file=trace, found=found, rule=rule, fix=fix))
    return fitting


def _stays(job: FleetJob, number: int, share: float) -> bool:
    """Whether a job that does not say it keeps its size: those of one chip, the rest by share."""
    return job.chips == 1 or number * _GOLDEN % 1.0 >= share


_SHAPING: Final = ("model", "tp", "pp", "cp", "min_chips", "max_chips")


def _sizes(job: FleetJob, own: Mapping[str, Any], kind: Kind, system: System) -> tuple[int, ...]:
    """The sizes that the job can run on, within what its list says."""
    least, most = own.get("min_chips") or 0, own.get("max_chips") or system.chips
    return tuple(n for n in sizes_of(kind, job.chips, system) if least <= n <= most)


def _kind(chips: int, own: Mapping[str, Any], system: System, request: Request) -> Kind:
    model = own.get("model") or request.model
    if model is None:
        return default_kind(chips, system)
    source: Mapping[str, Any] = own if own.get("model") else {
        "tp": request.tp, "pp": request.pp, "cp": request.cp
    }  # fmt: skip
    tp, pp, cp = (int(source.get(name) or 1) for name in ("tp", "pp", "cp"))
    kind = Kind(str(model), tp, pp, cp)
    if chips % kind.unit:
        rule = f"is a multiple of tp·pp·cp = {kind.unit}"
        fix = "other degrees, or other chips"
        raise InputError(Problem(field="chips", found=f"{chips} for {model}", rule=rule, fix=fix))
    return kind


def _say_defaults(jobs: Sequence[FleetJob], kinds: Mapping[Kind, int], notes: list[str]) -> None:
    count = Counter(job.kind for job in jobs)
    said = [
        f"{count[index]:,} {kind.model} ({kind.why})"
        for kind, index in kinds.items()
        if kind.why != "given"
    ]
    if said:
        notes.append("jobs that name no model are taken to train one by size: " + "; ".join(said))
