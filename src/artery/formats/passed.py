"""What a reader passed over, as :class:`artery.formats.reading.Ignored`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from artery.formats.reading import Ignored
from artery.formats.syntax.prefixes import bare
from artery.formats.text import Text

MOST: int = 20
"""Runs of ignored lines that are listed one by one; the rest is one entry."""


def passed_over(
    text: Text,
    used: Collection[int],
    known: re.Pattern[str] | None = None,
    why: str = "not part of it",
) -> tuple[Ignored, ...]:
    """Return the runs of lines that are neither blank, nor in ``used`` (from 1), nor ``known``."""
    lines = enumerate(text.lines, 1)
    left = (
        number
        for number, line in lines
        if number not in used and line.strip() and not (known and known.match(bare(line)))
    )
    return runs(left, why)


def runs(numbers: Iterable[int], why: str) -> tuple[Ignored, ...]:
    """Return ascending line numbers as runs, at most ``MOST`` and the rest together."""
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][0] + found[-1][1]:
            found[-1][1] += 1
        elif len(found) <= MOST:
            found.append([number, 1])
        else:
            found[-1][1] += 1
    return tuple(Ignored(line, count, why) for line, count in found)
