"""Renders where the time of a traced rank went."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from artery import units
from artery.answers.diagnose_trace import TraceHeld
from artery.report.terminal import indented
from artery.report.words import Words


def trace_payload(trace: TraceHeld) -> Mapping[str, object]:
    """Return the document of a trace."""
    return {
        "file": trace.source,
        "span_s": trace.span,
        "compute_s": trace.compute,
        "communication_s": trace.communication,
        "exposed_communication_s": trace.exposed,
        "idle_s": trace.idle,
    }


def trace_drawing(trace: TraceHeld, word: Words) -> Iterator[RenderableType]:
    """Yield the parts of the traced time with their shares."""
    head = word["trace"].format(file=trace.source, span=units.show_time(trace.span))
    yield Text(head, style="bold")
    table = Table.grid(padding=(0, 2))
    for justify in ("left", "right", "right"):
        table.add_column(justify=justify, no_wrap=True)
    for key in ("compute", "communication", "exposed", "idle"):
        seconds: float = getattr(trace, key)
        share = units.show_percent(seconds / trace.span)
        table.add_row(word[f"trace_{key}"], units.show_time(seconds), share)
    yield indented(table)
