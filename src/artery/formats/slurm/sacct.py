"""``sacct``: ``-P`` and ``-p`` with bars, or columns; steps are told from allocations."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from artery.cloud.accounting import Activity, Span
from artery.errors import InputError, Problem, Problems
from artery.formats.jobs.rows import JobRow, seconds
from artery.formats.passed import passed_over
from artery.formats.reading import Format, Reading
from artery.formats.slurm.hostlist import expand
from artery.formats.slurm.words import duration, exit_code, gpus, memory
from artery.formats.syntax.csv_table import refuse_twice
from artery.formats.syntax.numerals import whole
from artery.formats.syntax.prefixes import bare
from artery.formats.syntax.stamps import EARLIEST, LATEST, stamp
from artery.formats.text import Text
from artery.formats.wording import counted, hours

_DASHES: Final = re.compile(r"[\s-]+$")
_STEP: Final = re.compile(r"\d{1,12}(?:_[\w\[\]-]{1,60})?(?:\+\d{1,6})?\.(.{1,40})")
MOST_JOBS: Final = 10_000
"""Rows that are listed one by one in the fields; totals count all."""

Row = dict[str, str]


def _header(text: Text) -> tuple[int, str] | None:
    for index, raw in enumerate(text.lines[:200]):
        line = bare(raw).strip()
        words = {word.casefold() for word in re.split(r"[| ]+", line)}
        if {"jobid", "jobidraw"} & words and {"state", "elapsed", "exitcode", "jobname"} & words:
            return index, line
    return None


def _recognise(text: Text) -> float:
    found = _header(Text(text.path, text.head))
    if found is None or "," in found[1] or "NODELIST(REASON)" in found[1]:
        return 0.0
    return 0.9


def _rows(text: Text, index: int, header: str) -> Iterator[tuple[int, Row]]:
    """Yield the rows below the header by column name in lower case, with their line numbers."""
    below = enumerate(text.lines[index + 1 :], index + 2)
    if "|" in header:
        names = [name.strip().casefold() for name in header.split("|")]
        refuse_twice(text.path, index + 1, names)
        for number, raw in below:
            cells = bare(raw).strip().split("|")
            # cut rows end early; a row without a job id is none
            if cells[0] and len(cells) > 1:
                yield number, dict(zip(names, (cell.strip() for cell in cells), strict=False))
        return
    two = [bare(line) for line in text.lines[index : index + 2]]
    spans = _spans(two[0], two[1] if len(two) > 1 else "")
    for number, raw in below:
        line = bare(raw)
        if line.strip() and not _DASHES.match(line):
            yield number, {name: line[start:end].strip() for name, start, end in spans}


def _spans(header: str, dashes: str) -> list[tuple[str, int, int]]:
    """Return name, start and end of every column, from the dashes below the names."""
    marks = dashes if _DASHES.match(dashes) and "-" in dashes else re.sub(r"\S", "-", header)
    spans = [found.span() for found in re.finditer(r"-+", marks)]
    return [(header[start:end].strip().casefold(), start, end) for start, end in spans]


def _read(text: Text) -> Reading:
    header = _header(text)
    rows = list(_rows(text, *header)) if header else []
    if header is None or not rows:
        rule = "sacct prints a line of column names and rows below"
        fix = "use sacct -P with JobID, State, Elapsed, AllocTRES"
        raise InputError(Problem(file=text.path, found="no row", rule=rule, fix=fix))
    steps = Counter(step[1] for _, row in rows if (step := _STEP.fullmatch(row.get("jobid", ""))))
    allocations = [(n, row) for n, row in rows if not _STEP.fullmatch(row.get("jobid", ""))]
    jobs = [_job(row, text.path, number) for number, row in allocations]
    refuse_impossible(text.path, [(n, one) for (n, _), one in zip(allocations, jobs, strict=True)])
    fields = _fields(jobs, steps, header[1])
    used = {number for number, _ in rows} | {header[0] + 1}
    ignored = passed_over(text, used, _DASHES, "no row of the table")
    return Reading(
        "slurm-sacct",
        "jobs",
        tuple(_summary(fields)),
        fields,
        tuple(_warnings(jobs, fields)),
        ignored,
        spans=tuple(_spans_of(jobs)),
        jobs=tuple(_listed(job, row) for job, (_, row) in zip(jobs, allocations, strict=True)),
    )


def _listed(job: dict[str, Any], row: Row) -> JobRow:
    """The same job for whoever plays it again; a requeued one stands there once a run."""
    return JobRow(
        str(job["id"]), seconds(job["submit"]), seconds(job["start"]), seconds(job["end"]),
        job["gpus"], job["nodes"], job["state"], row.get("user") or row.get("account") or None,
        job["gpu_type"], job["elapsed_s"], duration(row.get("timelimit", "")),
    )  # fmt: skip


def _job(row: Row, path: str, number: int) -> dict[str, Any]:
    listed = row.get("nodelist", "")
    try:
        hosts = [] if listed in {"", "None assigned"} or listed.endswith("+") else expand(listed)
    except InputError as error:
        raise error.at(file=path, line=number, field="NodeList") from None
    tres = row.get("alloctres") or row.get("allocgres") or row.get("reqtres", "")
    count, kind = gpus(tres)
    code = exit_code(row.get("exitcode", ""))
    elapsed = duration(row.get("elapsed", ""))
    said = any(name in row for name in ("alloctres", "allocgres", "reqtres"))
    nodes = whole(row.get("nnodes") or row.get("allocnodes"))
    return {
        "id": row.get("jobid") or row.get("jobidraw"),
        "name": row.get("jobname"),
        "partition": row.get("partition") or None,
        "state": row.get("state", "").partition(" ")[0] or None,
        "elapsed_s": elapsed,
        "nodes": nodes if nodes is not None else len(hosts) or None,
        "hosts": hosts,
        "cpus": whole(row.get("alloccpus") or row.get("ncpus")),
        "gpus": count if said else None,
        "gpu_type": kind,
        "gpu_s": count * elapsed if said and elapsed is not None else None,
        "exit_code": code[0] if code else None,
        "signal": code[1] if code else None,
        "max_memory_bytes": memory(row.get("maxrss", "")),
        "submit": row.get("submit"),
        "start": row.get("start"),
        "end": row.get("end"),
    }


def _spans_of(jobs: list[dict[str, Any]]) -> Iterator[Span]:
    """Yield the waits and runs of one job, requeued ones included (``sacct --duplicates``).

    Jobs of one name in a row are one job that goes on; several names are no run of one job.
    """
    if len({one["name"] for one in jobs}) != 1:
        return
    times = [_times(one) for one in jobs]
    before: float | None = None
    runs = sorted((t for t in times if t[1] is not None), key=lambda t: t[1] or 0.0)
    for attempt, (submit, start, end) in enumerate(runs):
        since = submit if before is None else before
        if since is not None and start is not None:
            waits: Activity = "queue" if before is None else "reschedule"
            yield Span(since, start, waits, attempt=attempt, zoned=False)
        if start is not None and end is not None:
            yield Span(start, end, "running", attempt=attempt, zoned=False)
            before = end


def _times(one: dict[str, Any]) -> tuple[float | None, float | None, float | None]:
    """When a job was submitted, began and ended; one that still runs ends with what has passed."""
    submit, start, end = (stamp(one[key] or "", 1970) for key in ("submit", "start", "end"))
    if end is None and start is not None and one["elapsed_s"] is not None:
        end = start + one["elapsed_s"]
    return submit, start, end


_MOST_SAID: Final = 20
"""Rows that cannot be are said one by one, up to so many."""


def refuse_impossible(path: str, jobs: list[tuple[int, dict[str, Any]]]) -> None:
    """Raise ``InputError`` for times that no job has: out of order, or of no year of Slurm's."""
    with Problems() as problems:
        wrong = [problem for line, one in jobs for problem in _impossible(path, line, one)]
        for problem in wrong[:_MOST_SAID]:
            problems.add(problem)
        if len(wrong) > _MOST_SAID:
            found = f"{len(wrong) - _MOST_SAID} more such times"
            fix = "mend or take out the rows"
            problems.add(Problem(file=path, found=found, rule="are times in order", fix=fix))


