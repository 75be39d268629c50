"""AWS spot traces of Bamboo (Thorpe et al., NSDI 2023): how many instances there were, by time.

Two columns without a header: the time, and the instances that were live. A change is two rows of
one time. Times are seconds in files of whole numbers, and hours where they have three decimals.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from artery.errors import InputError, Problem
from artery.formats.reading import Format, Reading
from artery.formats.text import Text
from artery.units.durations import HOUR

_ROW: Final = re.compile(r"\s*(\d{1,9}(?:\.(\d{1,6}))?)\s*,\s*(\d{1,6})\s*")

_FEW: Final = 3
"""Rows below which nothing need have changed: the same instances from the first time to the last.
"""


def _recognise(text: Text) -> float:
    rows = [line for line in text.head.split("\n") if line.strip()]
    whole = rows if len(text.content) <= len(text.head) else rows[:-1]
    found = [_ROW.fullmatch(line) for line in whole]
    matched = [one for one in found if one is not None]
    if not matched or len(matched) < len(found):
        return 0.0
    times = [float(one[1]) for one in matched]
    if len(matched) < _FEW:
        return 0.6 if times[0] == 0.0 and times == sorted(times) else 0.0
    steps = any(a == b for a, b in pairwise(times))
    return 0.7 if times[0] == 0.0 and times == sorted(times) and steps else 0.0


def _read(text: Text) -> Reading:
    found = [(n, _ROW.fullmatch(line)) for n, line in enumerate(text.lines, 1) if line.strip()]
    wrong = next((n for n, one in found if one is None), None)
    if wrong is not None or not found:
        raise InputError(
            Problem(
                file=text.path, line=wrong, found="no time and count" if wrong else "no row",
                rule="a row is a time and the instances that were live", fix="0,8",
            )
        )  # fmt: skip
    rows = [one for _, one in found if one is not None]
    hours = any(one[2] for one in rows)
    scale = HOUR if hours else 1.0
    steps = _steps([(float(one[1]) * scale, int(one[3])) for one in rows])
    counts = [int(one[3]) for one in rows]
    lost = sum(max(0, a - b) for a, b in pairwise(counts))
    won = sum(max(0, b - a) for a, b in pairwise(counts))
    end = float(rows[-1][1]) * scale
    mean = _mean(steps, end)
    fields = {
        "table": "capacity",
        "unit": "h" if hours else "s",
        "duration_s": end,
        "mean_instances": mean,
        "most_instances": max(count for _, count in steps),
        "lost": lost,
        "gained": won,
        "capacity": [{"time_s": time, "instances": count} for time, count in steps],
    }
    summary = (
        f"spot instances over {end / HOUR:.1f} h: {mean:.1f} on average",
        f"{lost} lost, {won} gained",
    )
    taken = "hours" if hours else "seconds"
    return Reading(
        "jobtrace-aws-spot", "state", summary, fields, (f"times are taken as {taken}",)
    )  # fmt: skip


def _steps(rows: Sequence[tuple[float, int]]) -> list[tuple[float, int]]:
    """Return when the count changed, and to what; of rows of one time the last holds."""
    last: dict[float, int] = dict(rows)
    steps: list[tuple[float, int]] = []
    for time, count in sorted(last.items()):
        if not steps or steps[-1][1] != count:
            steps.append((time, count))
    return steps


def _mean(steps: Sequence[tuple[float, int]], end: float) -> float:
    ends = [time for time, _ in steps[1:]] + [end]
    whole = end - steps[0][0]
    area = sum(n * (to - at) for (at, n), to in zip(steps, ends, strict=True))
    return area / whole if whole else float(steps[-1][1])


FORMAT: Final = Format("jobtrace-aws-spot", "state", _recognise, _read, table=True)
