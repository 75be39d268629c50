"""The lines of a log of phases: which are whole, which cannot be, and which contradict another."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final

from artery.errors import Problem
from artery.formats.syntax.stamps import EARLIEST, LATEST
from artery.formats.wording import counted
from artery.units import show_time
from artery.units.durations import DAY

Row = dict[str, Any]
Numbered = tuple[int, Row]
"""A phase behind the number of its line."""

MOST_RANKS: Final = 1e9
"""Assumed: no job has more."""

MOST_STEPS: Final = 10**12
"""Assumed: no run makes more."""

MOST_SECONDS: Final = 1e12
"""Assumed: no clock shows more; a NaN is no number either."""

YEAR: Final = 366 * DAY

AT_ONCE: Final = 0.01
"""Assumed: seconds by which two phases of one rank may overlap, as its clock is read for each."""

MOST_SAID: Final = 20
"""Values that cannot be are said one by one, up to so many."""


def rows_of(
    lines: Iterable[str], schema: str, path: str
) -> tuple[list[Numbered], list[int], list[Problem]]:
    """Return the phases of ``schema``, the lines that are none, and what cannot be in others.

    Lines that are none were cut off, perhaps. Phases of a clock that was never set are among those
    returned: how long they took may be right.
    """
    rows: list[Numbered] = []
    bad: list[int] = []
    wrong: list[Problem] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict) or row.get("schema") != schema:
            bad.append(number)
            continue
        problems = tuple(_impossible(path, number, row))
        wrong += problems
        if all(each.field == "ts" for each in problems) and _number(row.get("ts")):
            rows.append((number, row))
    if len(wrong) > MOST_SAID:
        found = f"{len(wrong) - MOST_SAID} more such values"
        fix = "mend or take out the lines"
        wrong[MOST_SAID:] = [Problem(file=path, found=found, rule="can be a phase's", fix=fix)]
    return rows, bad, wrong


def _impossible(path: str, line: int, row: Row) -> Iterator[Problem]:
    """Yield what is wrong with one phase."""
    rules = {
        "ts": ("is seconds since 1970, of the years 2000 to 2100", EARLIEST, LATEST),
        "seconds": ("is 0 or more, and less than a year", 0.0, YEAR),
        "rank": ("is a rank, or -1 for the supervisor", -1.0, MOST_RANKS),
    }
    for name, (rule, least, most) in rules.items():
        value = row.get(name)
        if not (_number(value) and least <= float(value) <= most):  # type: ignore[arg-type]
            found = f"{value!r:.60}" if name in row else "nothing"
            fix = "mend or take out the line; was the host's clock set?"
            yield Problem(file=path, line=line, field=name, found=found, rule=rule, fix=fix)
    step = row.get("step")
    if step is not None and not (_whole(step) and 0 <= step <= MOST_STEPS):
        rule, fix = f"is a whole number from 0 to {MOST_STEPS:,}", "mend or take out the line"
        yield Problem(file=path, line=line, field="step", found=f"{step!r:.60}", rule=rule, fix=fix)
    if not isinstance(row.get("phase"), str):
        rule, fix = "names a phase, as step or save", "mend or take out the line"
        found = f"{row.get('phase')!r:.60}"
        yield Problem(file=path, line=line, field="phase", found=found, rule=rule, fix=fix)


def _whole(value: Any) -> bool:  # noqa: ANN401 - what JSON holds
    return isinstance(value, int) and not isinstance(value, bool)


def _number(value: Any) -> bool:  # noqa: ANN401 - what JSON holds
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and abs(value) < MOST_SECONDS


def once(rows: list[Numbered]) -> tuple[list[Numbered], list[str]]:
    """Return the phases without those that stand there twice, and what to say of these."""
    seen: set[str] = set()
    kept: list[Numbered] = []
    again: list[int] = []
    for number, row in rows:
        key = json.dumps(row, sort_keys=True)
        if key in seen:
            again.append(number)
        else:
            kept.append((number, row))
        seen.add(key)
    said = (
        f"line {again[0]}: {counted(len(again), 'phase')} told before, counted once"
        if again
        else None
    )
    return kept, [said] if said else []


def contradictions(rows: list[Numbered], telling: Collection[str]) -> Iterator[str]:
    """Yield where one rank does two of the ``telling`` phases at once, or begins a former attempt.

    The supervisor, which sees all ranks, may see several things at once.
    """
    latest: dict[int, Numbered] = {}
    over: list[tuple[float, Numbered, Numbered]] = []
    back: list[tuple[Numbered, int]] = []
    counting = (one for one in rows if one[1]["phase"] in telling and one[1]["rank"] >= 0)
    for one in sorted(counting, key=lambda each: each[1]["ts"]):
        rank, before = one[1]["rank"], latest.get(one[1]["rank"])
        if before is not None:
            both = min(_end(before[1]), _end(one[1])) - one[1]["ts"]
            if both > AT_ONCE + 0.01 * min(one[1]["seconds"], before[1]["seconds"]):
                over.append((both, one, before))
            if _attempt(one[1]) < _attempt(before[1]):
                back.append((one, _attempt(before[1])))
        if before is None or _end(one[1]) > _end(before[1]):
            latest[rank] = one
    if over:
        both, (line, row), (other, known) = max(over, key=lambda each: each[0])
        yield (
            f"line {line}: {row['phase']} of rank {row['rank']} begins {show_time(both)} before "
            f"its {known['phase']} of line {other} is over ({counted(len(over), 'such overlap')}, "
            f"{show_time(sum(each[0] for each in over))} in all): the more telling one counts"
        )
    if back:
        (line, row), after = back[0]
        yield (
            f"line {line}: attempt {_attempt(row)} of rank {row['rank']} begins after attempt "
            f"{after} ({counted(len(back), 'such phase')}): two runs in one file?"
        )


def _end(row: Row) -> float:
    return float(row["ts"] + row["seconds"])


def _attempt(row: Row) -> int:
    attempt = row.get("attempt")
    return attempt if isinstance(attempt, int) else 0
