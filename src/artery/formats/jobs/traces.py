"""Public job traces: Alibaba's openb (nodes and pods), Helios, Acme and Philly.

openb: Weng et al., "Beware of Fragmentation" (ATC 2023), clusterdata cluster-trace-gpu-v2023.
Helios: Hu et al., SC 2021. Acme: Hu et al., NSDI 2024. Philly: Jeon et al., ATC 2019
(``cluster_job_log``, JSON, or the table that Sia's artefact made of it). openb's files and that
table were at hand; the other readers follow the traces' own descriptions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from artery.errors import InputError, Problem
from artery.formats.gpus.names import chip_of
from artery.formats.jobs.rows import JobRow, job_fields, job_summary, seconds
from artery.formats.passed import runs
from artery.formats.reading import Format, Reading
from artery.formats.syntax.csv_table import has_columns, rows_of
from artery.formats.syntax.json_text import inside, json_of, tables
from artery.formats.syntax.numerals import number, whole
from artery.formats.text import Text
from artery.formats.wording import counted

_UNTESTED: Final = "no file of this trace was at hand; the columns are those of its description"
_PHILLY: Final = re.compile(r'"(attempts|jobid|vc|submitted_time)"')

Row = dict[str, str]


def _no_rows(text: Text) -> InputError:
    rule = "a trace has a row for every job or node"
    fix = "send the table with its header"
    return InputError(Problem(file=text.path, found="no row", rule=rule, fix=fix))


def _is_nodes(text: Text) -> bool:
    return has_columns(text, "sn", "cpu_milli", "memory_mib", "gpu", "model")


def _openb(text: Text) -> Reading:
    if not _is_nodes(text):
        return _pods(text)
    strange: list[int] = []
    nodes = [
        {
            "name": row["sn"],
            "cpus": (number(row["cpu_milli"]) or 0.0) / 1000,
            "memory_bytes": (number(row["memory_mib"]) or 0.0) * 2**20,
            "gpus": whole(row["gpu"]) or 0,
            "model": row["model"] or None,
            "chip": chip_of(row["model"]) if row["model"] else None,
        }
        for _, row in rows_of(text, strange)
    ]
    if not nodes:
        raise _no_rows(text)
    models: Counter[str] = Counter()
    for one in nodes:
        models[str(one["model"] or "no GPU")] += int(str(one["gpus"]))
    fields: dict[str, Any] = {
        "table": "nodes",
        "columns": ["sn", "cpu_milli", "memory_mib", "gpu", "model"],
        "node_count": len(nodes),
        "gpus": models.total(),
        "gpus_by_model": dict(models.most_common()),
        "gpus_per_node": dict(Counter(str(one["gpus"]) for one in nodes)),
        "nodes": nodes,
    }
    hidden = [name for name in models if re.fullmatch(r"G\d", name)]
    warnings = (
        (f"models {', '.join(sorted(hidden))} are not disclosed by the trace",) if hidden else ()
    )
    summary = (
        f"{counted(len(nodes), 'node')} with {counted(models.total(), 'GPU')}",
        "GPUs: " + ", ".join(f"{count} {name}" for name, count in models.most_common(8)),
    )
    return Reading("jobtrace-openb", "jobs", summary, fields, warnings, runs(strange, "cut rows"))


_PODS: Final = ("creation_time", "scheduled_time", "deletion_time")


def _pods(text: Text) -> Reading:
    """The pods; of a file without times it is said which columns it lacks."""
    found = _jobs(text, "jobtrace-openb", _pod)
    lacking = [name for name in _PODS if not has_columns(text, name)]
    if not lacking:
        return found
    said = f"no column {', '.join(lacking)}: when pods came and went is not told"
    fields = {**found.fields, "columns_missing": lacking}
    return replace(found, fields=fields, warnings=(said,))


def _pod(row: Row) -> JobRow:
    """A pod of openb; a share of one GPU is ``gpu_milli`` thousandths."""
    count, share = number(row.get("num_gpu")), number(row.get("gpu_milli"))
    gpus = share / 1000 if count == 1 and share else count
    return JobRow(
        row.get("name", ""), seconds(row.get("creation_time")), seconds(row.get("scheduled_time")),
        seconds(row.get("deletion_time")), gpus, 1, row.get("pod_phase") or None,
        gpu_type=row.get("gpu_spec") or None,
    )  # fmt: skip


def _helios(row: Row) -> JobRow:
    return JobRow(
        row.get("job_id", ""), seconds(row.get("submit_time")), seconds(row.get("start_time")),
        seconds(row.get("end_time")), number(row.get("gpu_num")), whole(row.get("node_num")),
        row.get("state") or None, row.get("user") or None,
    )  # fmt: skip


def _jobs(text: Text, name: str, job: Callable[[Row], JobRow]) -> Reading:
    strange: list[int] = []
    jobs = [job(row) for _, row in rows_of(text, strange)]
    if not jobs:
        raise _no_rows(text)
    return _reading(name, jobs, runs(strange, "rows of another length"))


def _reading(name: str, jobs: list[JobRow], ignored: Any = ()) -> Reading:  # noqa: ANN401
    fields = {"table": "jobs", **job_fields(jobs)}
    summary = tuple(job_summary(fields))
    return Reading(
        name, "jobs", summary, fields, tuple(_doubts(jobs)), ignored, jobs=tuple(jobs)
    )  # fmt: skip


def _doubts(jobs: list[JobRow]) -> Iterator[str]:
    unknown = sum(one.run_s is None for one in jobs)
    if unknown:
        yield f"{unknown} of {len(jobs)} jobs have no start and end: their GPU time is not counted"
    early = sum(
        one.start_s is not None and one.submit_s is not None and one.start_s < one.submit_s
        for one in jobs
    )
    if early:
        yield f"{early} jobs start before they were submitted"


def _philly(text: Text) -> Reading:
    if _is_table(text):
        return _jobs(text, "jobtrace-philly", _table_job)
    jobs = [_philly_job(one) for one in tables(json_of(text)) if "attempts" in one]
    if not jobs:
        raise _no_rows(text)
    return _reading("jobtrace-philly", jobs)


def _is_table(text: Text) -> bool:
    """Whether it is the table of Sia's artefact (SOSP 2023), one row a job that ran."""
    return has_columns(text, "timestamp", "duration", "num_gpus", "gpu_time")


