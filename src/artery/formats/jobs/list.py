"""A list of jobs of ours: CSV with a header, or a list, or ``jobs``, in JSON or YAML.

``submit`` (s), ``run`` (s) and ``chips`` each job must have. It may have ``id``, ``limit`` (s),
``priority``, ``tenant``, ``model``, ``tp``, ``pp``, ``cp``, ``min_chips`` and ``max_chips`` (an
elastic job), ``kind`` (``training`` or ``service``). Times are seconds, or text with a unit (2 h).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from artery.errors import InputError, Problem, Problems, did_you_mean, nearest
from artery.formats.jobs.rows import JobRow, job_fields, job_summary
from artery.formats.passed import runs
from artery.formats.reading import Format, Reading
from artery.formats.syntax.csv_table import has_columns, header_of, rows_of
from artery.formats.syntax.json_text import json_of, looks_like_json
from artery.formats.syntax.numerals import number, whole
from artery.formats.syntax.yaml_text import yaml_documents
from artery.formats.text import Text
from artery.units import parse

NEEDED: Final = ("submit", "run", "chips")
TIMES: Final = ("submit", "run", "limit")
WHOLE: Final = ("chips", "priority", "tp", "pp", "cp", "min_chips", "max_chips")
WORDS: Final = ("id", "tenant", "model", "kind")
KINDS: Final = ("training", "service")
MOST_CHIPS: Final = 10_000_000
"""Assumed: no job has more; a larger number is a typing error."""

LONGEST: Final = 1e10
"""Assumed: seconds; three hundred years."""

_ENOUGH: Final = 2
"""Of the three columns that each job needs: with so many it is a list, if not a whole one."""

_PLAIN: Final = re.compile(r"(?:\s|#[^\n]{0,500}\n)*(?:\[|-\s)")
"""How a list in JSON or YAML begins that has no name."""

_KEYS: Final = re.compile(r"""["']?\b(submit|run|chips|jobs)\b["']?\s*:""")


def _recognise(text: Text) -> float:
    if has_columns(text, *NEEDED):
        return 0.95
    if _is_short(text):
        return 0.6
    keys = set(_KEYS.findall(text.head))
    if len(keys & set(NEEDED)) < _ENOUGH:
        return 0.0
    return 0.8 if "jobs" in keys or _PLAIN.match(text.head) else 0.0


def _is_short(text: Text) -> bool:
    """Whether it is the table of a list but for one column that each job needs."""
    header = [name for name in header_of(text) if name]
    return len(set(header) & set(NEEDED)) == _ENOUGH and (
        "submit" in header or set(header) <= {*TIMES, *WHOLE, *WORDS}
    )


def _read(text: Text) -> Reading:
    strange: list[int] = []
    found: list[JobRow] = []
    if _is_short(text):
        raise InputError(_lacking(text))
    with Problems() as problems:
        for line, row in _rows(text, strange):
            try:
                found.append(_job(row, len(found) + 1))
            except InputError as error:
                problems.absorb(error.at(file=text.path, line=line or None))
        twice = [name for name, count in Counter(job.id for job in found).items() if count > 1]
        if twice:
            rule = "each job has a name of its own"
            fix = "other names, or none"
            place = f"{len(twice)} of them, {twice[0]} first"
            problems.add(Problem(file=text.path, field="id", found=place, rule=rule, fix=fix))
    if not found:
        rule = "a list of jobs has one at least"
        fix = "submit,run,chips on the first line and a line per job"
        raise InputError(Problem(file=text.path, found="no job", rule=rule, fix=fix))
    fields = {"table": "jobs", **job_fields(found)}
    return Reading(
        "jobtrace-artery", "jobs", tuple(job_summary(fields)), fields,
        ignored=runs(strange, "rows of another length"), jobs=tuple(found),
    )  # fmt: skip


def _lacking(text: Text) -> Problem:
    """Which column the table lacks."""
    header = header_of(text)
    missing = next(name for name in NEEDED if name not in header)
    rule, found = "each job has submit, run and chips", f"columns {', '.join(header)}"[:80]
    fix = f"a column {missing}, or call the one that is meant so"
    return Problem(file=text.path, line=1, field=missing, found=found, rule=rule, fix=fix)


def _rows(text: Text, strange: list[int]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield line numbers (0: unknown) and rows."""
    if has_columns(text, *NEEDED):
        yield from rows_of(text, strange)
        return
    value = json_of(text) if looks_like_json(text) else next(iter(yaml_documents(text)), None)
    listed = value.get("jobs") if isinstance(value, dict) else value
    for row in listed if isinstance(listed, list) else ():
        yield 0, row if isinstance(row, dict) else {}


def _job(row: Mapping[str, Any], place: int) -> JobRow:
    """Return one job; raises ``InputError`` with all that is wrong with it."""
    name = str(row.get("id") or f"job {place}")
    told: dict[str, Any] = {}
    with Problems() as problems:
        for key in (*NEEDED, *(each for each in row if each not in NEEDED)):
            try:
                value = _value(key, row.get(key))
            except InputError as error:
                problems.absorb(error.at(field=f"{name}.{key}"))
            else:
                if value is not None:
                    told[key] = value
        _check(told, name, problems)
    told.pop("id", None)
    submit, run, chips = told.pop("submit"), told.pop("run"), told.pop("chips")
    return JobRow(
        name, submit, None, None, float(chips), None, None, told.pop("tenant", None),
        duration_s=run, limit_s=told.pop("limit", None), told=told,
    )  # fmt: skip


def _value(key: str, given: object) -> Any:  # noqa: ANN401 (by the column)
    """Return what is given under ``key``; ``None`` where nothing is."""
    if given is None or given == "":
        if key in NEEDED:
            raise _wrong("nothing", "each job has submit, run and chips", f"give its {key}")
        return None
    if key in TIMES:
        return _time(given)
    if key in WHOLE:
        return _whole(given, 0 if key == "priority" else 1)
    if key in WORDS:
        return str(given)
    known = (*TIMES, *WHOLE, *WORDS)
    near = did_you_mean(nearest(key, known)) or f"known: {', '.join(known)}"
    raise _wrong(f'a column "{key}"', "no job has that", near)


def _time(given: object) -> float:
    bare = number(given)
    value = bare if bare is not None else parse(given, "s")
    if not 0.0 <= value <= LONGEST:
        raise _wrong(f"{given}", f"a time from 0 to {LONGEST:g} s", "seconds, or 2 h")
    return value


def _whole(given: object, least: int) -> int:
    value = whole(given) if not isinstance(given, bool) else None
    if value is None or not least <= value <= MOST_CHIPS:
        rule = f"a whole number from {least} to {MOST_CHIPS:,}"
        raise _wrong(f"{given}"[:40], rule, "for example 64")
    return value


def _check(told: Mapping[str, Any], name: str, problems: Problems) -> None:
    """Note what does not fit together."""
    least, most, chips = told.get("min_chips"), told.get("max_chips"), told.get("chips")
    if told.get("kind") not in (None, *KINDS):
        rule, fix = f"one of {', '.join(KINDS)}", "leave it out for training"
        problems.add(Problem(field=f"{name}.kind", found=told["kind"], rule=rule, fix=fix))
    if chips is not None and not (least or chips) <= chips <= (most or chips):
        problems.add(
            Problem(
                field=f"{name}.chips", found=f"{chips} with {least or chips} to {most or chips}",
                rule="min_chips <= chips <= max_chips", fix="mend one of the three",
            )
        )  # fmt: skip


def _wrong(found: str, rule: str, fix: str) -> InputError:
    return InputError(Problem(found=found, rule=rule, fix=fix))


FORMAT: Final = Format("jobtrace-artery", "jobs", _recognise, _read, table=True)
