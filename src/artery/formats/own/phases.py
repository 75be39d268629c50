"""The phases of a run of ours: one JSON object a line, written by every rank and its supervisor.

The only reader of them: for ``artery goodput --log`` and for what ``artery train`` itself says.

The run does what its lowest rank does, which saves and evaluates while others wait inside their
steps; between its phases, what the supervisor sees. Each moment counts once.

``ts`` is when a phase began (seconds since 1970), ``seconds`` how long it took, ``rank`` -1 the
supervisor, ``step`` the steps done at its end. A first step holds warming up; what it took beyond
the usual step of its rank is not counted as training.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from math import inf
from pathlib import Path
from statistics import median
from typing import Any, Final

from artery.cloud.accounting import Activity, Span
from artery.errors import InputError, Problem
from artery.formats.own.phase_rows import Numbered, Row, contradictions, once, rows_of
from artery.formats.reading import Format, Ignored, Reading
from artery.formats.text import Text
from artery.formats.wording import counted
from artery.units import show_time

SCHEMA: Final = "artery.phases/1"

ACTIVITY: Final[Mapping[str, Activity]] = {
    "step": "step",
    "first_step": "first_step",
    "save": "save",
    "copy": "save",
    "load": "load",
    "evaluate": "evaluate",
    "rendezvous": "rendezvous",
    "detect": "detect",
    "teardown": "teardown",
    "finish": "teardown",
    "reform": "reschedule",
    "pause": "stall",
    "start": "start",
}
"""What each phase is in an account; phases that run beside these take no time of their own."""

_NAMED: Final = 10
"""Unknown phases that are named."""

BESIDE: Final = frozenset({"persist", "import", "lost_work", "compute", "wait"})
"""What runs beside the others, or is part of them: no share of the time of its own."""

KNOWN: Final = frozenset(ACTIVITY) | BESIDE
"""Every phase that there is."""


def _recognise(text: Text) -> float:
    return 0.99 if f'"{SCHEMA}"' in text.head else 0.0


def read_rows(path: str | Path) -> list[Row]:
    """Return the phases in the log at ``path``; lines that are none are left out.

    Raises ``OSError`` if it cannot be read.
    """
    lines = Path(path).read_text("utf-8", errors="replace").splitlines()
    return [row for _, row in rows_of(lines, SCHEMA, str(path))[0]]


def _read(text: Text) -> Reading:
    numbered, bad, wrong = rows_of(text.lines, SCHEMA, text.path)
    if wrong:
        raise InputError(wrong)
    numbered, said = once(numbered)
    rows = [row for _, row in numbered]
    if not rows:
        rule = 'each line is an object with "schema", "ts", "seconds", "rank" and "phase"'
        fix = "give the file that artery train --log wrote"
        raise InputError(Problem(file=text.path, found="no phase", rule=rule, fix=fix))
    spans = tuple(spans_of(rows))
    fields = _fields(rows)
    ignored = tuple(Ignored(line, 1, "no phase (a line that was cut off?)") for line in bad)
    warnings = (*said, *contradictions(numbered, ACTIVITY), *_strange(numbered))
    return Reading("artery-phases", "log", tuple(_summary(fields)), fields, warnings, ignored,
                   spans=spans)  # fmt: skip


def spans_of(rows: Iterable[Row]) -> list[Span]:
    """Return what the run did when, as :func:`artery.cloud.accounting.account` takes it.

    Where the lowest rank says what it does, the supervisor's own view of that moment is left out.
    """
    rows = list(rows)
    lowest = min((row["rank"] for row in rows if row["rank"] >= 0), default=None)
    mine = [row for row in rows if row["rank"] == lowest]
    found = list(_of_rank(mine))
    told = _merged((span.start, span.end) for span in found)
    for row in rows:
        activity = ACTIVITY.get(row["phase"]) if row["rank"] < 0 else None
        if activity is not None:
            for start, end in _between(float(row["ts"]), float(row["ts"] + row["seconds"]), told):
                found.append(Span(start, end, activity, attempt=_whole_number(row, "attempt")))
    return found


def _of_rank(rows: list[Row]) -> Iterator[Span]:
    """The spans of one rank; of its first steps what they took beyond the usual is set apart."""
    usual = [row["seconds"] for row in rows if row["phase"] == "step"]
    for row in rows:
        activity = ACTIVITY.get(row["phase"])
        if activity is None:
            continue
        start, end = float(row["ts"]), float(row["ts"] + row["seconds"])
        attempt, step = _whole_number(row, "attempt"), _whole_number(row, "step")
        if activity == "first_step" and step is not None and usual:
            warm = max(start, end - median(usual))
            yield Span(start, warm, "first_step", attempt=attempt)
            start, activity = warm, "step"
        if activity == "step":
            yield Span(start, end, activity, None, step, step, attempt)
        else:
            yield Span(start, end, activity, attempt=attempt)


def _whole_number(row: Row, name: str) -> int | None:
    value = row.get(name)
    return value if isinstance(value, int) else None


def _merged(spans: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return spans in order, those that meet as one."""
    found: list[tuple[float, float]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def _between(
    start: float, end: float, taken: list[tuple[float, float]]
) -> Iterator[tuple[float, float]]:
    """Yield the parts from ``start`` to ``end`` that are not ``taken`` (in order, apart)."""
    first = max(0, bisect_right(taken, (start, inf)) - 1)
    for one, other in islice(taken, first, None):
        if one >= end:
            break
        if one > start:
            yield start, one
        start = max(start, other)
    if start < end:
        yield start, end


def _fields(rows: list[Row]) -> dict[str, Any]:
    seconds: dict[str, float] = defaultdict(float)
    for row in rows:
        seconds[row["phase"]] += row["seconds"]
    steps = [row["step"] for row in rows if isinstance(row.get("step"), int)]
    return {
        "rows": len(rows),
        "ranks": len({row["rank"] for row in rows if row["rank"] >= 0}),
        "attempts": len({row.get("attempt") for row in rows}),
        "steps": max(steps, default=None),
        "phase_s": dict(seconds),
        "phase_count": dict(Counter(row["phase"] for row in rows)),
        "unknown_phases": sorted(set(seconds) - KNOWN),
        "wall_s": max(r["ts"] + r["seconds"] for r in rows) - min(r["ts"] for r in rows),
    }


def _strange(rows: Iterable[Numbered]) -> Iterator[str]:
    """Say which phases no account knows, at the line of the first."""
    unknown = [(line, row["phase"]) for line, row in rows if row["phase"] not in KNOWN]
    if unknown:
        count = Counter(name for _, name in unknown)
        named = ", ".join(f'"{name[:40]}" ({often})' for name, often in count.most_common(_NAMED))
        yield (
            f"line {unknown[0][0]}: phases of unknown names, whose time stays unexplained: "
            f"{named}; known: {', '.join(sorted(KNOWN))}"
        )


def _summary(fields: dict[str, Any]) -> Iterator[str]:
    yield (
        f"{counted(fields['ranks'], 'rank')}, {counted(fields['attempts'], 'attempt')}, "
        f"{counted(fields['rows'], 'phase')} in {show_time(fields['wall_s'])}"
    )
    if fields["steps"] is not None:
        yield f"{counted(fields['steps'], 'step')} done"


FORMAT: Final = Format("artery-phases", "log", _recognise, _read)
