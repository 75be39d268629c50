"""The answer of ``scale``: a table per mode on the terminal, points as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from artery.answers.scale import Mode, ScaleAnswer, ScalePoint
from artery.report.drawing.tables import NOTHING
from artery.report.drawing.terminal import commands, indented
from artery.report.plan import labelled_lines
from artery.report.plan.payload import parallelism
from artery.report.said import said, warned
from artery.report.words import Language, Words
from artery.report.words import words as table_of
from artery.units import show_count, show_percent, show_time

TABLE_WIDTH = 76
"""Cells that the table needs so that no number is cut."""


_LINEAR = 1.005
"""Efficiencies above it are shown as more than 100 %, to be explained."""


def scale_payload(answer: ScaleAnswer, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document of all points; ``request`` is what was asked."""
    rate = answer.failure_rate
    return {
        "request": dict(request),
        "reference_chips": dict(answer.reference),
        "failure_rate": {
            "node_failures_per_1000_days": rate.per_1000_node_days,
            "source": rate.source,
        },
        "points": [_point(point) for point in answer.points],
        "warnings": answer.warnings,
    }


def _point(point: ScalePoint) -> dict[str, Any]:
    best = point.result
    return {
        "chips": point.chips,
        "mode": point.mode,
        "global_batch": point.global_batch,
        "step_time_s": best and best.time.root.value,
        "step_time_low_s": best and best.time.root.low,
        "step_time_high_s": best and best.time.root.high,
        "samples_per_s": best and best.samples_per_s,
        "mfu": best and best.mfu,
        "speedup": point.speedup,
        "efficiency": point.efficiency,
        "exposed_comm_fraction": point.exposed_comm_fraction,
        "amdahl_speedup": point.amdahl_speedup,
        "breaks": point.breaks,
        "failures_per_day": point.failures_per_day,
        "fits": best and best.fits,
        "parallelism": best and parallelism(best.plan),
        "reason": point.reason,
    }


def scale_drawing(answer: ScaleAnswer, language: Language, asked: str) -> RenderableType:
    """Return both tables; ``asked`` is ``MODEL --on SYSTEM`` as typed."""
    words = table_of(language)
    title = Text(answer.model, style="bold")
    title.append(f"  {answer.system}", style="not bold")
    parts: list[RenderableType] = [title, Text()]
    modes: tuple[Mode, ...] = ("strong", "weak")
    for mode in modes:
        parts += [indented(_mode(answer, mode, words)), Text()]
    parts.append(indented(_footnotes(answer, language)))
    remarks = labelled_lines("", (), words["warning"], warned(answer.warnings, language))
    if remarks is not None:
        parts += [Text(), indented(remarks)]
    parts += [Text(), indented(commands(words["next"], _next(answer, asked)))]
    return Group(*parts)


def _mode(answer: ScaleAnswer, mode: Mode, words: Words) -> RenderableType:
    batch = answer.global_batch if mode == "strong" else answer.batch_per_chip
    heading = Text(words[f"{mode}_is"].format(batch=show_count(batch)), style="bold")
    heading.append(_against(answer.reference[mode], words), style="not bold")
    gap = 2 if answer.parallel_fraction is None else 1
    table = Table(box=None, padding=(0, gap, 0, 0), pad_edge=False)
    for key in ("chips", "step", "speedup", "efficiency", "exposed"):
        table.add_column(words[key], justify="right", no_wrap=True)
    if answer.parallel_fraction is not None:
        table.add_column(words["amdahl"], justify="right", no_wrap=True)
    table.add_column(words["failures_per_day"], justify="right", no_wrap=True)
    table.add_column(words["breaks"], no_wrap=True)
    for point in answer.points:
        if point.mode == mode:
            table.add_row(*_row(answer, point, words))
    return Group(heading, table)


def _against(chips: int | None, words: Words) -> str:
    key = {None: "relative_to_none", 1: "relative_to_one"}.get(chips, "relative_to")
    return words[key].format(chips=f"{chips:,}" if chips else "")


def _row(answer: ScaleAnswer, point: ScalePoint, words: Words) -> list[str]:
    best = point.result
    fitting = best is not None and best.fits != "no"
    cells = [
        f"{point.chips:,}",
        show_time(best.time.root.value) if best is not None and fitting else NOTHING,
        NOTHING if point.speedup is None else f"{point.speedup:,.2f}",
        NOTHING if point.efficiency is None else show_percent(point.efficiency),
        show_percent(point.exposed_comm_fraction or 0.0) if fitting else NOTHING,
    ]
    if answer.parallel_fraction is not None:
        law = point.amdahl_speedup
        cells.append(NOTHING if law is None else f"{law:,.2f}")
    return [*cells, f"{point.failures_per_day:.2g}", words[f"break_{point.breaks}"]]


def _footnotes(answer: ScaleAnswer, language: Language) -> RenderableType:
    words = table_of(language)
    lines = [
        words["without"].format(chips=f"{p.chips:,}", mode=words[p.mode], reason=p.reason)
        for p in answer.points
        if p.reason is not None
    ]
    if any((point.efficiency or 0.0) > _LINEAR for point in answer.points):
        lines.append(words["above_linear_is"])
    lines.append(words["exposed_is"])
    if answer.parallel_fraction is not None:
        lines.append(words["amdahl_is"].format(fraction=f"{answer.parallel_fraction:g}"))
    rate = answer.failure_rate
    source = said(rate.source, language, "terms")
    lines.append(words["failures_are"].format(rate=rate.per_1000_node_days, source=source))
    return Group(*(Text(line, style="dim") for line in lines))


def _next(answer: ScaleAnswer, asked: str) -> list[str]:
    largest = max(point.chips for point in answer.points)
    model, _, rest = asked.partition(" --on ")
    system, _, flags = rest.partition(" ")
    sized = f"{model} --on {system.partition(':')[0]}:{largest} {flags}".rstrip()
    return [f"artery plan {sized}", f"artery explain {sized} step.dp"]