def _impossible(path: str, line: int, one: dict[str, Any]) -> Iterator[Problem]:
    times = {name: stamp(one[name.casefold()] or "", 1970) for name in ("Submit", "Start", "End")}
    for name, at in times.items():
        if at is not None and not EARLIEST <= at <= LATEST:
            found, rule = str(one[name.casefold()]), "is a time from the year 2000 to 2100"
            fix = "mend or take out the row; was the clock of the controller set?"
            yield Problem(file=path, line=line, field=name, found=found, rule=rule, fix=fix)
    for first, then in (("Submit", "Start"), ("Start", "End")):
        earlier, later = times[first], times[then]
        if earlier is not None and later is not None and later < earlier:
            found = f"{one[then.casefold()]}, before {first} {one[first.casefold()]}"
            rule, fix = f"{then} is not before {first}", "mend or take out the row"
            yield Problem(file=path, line=line, field=then, found=found, rule=rule, fix=fix)


def _fields(jobs: list[dict[str, Any]], steps: Counter[str], header: str) -> dict[str, Any]:
    return {
        "job_count": len(jobs),
        "steps_not_counted": steps.total(),
        "steps": dict(steps),
        "trailing_pipe": header.endswith("|"),
        "states": dict(Counter(one["state"] for one in jobs if one["state"])),
        "gpu_s": sum(one["gpu_s"] or 0.0 for one in jobs),
        "gpu_hours_known": any(one["gpu_s"] is not None for one in jobs),
        "jobs": jobs[:MOST_JOBS],
    }


def _summary(fields: dict[str, Any]) -> Iterator[str]:
    states = ", ".join(f"{count} {word}" for word, count in fields["states"].items())
    yield f"{counted(fields['job_count'], 'job')}: {states}"
    if fields["gpu_hours_known"]:
        yield hours(fields["gpu_s"], "GPU hours")
    if fields["steps_not_counted"]:
        steps = counted(fields["steps_not_counted"], "step")
        yield f"{steps} (.batch, .0 ...) of them are not counted"


def _warnings(jobs: list[dict[str, Any]], fields: dict[str, Any]) -> Iterator[str]:
    if not fields["gpu_hours_known"]:
        yield (
            "GPU hours cannot be told without AllocTRES and Elapsed: "
            "sacct -P -o JobID,State,Elapsed,AllocTRES"
        )
    if fields["trailing_pipe"]:
        yield "sacct -p ends every row with a bar: the empty last column is dropped"
    failed = [
        one for one in jobs if (one["state"] or "").startswith(("FAILED", "NODE_FAIL", "OUT_OF"))
    ]
    for one in failed[:5]:
        signal = f", signal {one['signal']}" if one["signal"] else ""
        code = "unknown" if one["exit_code"] is None else one["exit_code"]
        yield f"job {one['id']} {one['state']}, exit code {code}{signal}{_meaning(one)}"


def _meaning(job: dict[str, Any]) -> str:
    """Return what an exit code usually means (bash and srun conventions)."""
    told = {
        127: ": command not found",
        126: ": not executable",
        137: ": killed (SIGKILL)",
        255: ": the launcher or a remote shell failed",
    }
    return told.get(job["exit_code"], "")


FORMAT: Final = Format("slurm-sacct", "jobs", _recognise, _read)
