"""Conventions that apply to what was measured, by the names that reports have words for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from artery.answers.diagnose.facts import columns_in
from artery.answers.diagnose.held import Held
from artery.diagnoser.case import Case
from artery.diagnoser.verdict import Diagnosis
from artery.formats.reading import Reading


def notes_on(
    case: Case, found: Diagnosis, readings: Sequence[tuple[str, Reading]], worst: Held
) -> list[str]:
    """Return the names of the conventions that apply to what was ``found``."""
    notes = [*case.notes, *_table_notes(readings)]
    curve = found.curve
    if curve is not None:
        if curve.nodes == 2 and curve.collective in (None, "all_reduce"):
            notes.append("two_nodes")
        if not curve.sized:
            notes.append("size_unknown")
        if curve.collective is None:
            notes.append("collective_unknown")
        if found.judged is not None and curve not in case.curves:
            notes.append("share_said")
    if len(case.curves) > 1:
        notes.append("other_curves")
    if worst.above_link:
        notes.append("above_link")
    return list(dict.fromkeys(notes))


def _table_notes(readings: Sequence[tuple[str, Reading]]) -> Iterator[str]:
    for _, reading in readings:
        if reading.format != "nccl-tests":
            continue
        average = reading.fields.get("average_busbw_bytes_per_s")
        peak = reading.fields.get("peak_busbw_bytes_per_s")
        if average and peak and average < 0.9 * peak:
            yield "average"
        if reading.fields.get("old_columns"):
            yield "old_columns"
        for table in reading.fields.get("tables", ()):
            found = columns_in(table)
            if found is not None and found.lies not in ("none", "unknown"):
                yield f"column_{found.lies}"
