"""The stops of ``tour`` on the terminal and as JSON."""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from artery.answers.tour import Figure, Stop, TourAnswer
from artery.answers.tour.article import Text as Both
from artery.report.drawing.terminal import commands, indented
from artery.report.words import Language, Words
from artery.report.words import words as table_of

_VERDICT_STYLE = {
    "right": "green",
    "imprecise": "yellow",
    "wrong": "bold red",
    "unsupported": "yellow",
}


def tour_payload(answer: TourAnswer, language: Language) -> dict[str, Any]:
    """Return the document of the stops, their words in ``language``."""
    return {
        "stops": [_stop_payload(stop, language) for stop in answer.stops],
        "warnings": answer.warnings,
    }


def _stop_payload(stop: Stop, language: Language) -> dict[str, Any]:
    return {
        "name": stop.name,
        "title": said(stop.title, language),
        "quote": said(stop.quote, language),
        "picture": said(stop.picture, language),
        "verdict": stop.verdict,
        "truth": said(stop.truth, language),
        "figures": [_figure_payload(figure, language) for figure in stop.figures],
        "command": stop.command,
    }


def _figure_payload(figure: Figure, language: Language) -> dict[str, Any]:
    return {
        "name": figure.name,
        "label": said(figure.label, language),
        "value": figure.value,
        "unit": figure.unit,
        "claimed": figure.claimed,
        "shown": figure.shown,
    }


def said(text: Both, language: Language) -> str:
    """Return the text in one language."""
    return text.zh if language == "zh" else text.en


def stop_drawing(stop: Stop, language: Language) -> RenderableType:
    """Return one stop, ending with the command that answers it."""
    words = table_of(language)
    title = Text(said(stop.title, language), style="bold")
    title.append(f"  {stop.name}", style="dim not bold")
    rows = [
        (words["article_says"], Text(f"“{said(stop.quote, language)}”", style="italic")),
        (words["picture"], Text(said(stop.picture, language))),
        (words["verdict"], Text(words[stop.verdict], style=_VERDICT_STYLE[stop.verdict])),
        (words["truth"], Text(said(stop.truth, language))),
    ]
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    for label, text in rows:
        table.add_row(label, text)
    table.add_row(words["figures"], _figures(stop.figures, language, words))
    table.add_row(words["command"], Text(stop.command, style="cyan"))
    return Group(title, indented(table), Text())


def _figures(figures: tuple[Figure, ...], language: Language, words: Words) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    table.add_column(overflow="fold")
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True, style="dim")
    for figure in figures:
        claimed = ""
        if figure.claimed_shown is not None:
            claimed = f"({words['article_says']}: {figure.claimed_shown})"
        table.add_row(said(figure.label, language), figure.shown, claimed)
    return table


def opening(names: tuple[str, ...], language: Language) -> RenderableType:
    """Return what stands above a tour of several stops."""
    words = table_of(language)
    return Group(Text(words["tour_title"], style="bold"), Text(" · ".join(names), "dim"), Text())


def closing(name: str, language: Language) -> RenderableType:
    """Return what stands below a tour: one stop by ``name``, and a question of one's own."""
    lines = [f"artery tour {name}", "artery plan llama3-70b --on dgx-h100:128"]
    return commands(table_of(language)["next"], lines)
