"""Numbers in foreign files, which may be missing, enormous, or no numbers at all."""

from __future__ import annotations

import re
from typing import Final

_WHOLE: Final = re.compile(r"[+-]?\d{1,18}")
_NUMBER: Final = re.compile(r"[+-]?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][+-]?\d{1,3})?")
_LARGEST: Final = 10**18
BEYOND: Final = 1e60
"""Larger numbers are none: no unit that is put on a smaller one makes it infinite."""


def whole(value: object) -> int | None:
    """Return ``value`` as a whole number; ``None`` if it is none, or beyond 10¹⁸.

    >>> whole(" 1_024 "), whole("12.5"), whole(True), whole(8.0)
    (1024, None, None, 8)
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, float):
        value = int(value) if value.is_integer() and abs(value) <= _LARGEST else None
    if isinstance(value, int):
        return value if abs(value) <= _LARGEST else None
    if not isinstance(value, str):
        return None
    text = value.strip().replace("_", "").replace(",", "")
    return int(text) if _WHOLE.fullmatch(text) else None


def number(value: object) -> float | None:
    """Return ``value`` as a number below 10⁶⁰, or ``None``.

    >>> number("1.5e3"), number("nan"), number(3), number("tbd")
    (1500.0, None, 3.0, None)
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str):
        text = value
        if not _NUMBER.fullmatch(text):
            text = value.strip().replace("_", "").replace(",", "")
        value = float(text) if _NUMBER.fullmatch(text) else None
    if not isinstance(value, (int, float)):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if abs(found) < BEYOND else None  # also infinity and nan
