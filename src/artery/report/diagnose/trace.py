"""Renders where the time of a traced rank went, and its collectives beside expected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from artery import units
from artery.answers.diagnose.trace import CallHeld, TraceHeld
from artery.report.drawing.terminal import indented
from artery.report.words import Words

_SHOWN = 12
"""Collectives on the page; the document has all."""


def trace_payload(trace: TraceHeld) -> Mapping[str, object]:
    """Return the document of a trace."""
    return {
        "file": trace.source,
        "span_s": trace.span,
        "compute_s": trace.compute,
        "communication_s": trace.communication,
        "exposed_communication_s": trace.exposed,
        "idle_s": trace.idle,
        "collectives": [_call(one) for one in trace.calls],
        "calls_left_out": trace.left_out,
        "collectives_lack": trace.lacks,
    }


def _call(one: CallHeld) -> Mapping[str, object]:
    return {
        "collective": one.collective,
        "size_bytes": one.size,
        "ranks": one.ranks,
        "stride": one.stride,
        "count": one.count,
        "min_s": one.least,
        "median_s": one.typical,
        "expected_s": one.expected,
        "ratio": one.ratio,
        "unpriced": one.unpriced,
    }


def trace_drawing(trace: TraceHeld, word: Words) -> Iterator[RenderableType]:
    """Yield the parts of the traced time with their shares, then the collectives by size."""
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
    if trace.calls:
        yield Text(word["calls"], style="bold")
        yield indented(_calls(trace.calls[:_SHOWN], word))
        hidden = sum(one.count for one in trace.calls[_SHOWN:]) + trace.left_out
        if hidden:
            yield Text(word["calls_more"].format(count=hidden))
        if any(one.expected is not None for one in trace.calls):
            yield Text(word["calls_note"])
        if any(one.stride is None and one.expected is not None for one in trace.calls):
            yield Text(word["calls_stride"])
    if trace.lacks is not None:
        yield Text(word[f"calls_lack_{trace.lacks}"])


def _calls(calls: tuple[CallHeld, ...], word: Words) -> Table:
    """Return a row a collective: what, how often, least and median time, expected, ratio."""
    table = Table.grid(padding=(0, 2))
    keys = ("size", "call_ranks", "call_count", "call_min", "call_median", "expected", "ratio")
    table.add_column(no_wrap=True)
    for _ in keys:
        table.add_column(justify="right", no_wrap=True)
    table.add_row("", *(word[key] for key in keys))
    for one in calls:
        expected = "-" if one.unpriced is None else word[f"call_{one.unpriced}"]
        if one.expected is not None:
            expected = units.show_time(one.expected)
        table.add_row(
            one.collective, units.show_bytes(one.size), str(one.ranks), str(one.count),
            *("-" if time is None else units.show_time(time) for time in (one.least, one.typical)),
            expected, "-" if one.ratio is None else units.show_percent(one.ratio),
        )  # fmt: skip
    return table
