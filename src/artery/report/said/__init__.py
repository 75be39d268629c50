"""What other rooms say in English, said in Chinese: a table of sentences for each room.

Readers, rules and errors speak English, with figures and names in their lines. A table maps each
of their sentences, with ``{1}``, ``{2}``, ... for what differs, to the other language::

    "the log has {1} of {2} ranks" = "日志只含 {2} 个 rank 中的 {1} 个"

What stands in a slot is looked up in ``parts.toml``, whole or between commas. Names stay as they
are: ``{1=}`` takes a slot over unread. ``{1:errors}`` looks it up in the table of that name. A
large table is a folder of files, one for each subject. The sentence with the most text of its own
is tried first; what no table knows stays English.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final, Literal

from artery.report.words import Language

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from importlib.resources.abc import Traversable

Room = Literal[
    "remarks", "summaries", "lint", "next", "errors", "diagnose", "facts", "warnings", "evidence",
    "doctor", "terms",
]  # fmt: skip
"""Whose sentences: remarks and summaries of readers, findings of lint, next steps, errors, what
diagnose asks for and refuses, the facts by name, what answers warn of, what lines of a cabling show
of a fault, what doctor found, and formulas and sources of terms."""

_SLOT: Final = re.compile(r"\{(\d)\}")
_FILLED: Final = re.compile(r"\{(\d)(=|:\w+)?\}")
_EDGE: Final = "\x00"
"""What stands at both ends of a slot until the sentence is whole."""
_SPACE: Final = f"(?<=[\u4e00-\u9fff）])(?: {_EDGE}|{_EDGE} )(?=[\u4e00-\u9fff（])"
"""The space beside a slot, which Chinese needs beside figures and names only; compiled when it is
first met, for that takes longer than to read the tables of a help page."""
_NAMED: Final = re.compile(r"\{(\d)=\}")
_PHRASE: Final = re.compile(r"^[^\"'`(]*[a-z]{2,} [a-z]{2,} [a-z]{2,}")
"""Words in a row, before anything is quoted: no name."""
_LITTLE: Final = 10
"""What a sentence weighs at most that is little more than a word between names."""
_CHANCE: Final = 9
"""Characters between two slots that do not come twice in a line of one sentence."""
_LONGEST: Final = 2000
"""Characters of a line that is looked at."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence in English with its slots, and in Chinese.

    ``start`` is what it begins with before its first slot; ``weight`` how many characters it says
    itself, those at its start twice: the more, the surer it is meant.
    """

    english: str
    chinese: str
    start: str
    weight: int

    @classmethod
    def of(cls, english: str, chinese: str) -> Sentence:
        """Return the sentence of a line of a table."""
        own = _SLOT.split(english)[::2]
        return cls(english, chinese, own[0], sum(map(len, own)) + len(own[0]))

    def match(self, line: str) -> re.Match[str] | None:
        """Return how a line fills the slots, or ``None`` if it is another sentence.

        A flag, as in ``--engine messages``, fills no slot of a sentence that says little. No slot
        holds the sentence's own words again, but one that is looked up among errors: then the line
        is several such in a row.
        """
        flag = line.startswith("--") and not self.start and self.weight < _SURE
        if flag or not line.startswith(self.start):
            return None
        found = _pattern(self.english).fullmatch(line)
        return found if found is not None and self._is_meant(found) else None

    def _is_meant(self, found: re.Match[str]) -> bool:
        """Return whether what fills the slots may be the names and figures of this sentence.

        A sentence that says little is not one around other sentences. What somebody typed stands
        in quotation marks, and no slot holds one of the two.
        """
        if any(text.count('"') % 2 for text in found.groupdict().values()):
            return False
        named = set(_NAMED.findall(self.chinese)) if self.weight < _LITTLE else set()
        again = () if ":errors}" in self.chinese else _words_of(self.english)
        return not any(
            any(own in text for own in again) or (slot[1:] in named and _PHRASE.search(text))
            for slot, text in found.groupdict().items()
        )


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
        return _part(line) if room == "summaries" else _listed(line)  # a list of parts alone
    return found


def warned(lines: Iterable[str], language: Language) -> tuple[str, ...]:
    """Return what an answer warns of in ``language``; it may repeat what a reader remarked.

    >>> warned(["the plan given does not fit in memory"], "zh")
    ('给定的方案放不下',)
    """
    if language == "en":
        return tuple(lines)
    return tuple(_found(line, "warnings") or said(line, language) for line in lines)


def refused(text: str, language: Language) -> str:
    """Return the whole text of an error in ``language``: its problems, each with its parts.

    >>> refused('policy "fast", no policy of that name is known, known: fifo, tiresias', "zh")
    '策略 "fast"，不认识叫这个名字的策略，已知：fifo, tiresias'
    """
    if language == "en":
        return text
    if "\n" in text:
        return "\n".join(refused(line, language) for line in text.split("\n"))
    whole = _found(text, "errors", _SURE)
    if whole is not None:
        return whole
    for between, chinese in _PIECES:
        if between in text:
            return chinese.join(refused(one, language) for one in text.split(between))
    return "，".join(_parted(text.split(", ")))


_PIECES: Final = (("; ", "；"), ("  ", "  "))
"""What stands between the problems of an error, and between the place of one and its words."""
_WORD: Final = re.compile(r"^[^\"']*\b[a-z]{2,} ")
_LAST: Final = ("known: ", "did you mean ", "for example ", "one of ", "choose one of ")
"""How the last part of a problem begins that holds a list of names."""
_SURE: Final = 16
"""What a sentence must weigh to be meant by a whole error, commas and all."""


def _parted(pieces: list[str]) -> Iterator[str]:
    """Yield the sentences that pieces between commas make up.

    The longest that stands so in the table, or else the shortest that fills one with slots.
    """
    while pieces:
        if pieces[0].startswith(_LAST):
            pieces = [", ".join(pieces)]
        told, count = _next(pieces)
        yield told
        pieces = pieces[count:]


def _next(pieces: list[str]) -> tuple[str, int]:
    """Return what the first pieces say, and how many they are."""
    counts = range(1, len(pieces) + 1)
    for count in reversed(counts):
        whole = verbatim("errors").get(", ".join(pieces[:count]))
        if whole is not None:
            return whole, count
    if not _WORD.search(pieces[0]) and len(pieces) > 1:
        return pieces[0], 1  # a name, or what was typed
    for count in counts:
        told = _found(", ".join(pieces[:count]), "errors")
        if told is not None:
            return told, count
    return _listed(pieces[0]), 1


@cache
def _words_of(template: str) -> tuple[str, ...]:
    """Return what stands between two slots of a template and is too long to be met by chance."""
    return tuple(own for own in _SLOT.split(template)[2:-1:2] if len(own) >= _CHANCE)


@cache
def verbatim(table: str) -> dict[str, str]:
    """Return the sentences of a table that have no slots, by their English."""
    return {en: zh for en, zh in _rows(table) if "{" not in en}


def _found(line: str, table: str, least: int = 0) -> str | None:
    for sentence in sentences(table):
        if sentence.weight < least:
            break
        match = sentence.match(line)
        if match is not None:
            told = _FILLED.sub(
                lambda slot, match=match: (  # type: ignore[misc]
                    _EDGE + _filled(match[f"s{slot[1]}"], slot[2]) + _EDGE
                ),
                sentence.chinese,
            )
            return re.sub(_SPACE, "", told).replace(_EDGE, "")
    return None


def _filled(text: str, how: str | None) -> str:
    """Return what stands in a slot, looked up as its mark says."""
    if how is None:
        return _part(text)
    if how == "=":
        return _listed(text)
    return refused(text, "zh") if how == ":errors" else _found(text, how[1:]) or _listed(text)


_NAMES: Final = re.compile(r"(?:'[^']*'|[^\s,]+)(?:, (?:'[^']*'|[^\s,]+))*")
_JOINED: Final = ((" and ", " 与 "), (" or ", " 或 "))


def _listed(text: str) -> str:
    """Return names joined by one word, as in ``'a', 'b' or 'c'``, with the Chinese word."""
    for english, chinese in _JOINED:
        pieces = text.split(english)
        if len(pieces) > 1 and all(map(_NAMES.fullmatch, pieces)):
            return chinese.join(pieces)
    return text


def _part(text: str) -> str:
    """Return what stands in a slot: a known part, or a list of such between commas."""
    pieces = text.split(", ")
    told = [_found(piece, "parts") for piece in pieces]
    if None in told and (found := _found(text, "parts")) is not None:
        return found
    if not any(told):
        return _listed(text)
    return "，".join(one or piece for one, piece in zip(told, pieces, strict=True))


@cache
def sentences(table: str) -> tuple[Sentence, ...]:
    """Return every sentence of a table, what says most by itself first."""
    read = [Sentence.of(en, zh) for en, zh in _rows(table)]
    return tuple(sorted(read, key=lambda sentence: -sentence.weight))


def _rows(table: str) -> Iterator[tuple[str, str]]:
    for text in _texts(table):
        yield from tomllib.loads(text).items()


def _texts(table: str) -> Iterator[str]:
    """Yield the text of ``TABLE.toml``, or of every file in the folder ``TABLE``."""
    place: Traversable = files("artery.report.said") / f"{table}.toml"
    if place.is_file():
        yield place.read_text("utf-8")
        return
    folder = files("artery.report.said") / table
    for file in sorted(folder.iterdir(), key=lambda one: one.name):
        yield file.read_text("utf-8")


@cache
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
