"""JSON from strangers: with lines around it, limits on size, and numbers that stay numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from artery.errors import InputError, Problem
from artery.formats.syntax.numerals import BEYOND
from artery.formats.text import Text

LARGEST: Final = 64 * 2**20
"""Assumed: characters of JSON that are read at once; larger kinds are streamed."""


def json_of(text: Text) -> Any:  # noqa: ANN401 (JSON is any value)
    """Return the first JSON value in ``text``; lines before it are skipped.

    Numbers that are not finite, or beyond 10⁶⁰, become ``None``. Raises ``InputError``.
    """
    if len(text.content) > LARGEST:
        raise _refused(text, None, "a larger file", f"at most {LARGEST // 2**20} MiB of JSON")
    start = _start(text.content)
    decoder = json.JSONDecoder(parse_constant=lambda _: None, parse_float=_finite, strict=False)
    try:
        return decoder.raw_decode(text.content, start)[0]
    except json.JSONDecodeError as error:
        line = text.content.count("\n", 0, error.pos) + 1
        raise _refused(text, line, error.msg, "must be JSON") from None
    except (RecursionError, ValueError) as error:
        found = "brackets too deep" if isinstance(error, RecursionError) else "a number too long"
        raise _refused(text, None, found, "must be JSON of a reasonable depth") from None


def looks_like_json(text: Text) -> bool:
    """Whether a table or a list begins some line of the first ones."""
    start = _start(text.head)
    return start < len(text.head) and text.head[start] in "{["


def inside(value: object, *keys: str | int) -> Any:  # noqa: ANN401 (JSON is any value)
    """Return what stands in ``value`` under ``keys`` one inside the other; ``None`` if nothing.

    >>> inside({"a": [{"b": 1}]}, "a", 0, "b"), inside({"a": 3}, "a", "b")
    (1, None)
    """
    for key in keys:
        if isinstance(value, Mapping):
            value = value.get(key)
        elif isinstance(value, list) and isinstance(key, int) and 0 <= key < len(value):
            value = value[key]
        else:
            return None
    return value


def tables(value: object) -> list[dict[str, Any]]:
    """Return the tables in a list; a table by itself is a list of one."""
    listed = value if isinstance(value, list) else [value]
    return [one for one in listed if isinstance(one, dict)]


def _start(content: str) -> int:
    """Return where the first ``{`` or ``[`` at the beginning of a line stands."""
    position = 0
    while position < len(content):
        end = content.find("\n", position)
        end = len(content) if end < 0 else end
        line = content[position:end].lstrip()
        if line[:1] in {"{", "["}:
            return content.index(line[0], position)
        position = end + 1
    return len(content)


def _finite(literal: str) -> float | None:
    value = float(literal)
    return value if abs(value) < BEYOND else None


def _refused(text: Text, line: int | None, found: str, rule: str) -> InputError:
    fix = "send the file as the tool wrote it"
    return InputError(Problem(file=text.path, line=line, found=found, rule=rule, fix=fix))
