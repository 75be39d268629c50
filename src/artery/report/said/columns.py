"""Text in columns where a Chinese character is two columns wide, without a library.

Help pages are wrapped by this; they are shown before anything is loaded that could do it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import groupby
from typing import Final

_WIDE: Final = ("W", "F")
_CLOSING: Final = "，。；：、！？）」』》】”’…)],;!?"
"""What does not begin a line."""
_OPENING: Final = "（「『《【“‘(["
"""What does not end a line."""
_PIECE: Final = re.compile(r"\s+|\[[^\[\]]*\]|[^\s“”‘’…]+(?: %)?|\S")
"""Spaces, what stands in brackets, characters without a space, or one mark. No set of all Chinese
characters stands in it: to compile one takes longer than to lay out a page."""


def width(text: str) -> int:
    """Return how many columns a text takes.

    >>> width("步长 8"), width("step 8")
    (6, 6)
    """
    return sum(2 if _is_wide(one) else 1 for one in text)


def _is_wide(character: str) -> bool:
    return unicodedata.east_asian_width(character) in _WIDE


def padded(text: str, columns: int) -> str:
    """Return a text with spaces behind it, up to so many columns."""
    return text + " " * (columns - width(text))


def wrapped(text: str, columns: int) -> list[str]:
    """Return the lines of a text that is broken at spaces and between Chinese characters.

    No line begins with a closing mark or ends with an opening one; a word that is longer than a
    line is cut.

    >>> wrapped("把答案写入文件（- 为标准输出）。", 16)
    ['把答案写入文件', '（- 为标准输', '出）。']
    """
    lines: list[str] = []
    line = ""
    for piece in _pieces(text, columns):
        if line and width((line + piece).rstrip()) > columns:
            lines.append(line.rstrip())
            line = ""
        line += piece if line else piece.lstrip()
    return [*lines, line.rstrip()] if line.strip() else lines


def _pieces(text: str, columns: int) -> Iterator[str]:
    """Yield what stays together, each piece at most a line long."""
    held = ""
    for piece in _runs(text):
        joins = held and (piece[0] in _CLOSING or held[-1] in _OPENING)
        if held and not joins:
            yield from _cut(held, columns)
            held = ""
        held += piece
    yield from _cut(held, columns)


def _runs(text: str) -> Iterator[str]:
    """Yield spaces, what stands in brackets, words of narrow characters, and wide characters."""
    for piece in _PIECE.findall(text):
        if piece.startswith("[") and piece.endswith("]"):
            yield piece
            continue
        for wide, run in groupby(piece, _is_wide):
            characters = "".join(run)
            yield from characters if wide else (characters,)


def _cut(piece: str, columns: int) -> Iterator[str]:
    while width(piece) > columns:
        size = next(n for n in range(len(piece), 0, -1) if width(piece[:n]) <= columns)
        yield piece[:size]
        piece = piece[size:]
    yield piece
