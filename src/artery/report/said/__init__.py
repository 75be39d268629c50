"""What other rooms say in English, said in Chinese: a table of sentences for each room.

Readers, rules and errors speak English, with figures and names in their lines. A table maps each
of their sentences, with ``{1}``, ``{2}``, ... for what differs, to the other language::

    "the log has {1} of {2} ranks" = "日志只含 {2} 个 rank 中的 {1} 个"

What stands in a slot is looked up in ``parts.toml``, whole or between commas. Sentences are tried
in order; what no table knows stays English.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Final, Literal

from artery.report.words import Language

Room = Literal["remarks", "summaries", "lint", "next", "errors", "diagnose", "facts"]
"""Whose sentences: remarks and summaries of readers, findings of lint, next steps, errors, what
diagnose asks for and refuses, and the facts by name."""

_SLOT: Final = re.compile(r"\{(\d)\}")
_LONGEST: Final = 2000
"""Characters of a line that is looked at."""


def said(line: str, language: Language, room: Room = "remarks") -> str:
    """Return a line of a room in ``language``; as it is where no sentence knows it.

    >>> said("the log has 2 of 16 ranks", "zh")
    '日志只含 16 个 rank 中的 2 个'
    >>> said("8 hosts on 3 switches (2 in tier 1, 1 in tier 2)", "zh", "summaries")
    '8 台主机，3 台交换机（第 1 层 2 台，第 2 层 1 台）'
    """
    if language == "en" or len(line) > _LONGEST:
        return line
    found = _found(line, room)
    if found is None:
        return _part(line) if room == "summaries" else line  # which may be a list of parts alone
    return found


def _found(line: str, table: str) -> str | None:
    for pattern, sentence in sentences(table):
        match = pattern.fullmatch(line)
        if match is not None:
            return _SLOT.sub(lambda slot, match=match: _part(match[f"s{slot[1]}"]), sentence)  # type: ignore[misc]
    return None


def _part(text: str) -> str:
    """Return what stands in a slot: a known part, or a list of such between commas."""
    pieces = text.split(", ")
    told = [_found(piece, "parts") for piece in pieces]
    if None in told and (found := _found(text, "parts")) is not None:
        return found
    if not any(told):
        return text
    return "，".join(one or piece for one, piece in zip(told, pieces, strict=True))


@cache
def sentences(table: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return every sentence of a table: how the English line looks, and the Chinese one."""
    text = (files("artery.report.said") / f"{table}.toml").read_text("utf-8")
    return tuple((_pattern(en), zh) for en, zh in tomllib.loads(text).items())


def _pattern(template: str) -> re.Pattern[str]:
    """Return a template as a pattern that is matched in one pass: a slot ends at the next text."""
    parts = _SLOT.split(template)
    texts, slots = parts[::2], parts[1::2]
    pattern = re.escape(texts[0])
    for index, slot in enumerate(slots):
        text = re.escape(texts[index + 1])
        last = index + 1 == len(slots)
        pattern += f"(?P<s{slot}>.*){text}" if last else f"(?>(?P<s{slot}>.*?){text})"
    return re.compile(pattern, re.DOTALL)
