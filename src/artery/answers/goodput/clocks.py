"""The clocks of a run's logs: which files name their zone, and what they say against each other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

from artery.cloud.accounting import AWAY, Span
from artery.errors import InputError, Problem, Problems
from artery.formats.reading import Reading
from artery.units import show_time

Told = tuple[str, Reading]
"""The path of a log, and what it says."""

_OFFSET: Final = re.compile(r"(?:UTC)?([+-])(\d\d?)(?::?(\d\d))?")

_AT_WORK: Final = frozenset({"step", "save", "load", "evaluate", "redone"})
"""What nobody does on chips that are not there."""

APART: Final = 1.0
"""Assumed: clocks of one cluster differ by no more seconds."""


def zone_of(text: str) -> tzinfo:
    """Return the zone of ``UTC``, ``+08:00`` or a name as ``Europe/Berlin``.

    Raises ``InputError``.
    """
    if text in {"UTC", "Z"}:
        return UTC
    found = _OFFSET.fullmatch(text)
    if found and int(found[2]) <= 14 and int(found[3] or 0) < 60:
        length = timedelta(hours=int(found[2]), minutes=int(found[3] or 0))
        return timezone(length if found[1] == "+" else -length)
    try:
        return ZoneInfo(text)
    except (ValueError, OSError, KeyError):
        rule, fix = "is UTC, an offset or a name of the time-zone database", "+08:00, Europe/Berlin"
        raise InputError(
            Problem(field="time_zone", found=f'"{text}"', rule=rule, fix=fix)
        ) from None


def on_one_clock(told: Sequence[Told], zone: tzinfo | None) -> list[Told]:
    """Return the logs with the times of those that name no zone read in ``zone``.

    Without a ``zone`` they may stand together, or alone, but not beside those that name theirs:
    that raises ``InputError``, for an offset of hours would pass for waiting.
    """
    if zone is not None:
        return [(path, _shifted(reading, zone)) for path, reading in told]
    with_zone = [path for path, reading in told if _zoned(reading)]
    with Problems() as problems:
        for path, reading in told:
            if with_zone and not _zoned(reading):
                problems.add(
                    Problem(
                        file=path,
                        found=f"times without a zone, beside {with_zone[0]} whose times have one",
                        rule="files of one run must be read on one clock",
                        fix="--time-zone UTC, or the zone of that host, as +08:00",
                    )
                )
    return list(told)


def _zoned(reading: Reading) -> bool:
    return all(span.zoned for span in reading.spans)


def _shifted(reading: Reading, zone: tzinfo) -> Reading:
    """The reading with its zoneless times, which were read as UTC, moved to ``zone``."""
    if _zoned(reading):
        return reading
    return replace(
        reading,
        spans=tuple(
            replace(span, start=_moved(span.start, zone), end=_moved(span.end, zone), zoned=True)
            for span in reading.spans
        ),
    )


def _moved(seconds: float, zone: tzinfo) -> float:
    wall = datetime.fromtimestamp(seconds, UTC).replace(tzinfo=zone)
    return wall.timestamp()


def day(seconds: float) -> str:
    """Return the date, in UTC."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")


def said_of_times(told: Sequence[Told]) -> Iterator[str]:
    """Yield what readers remark on times, line by line, and what files say against each other."""
    for path, reading in told:
        yield from (f"{path}, {each}" for each in reading.warnings if each.startswith("line "))
    for path, reading in told:
        away = [span for span in reading.spans if span.activity in AWAY]
        for other, busy in told:
            at_work = [span for span in busy.spans if span.activity in _AT_WORK]
            both = _overlap(away, at_work) if other != path else 0.0
            if both > APART:
                yield (
                    f"{other} works for {show_time(both)} while {path} says that the job waits: "
                    "clocks apart, or another job's file; what works counts"
                )


def _overlap(one: Sequence[Span], other: Sequence[Span]) -> float:
    """The seconds that are covered by both."""
    marks = sorted(
        (at, change, index)
        for index, spans in enumerate((one, other))
        for span in spans
        for at, change in ((span.start, 1), (span.end, -1))
    )
    depth, before, both = [0, 0], 0.0, 0.0
    for at, change, index in marks:
        if depth[0] and depth[1]:
            both += at - before
        depth[index] += change
        before = at
    return both
