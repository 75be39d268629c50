"""``tour``: the article's ladder from one chip to ten thousand, with the right numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from artery.answers.arguments import check_kinds
from artery.answers.tour.article import FigureText, StopText, Text, Verdict, stop_texts
from artery.answers.tour.stops import STOPS
from artery.errors import InputError, UnknownNameError
from artery.units import (
    show_bytes,
    show_count,
    show_line_rate,
    show_percent,
    show_power,
    show_rate,
    show_time,
    show_work,
)


@dataclass(frozen=True, slots=True)
class Figure:
    """A computed value in ``unit``; ``claimed`` is what the article has in its place."""

    name: str
    label: Text
    value: float
    unit: str
    claimed: float | None
    shown: str
    claimed_shown: str | None


@dataclass(frozen=True, slots=True)
class Stop:
    """One stop: the sentence, its picture, the verdict, the figures, and who to ask."""

    name: str
    title: Text
    quote: Text
    picture: Text
    verdict: Verdict
    truth: Text
    figures: tuple[Figure, ...]
    command: str


@dataclass(frozen=True, slots=True)
class TourAnswer:
    """The stops asked for, in the article's order."""

    stops: tuple[Stop, ...]
    warnings: tuple[str, ...] = ()


def tour(*names: str) -> TourAnswer:
    """Return the stops called ``names``, or all of them, with every figure computed.

    Raises:
        InputError: there is no such stop; all that are wrong at once.
    """
    wanted = chosen(names)
    return TourAnswer(tuple(_stop(text) for text in stop_texts() if text.name in wanted))


def chosen(names: Sequence[str]) -> tuple[str, ...]:
    """Return the stops called ``names``, or all stops, in the article's order.

    Raises:
        InputError: there is no such stop; all that are wrong at once.
    """
    known = tuple(text.name for text in stop_texts())
    for name in names:
        check_kinds(str, stop=name)
    unknown = [UnknownNameError("stop", name, known) for name in names if name not in known]
    if len(unknown) == 1:
        raise unknown[0]
    if unknown:
        raise InputError(problem for error in unknown for problem in error.problems)
    return tuple(name for name in known if name in (names or known))


def shown_figures(answer: TourAnswer) -> dict[str, dict[str, str]]:
    """Return every figure as text: by stop, then by name."""
    return {stop.name: {f.name: f.shown for f in stop.figures} for stop in answer.stops}


def _stop(text: StopText) -> Stop:
    values = STOPS[text.name]()
    figures = tuple(_figure(figure, values[figure.name]) for figure in text.figures)
    shown = {figure.name: figure.shown for figure in figures}
    sizes = {f"{figure.name}_size": f"{figure.value:.0f}" for figure in figures}
    return Stop(
        name=text.name,
        title=text.title,
        quote=text.quote,
        picture=text.picture,
        verdict=text.verdict,
        truth=text.truth.map(lambda words: words.format(**shown)),
        figures=figures,
        command=text.command.format(**sizes),
    )


def _figure(text: FigureText, value: float) -> Figure:
    claimed = None if text.claimed is None else show_figure(text.claimed, text)
    shown = show_figure(value, text)
    return Figure(text.name, text.label, value, text.unit, text.claimed, shown, claimed)


JULIAN_YEAR = 365.25 * 86400
"""Seconds of a year (symbol a) as astronomers count it."""

_SHOW = {
    "s": show_time,
    "B": show_bytes,
    "B/s": show_rate,
    "b/s": show_line_rate,
    "FLOP": show_work,
    "W": show_power,
    "%": show_percent,
}


def show_figure(value: float, text: FigureText) -> str:
    """Return a figure's value for people: factors with two decimals, counts in full."""
    match text.show:
        case "decimal":
            return f"{show_count(value)}B"
        case "years":
            return f"{value / JULIAN_YEAR:,.0f} a"
        case "scientific":
            return f"{value:.2g} {text.unit}"
    if text.unit == "x":
        return f"{value:,.2f}"
    if text.unit == "1":
        return f"{value:,g}"
    return _SHOW[text.unit](value)