def _table_job(row: Row) -> JobRow:
    """A row of that table: submission and run time; when it started is not said."""
    return JobRow(
        row.get("name", ""), seconds(row.get("timestamp")), None, None,
        number(row.get("num_gpus")), None, None, row.get("cluster") or None,
        duration_s=number(row.get("duration")),
    )  # fmt: skip


def _philly_job(one: Mapping[str, Any]) -> JobRow:
    """A job of Philly: its GPUs are those of the last attempt, its run from the first on."""
    attempts = tables(one.get("attempts"))
    last = attempts[-1] if attempts else {}
    detail = tables(last.get("detail"))
    gpus = sum(
        len(inside(each, "gpus") or []) for each in detail if isinstance(each.get("gpus"), list)
    )
    return JobRow(
        str(one.get("jobid", "")), seconds(one.get("submitted_time")),
        seconds(inside(attempts, 0, "start_time")), seconds(last.get("end_time")),
        float(gpus), len(detail) or None, str(one["status"]) if one.get("status") else None,
        str(one["user"]) if one.get("user") else None,
    )  # fmt: skip


def _is_openb(text: Text) -> float:
    pods = has_columns(text, "name", "cpu_milli", "num_gpu", "gpu_milli")
    return 0.95 if pods or _is_nodes(text) else 0.0


def _is_acme(text: Text) -> float:
    return 0.95 if has_columns(text, "job_id", "gpu_num", "gpu_time", "fail_time") else 0.0


def _is_helios(text: Text) -> float:
    found = has_columns(text, "job_id", "gpu_num", "submit_time", "duration")
    return 0.9 if found and not _is_acme(text) else 0.0


def _is_philly(text: Text) -> float:
    return 0.9 if _is_table(text) or len(set(_PHILLY.findall(text.head))) >= 4 else 0.0


def _helios_jobs(text: Text) -> Reading:
    return _jobs(text, "jobtrace-helios", _helios)


def _acme_jobs(text: Text) -> Reading:
    return _jobs(text, "jobtrace-acme", _helios)


FORMATS: Final = (
    Format("jobtrace-openb", "jobs", _is_openb, _openb, table=True),
    Format("jobtrace-helios", "jobs", _is_helios, _helios_jobs, tested=False, table=True,
           notes=(_UNTESTED,)),
    Format("jobtrace-acme", "jobs", _is_acme, _acme_jobs, tested=False, table=True,
           notes=(_UNTESTED,)),
    Format("jobtrace-philly", "jobs", _is_philly, _philly, table=True),
)  # fmt: skip
