"""The article, sentence by sentence: what it claims, what is true, and what shows it.

The texts are data (``data/article.toml``, ``data/tour.toml``); every figure in them is computed.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal

Verdict = Literal["right", "imprecise", "wrong", "unsupported"]
State = Literal["works", "planned", "fact"]
Show = Literal["decimal", "years", "scientific"]

_FIGURE: Final = re.compile(r"\{([\w-]+)\.(\w+)\}")
"""``{stop.figure}`` in a text."""


@dataclass(frozen=True, slots=True)
class Text:
    """The same in English and Chinese."""

    en: str
    zh: str

    def map(self, change: Callable[[str], str]) -> Text:
        """Return the text with ``change`` made in both languages."""
        return Text(change(self.en), change(self.zh))


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that the article says.

    ``command`` prints every text in ``shows`` when ``state`` is ``works``; it is what will show
    it when ``planned``; a ``fact`` has only its ``evidence``.
    """

    number: int
    section: str
    claim: Text
    verdict: Verdict
    truth: Text
    evidence: str
    state: State
    command: str = ""
    shows: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FigureText:
    """What a figure of a stop is called, its unit, and what the article says instead.

    ``show`` asks for ``decimal`` prefixes of bytes, as the article counts them, for ``years`` of
    a long time, or for ``scientific`` notation; by default the unit decides.
    """

    name: str
    unit: str
    label: Text
    claimed: float | None = None
    show: Show | None = None


@dataclass(frozen=True, slots=True)
class StopText:
    """The words of one stop; ``truth`` and ``command`` may name its figures in braces."""

    name: str
    title: Text
    quote: Text
    picture: Text
    verdict: Verdict
    truth: Text
    command: str
    figures: tuple[FigureText, ...]


def sections() -> Mapping[str, Text]:
    """Return the title of each section, in the article's order."""
    return {name: Text(**title) for name, title in _table("article.toml")["sections"].items()}


def items() -> tuple[Item, ...]:
    """Return every item of the article, figures still named in braces."""
    return tuple(_item(table) for table in _table("article.toml")["item"])


def stop_texts() -> tuple[StopText, ...]:
    """Return the words of every stop, in the article's order."""
    return tuple(_stop(table) for table in _table("tour.toml")["stop"])


def filled(item: Item, figures: Mapping[str, Mapping[str, str]]) -> Item:
    """Return ``item`` with its figures written out: ``figures[stop][figure]``."""

    def written(text: str) -> str:
        return _FIGURE.sub(lambda found: figures[found[1]][found[2]], text)

    return Item(
        number=item.number,
        section=item.section,
        claim=item.claim,
        verdict=item.verdict,
        truth=item.truth.map(written),
        evidence=item.evidence,
        state=item.state,
        command=written(item.command),
        shows=tuple(written(text) for text in item.shows),
    )


@cache
def _table(name: str) -> dict[str, Any]:
    return tomllib.loads(files("artery.answers.tour").joinpath("data", name).read_text("utf-8"))


def _item(table: Mapping[str, Any]) -> Item:
    return Item(
        number=table["id"],
        section=table["section"],
        claim=Text(**table["claim"]),
        verdict=table["verdict"],
        truth=Text(**table["truth"]),
        evidence=table["evidence"],
        state=table["state"],
        command=table.get("command", ""),
        shows=tuple(table.get("shows", ())),
    )


def _stop(table: Mapping[str, Any]) -> StopText:
    return StopText(
        name=table["name"],
        title=Text(**table["title"]),
        quote=Text(**table["quote"]),
        picture=Text(**table["picture"]),
        verdict=table["verdict"],
        truth=Text(**table["truth"]),
        command=table["command"],
        figures=tuple(
            FigureText(
                name,
                figure["unit"],
                Text(figure["en"], figure["zh"]),
                figure.get("claimed"),
                figure.get("show"),
            )
            for name, figure in table["figures"].items()
        ),
    )
