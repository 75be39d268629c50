"""The answer of ``explain``: terms on the terminal and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Any

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from artery.answers.explain import ExplainAnswer, Opened
from artery.core.term import Term
from artery.report.drawing.terminal import commands, indented, labelled
from artery.report.said import said
from artery.report.words import Language, Words
from artery.report.words import words as table_of
from artery.units import (
    show_bytes,
    show_count,
    show_energy,
    show_flops,
    show_money,
    show_percent,
    show_power,
    show_rate,
    show_time,
    show_work,
)

_SHOW = {
    "s": show_time,
    "B": show_bytes,
    "B/s": show_rate,
    "FLOP": show_work,
    "FLOP/s": show_flops,
    "J": show_energy,
    "W": show_power,
    "USD": show_money,
}


def explain_payload(answer: ExplainAnswer, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document of the terms; ``request`` is what was asked."""
    return {
        "request": dict(request),
        "terms": [_term(opened) for opened in answer.terms],
        "warnings": answer.plan.warnings,
    }


def _term(opened: Opened) -> dict[str, Any]:
    term = opened.term
    return {
        "path": opened.path,
        "value": term.value,
        "unit": term.unit,
        "low": term.low,
        "high": term.high,
        "formula": term.formula,
        "inputs": term.inputs,
        "source": term.source,
        "combine": term.combine,
        "children": [f"{opened.path}.{child.name}" for child in term.children],
    }


def explain_drawing(answer: ExplainAnswer, language: Language, asked: str) -> RenderableType:
    """Return the terms, one after the other; ``asked`` is ``MODEL --on SYSTEM`` as typed."""
    words = table_of(language)
    parts: list[RenderableType] = []
    for opened in answer.terms:
        parts += [_title(opened, words), indented(_body(opened, language)), Text()]
    parts.append(indented(commands(words["next"], _next(answer, asked))))
    return Group(*parts)


def show(value: float, unit: str) -> str:
    """Return a value of any unit for people."""
    if unit in _SHOW:
        return _SHOW[unit](value)
    return f"{show_count(value)} {unit}".rstrip() if unit != "1" else show_count(value)


def _title(opened: Opened, words: Words) -> Text:
    term = opened.term
    title = Text(opened.path, style="bold")
    title.append(f"  {show(term.value, term.unit)}", style="bold cyan")
    if term.low != term.high:
        span = f"{show(term.low, term.unit)} – {show(term.high, term.unit)}"
        title.append(f"  ({span}, {words['interval']})", style="not bold")
    if "." in opened.path and opened.share:
        root = opened.path.partition(".")[0]
        share = words["share_of"].format(share=show_percent(opened.share), root=root)
        title.append(f"  {share}", "dim not bold")
    return title


def _body(opened: Opened, language: Language) -> RenderableType:
    term, words = opened.term, table_of(language)
    rows: list[RenderableType] = []
    if term.formula:
        rows.append(labelled(words["formula"], [Text(said(term.formula, language, "terms"))]))
    if term.inputs:
        inputs = term.inputs.items()
        lines = [Text(f"{name} = {_input(value, language)}") for name, value in inputs]
        rows.append(labelled(words["inputs"], lines))
    if term.source:
        rows.append(labelled(words["source"], [Text(said(term.source, language, "terms"))]))
    if term.children:
        rows.append(labelled(words[f"children_{term.combine}"], [_children(opened.path, term)]))
    return Group(*rows)


def _input(value: float | str, language: Language) -> str:
    """Return an input as it went into the formula, in SI and without a prefix."""
    return said(value, language, "terms") if isinstance(value, str) else f"{value:,.6g}"


def _children(path: str, term: Term) -> RenderableType:
    adds_up = term.combine == "sum"
    rows = []
    for child in sorted(term.children, key=lambda one: -one.value):
        if child.value == 0 and adds_up:
            continue
        # Children that only explain a term are no parts of it: a share would mislead.
        share = show_percent(child.value / term.value) if adds_up and term.value else ""
        rows.append((f"{path}.{child.name}", show(child.value, child.unit), share))
    return _Rows(rows)


@dataclass(frozen=True, slots=True)
class _Rows:
    """Paths with their values and shares beside them, or where there is no room, below them.

    A table would cut the numbers before the paths, and numbers are what is looked for.
    """

    rows: Sequence[tuple[str, str, str]]

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> Iterable[RenderableType]:
        """Yield a table, or in too few cells two lines for each."""
        if self._width <= options.max_width:
            yield self._table()
            return
        for path, value, share in self.rows:
            yield Text(path, overflow="fold")
            yield indented(Text(f"{value}  {share}".rstrip(), overflow="fold"))

    def __rich_measure__(self, _: Console, __: ConsoleOptions) -> Measurement:
        """Return that the rows can be narrow and want the width of a table."""
        return Measurement(1, self._width)

    def _table(self) -> Table:
        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True)
        table.add_column(justify="right", no_wrap=True)
        table.add_column(justify="right", no_wrap=True)
        for row in self.rows:
            table.add_row(*row)
        return table

    @property
    def _width(self) -> int:
        """Cells of the table: the longest of each column, and two between columns."""
        columns = [max(map(cell_len, column)) for column in zip(*self.rows, strict=True)]
        return max(sum(columns) + 2 * (len(columns) - 1), 1)


def _next(answer: ExplainAnswer, asked: str) -> list[str]:
    """Open the largest term below the ones shown, or go back to the plan."""
    below = [
        (child.value, f"{opened.path}.{child.name}")
        for opened in answer.terms
        for child in opened.term.children
        if child.unit == opened.term.unit
    ]
    back = [f"artery plan {asked}"]
    return [f"artery explain {asked} {quote(max(below)[1])}", *back] if below else back
