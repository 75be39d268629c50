"""Rows and headers of nccl-tests' tables, in every layout that was ever printed.

The columns are size, count, type, then reduction and root where the version has them, then per
side (out of place, in place) time, algbw, busbw and the check (``error``, later ``#wrong``; from
2.20 on four more about iterations). People add a column in front, cut columns out, and write
``1_048_576``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from artery.formats.syntax.prefixes import bare, untagged

_TYPE: Final = re.compile(
    r"(?:u?int(?:8|32|64)?|half|float|double|bfloat16|bf16|f8e4m3|f8e5m2|fp8_e4m3|fp8_e5m2|char)"
)
_NUMBER: Final = re.compile(
    r"-?(?:\d{1,20}(?:\.\d{0,12})?|\.\d{1,12})(?:[eE][+-]?\d{1,3})?|N/A|nan"
)
_SIZE: Final = re.compile(r"\d{1,3}(?:_\d{3}){0,6}|\d{1,19}|\d{1,5}(?:_\d{3}){1,5}")
_REDUCTION: Final = frozenset({"sum", "prod", "max", "min", "avg", "mulsum", "all", "none"})
_LARGEST: Final = 1e40
"""Cells beyond are no numbers; what is too large below that, is told as such."""

SMALL_ERROR: Final = 1e-2
"""Assumed: relative; rounding of half and bfloat16 stays below, wrong data does not."""


@dataclass(frozen=True, slots=True)
class Header:
    """What the column names said: the columns of one side, and which others there are."""

    per_side: tuple[str, ...]
    root: bool
    reduction: bool
    wrong: bool


def header_of(line: str) -> Header | None:
    """Return the columns if ``line`` names them."""
    words = untagged(bare(line))[:2000].replace("#wrong", " wrong").replace("#", " ").split()
    if "size" not in words[:4] or "time" not in words or "busbw" not in words:
        return None
    start = words.index("time")
    rest = words[start:]
    second = rest.index("time", 1) if rest.count("time") > 1 else len(rest)
    names = tuple(word for word in rest[:second] if word not in ("unalign", "stamp"))
    return Header(names, "root" in words, "redop" in words, "wrong" in words)


def row_of(line: str, header: Header | None) -> dict[str, Any] | None:
    """Return a row in SI units; ``None`` if ``line`` is none, or lacks cells.

    ``extra`` are numbers in front of the size (a count of nodes, say).
    """
    words = untagged(bare(line))[:2000].split()
    if not 4 <= len(words) <= 40 or words[0].startswith("#"):
        return None
    place = next((i for i, word in enumerate(words[:6]) if _TYPE.fullmatch(word)), None)
    if place is None:
        return _short_row(words)
    if place < 2 or not all(_SIZE.fullmatch(word) for word in words[:place]):
        return None
    rest = words[place + 1 :]
    reduction = rest.pop(0) if rest and rest[0] in _REDUCTION else None
    if not all(_NUMBER.fullmatch(word) for word in rest):
        return None
    has_root = header.root if header is not None else len(rest) % 2 == 1
    root = rest.pop(0) if has_root and len(rest) % 2 == 1 else None
    sides = _sides(rest, header)
    if sides is None:
        return None
    if reduction == "none":
        reduction = None
    return {
        "size_bytes": _whole(words[place - 2]),
        "count": _whole(words[place - 1]),
        "type": words[place],
        "reduction": reduction,
        "root": int(root) if root is not None and root.lstrip("-").isdecimal() else None,
        "out_of_place": sides[0],
        "in_place": sides[1] if len(sides) > 1 else None,
        "extra": [_whole(word) for word in words[: place - 2]],
        "nan": "nan" in rest,
    }


def _short_row(words: list[str]) -> dict[str, Any] | None:
    """Return a row cut down by hand to size, time, algbw and busbw."""
    if len(words) != 4 or not _SIZE.fullmatch(words[0]) or "." not in "".join(words[1:]):
        return None
    if not all(_NUMBER.fullmatch(word) for word in words[1:]):
        return None
    side = _side(words[1:])
    return {"size_bytes": _whole(words[0]), "count": None, "type": None, "reduction": None,
            "root": None, "out_of_place": side, "in_place": None, "extra": [],
            "nan": "nan" in words}  # fmt: skip


def _sides(cells: list[str], header: Header | None) -> list[dict[str, Any]] | None:
    """Return one or two sides; ``None`` where cells are missing."""
    width = len(header.per_side) if header is not None else 0
    for size in dict.fromkeys((width, 8, 4, 3)):
        for sides in (2, 1):
            if size >= 3 and 0 <= len(cells) - size * sides <= (2 if size > 4 else 0):
                return [_side(cells[size * one : size * (one + 1)]) for one in range(sides)]
    return None


def _side(cells: Sequence[str]) -> dict[str, Any]:
    time, algorithm, bus = (_value(cell) for cell in cells[:3])
    return {
        "time_s": None if time is None else time * 1e-6,
        "algbw_bytes_per_s": None if algorithm is None else algorithm * 1e9,
        "busbw_bytes_per_s": None if bus is None else bus * 1e9,
        "wrong": _value(cells[3]) if len(cells) > 3 else None,
    }


def _value(cell: str) -> float | None:
    if cell in ("N/A", "nan"):
        return None
    value = float(cell)
    return value if abs(value) < _LARGEST else None  # also infinity


def _whole(word: str) -> int:
    return int(word.replace("_", ""))


def is_wrong(side: dict[str, Any] | None, *, counted: bool) -> bool:
    """Whether the check of a side failed: elements counted, or a relative error that is large."""
    wrong = None if side is None else side["wrong"]
    return wrong is not None and wrong > (0 if counted else SMALL_ERROR)
