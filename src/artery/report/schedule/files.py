"""``--timeline``: what every job did when, as CSV, JSON, or a trace for Perfetto.

The trace is Chrome's Trace Event Format: a process per policy, runs and waits in as few lanes as
hold them side by side, what happened to nodes as instants, chips in use and waiting as counters.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from typing import Any, Final

from artery.answers.schedule.result import Played, ScheduleAnswer
from artery.report.writing.rows import rows_text
from artery.simulator.fleet.records import Slice

COLUMNS: Final = ("policy", "job", "what", "start_s", "end_s", "chips", "leaves")

PERFETTO: Final = ".trace.json"
"""How the name of a trace for Perfetto ends."""

_MICROSECONDS: Final = 1e6
_LANE: Final = 1000
"""Lanes of waits are numbered from here on."""


def timeline(answer: ScheduleAnswer, name: str) -> str:
    """Return the timeline in the form that the file's ``name`` asks for."""
    if name.lower().endswith(PERFETTO):
        return _trace(answer)
    rows = [(p.policy.name, *each) for p in answer.played for each in p.slices]
    return rows_text(COLUMNS, rows, as_json=name.lower().endswith(".json"))


def _trace(answer: ScheduleAnswer) -> str:
    events: list[dict[str, Any]] = []
    for process, played in enumerate(answer.played):
        named = {"name": played.policy.name}
        events.append({"ph": "M", "name": "process_name", "pid": process, "args": named})
        events += _events(process, played)
    document = {"displayTimeUnit": "ms", "traceEvents": events}
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def _events(process: int, played: Played) -> Iterator[dict[str, Any]]:
    for what, first in (("run", 0), ("queue", _LANE)):
        slices = [each for each in played.slices if each.what == what]
        for each, lane in zip(slices, _lanes(slices), strict=True):
            yield {
                "ph": "X", "name": each.job, "cat": what, "pid": process, "tid": first + lane,
                "ts": each.start * _MICROSECONDS, "dur": (each.end - each.start) * _MICROSECONDS,
                "args": {"chips": each.chips, "leaves": each.leaves},
            }  # fmt: skip
        yield from _counter(process, what, slices)
    for each in played.slices:
        if not each.job:
            yield {
                "ph": "i", "name": each.what, "pid": process, "tid": 0, "s": "p",
                "ts": each.start * _MICROSECONDS, "args": {"number": each.chips},
            }  # fmt: skip


def _lanes(slices: Sequence[Slice]) -> list[int]:
    """Return a lane for each slice (by start), so that none overlap; the lowest free one."""
    busy: list[tuple[float, int]] = []
    free: list[int] = []
    lanes: list[int] = []
    for each in slices:
        while busy and busy[0][0] <= each.start:
            heappush(free, heappop(busy)[1])
        lane = heappop(free) if free else len(busy)
        lanes.append(lane)
        heappush(busy, (each.end, lane))
    return lanes


def _counter(process: int, what: str, slices: Sequence[Slice]) -> Iterator[dict[str, Any]]:
    """Chips that run or wait, at every change."""
    changes = sorted(
        [(each.start, each.chips) for each in slices] + [(each.end, -each.chips) for each in slices]
    )
    now = 0
    for index, (time, more) in enumerate(changes):
        now += more
        if index + 1 == len(changes) or changes[index + 1][0] > time:
            yield {
                "ph": "C", "name": f"chips, {what}", "pid": process,
                "ts": time * _MICROSECONDS, "args": {"chips": now},
            }  # fmt: skip
