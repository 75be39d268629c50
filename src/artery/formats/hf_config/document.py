"""The text of a ``config.json``: found, read, checked as JSON, and every key's place in it."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import Any

from artery.errors import InputError, Problem
from artery.formats.waiting import told
from artery.places import is_folder

Path_ = tuple[str, ...]
"""Where a value stands: the keys from the root down."""

LARGEST_FILE = 16 * 2**20
"""Bytes; the largest configurations in the wild have some 100 KB."""

STDIN = "<stdin>"

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')


@dataclass(frozen=True, slots=True)
class Place:
    """A line and a column, both from 1."""

    line: int
    column: int


@dataclass(frozen=True)
class Document:
    """The parsed table of a configuration and the text that it came from."""

    file: str
    text: str = field(repr=False)
    table: dict[str, Any]

    @cached_property
    def places(self) -> dict[Path_, Place]:
        """The place of every key, read only when something has to be reported."""
        return dict(_places(self.text))

    def problem(self, path: Path_, found: str, rule: str, fix: str) -> Problem:
        """Return a problem of the value at ``path``, placed at its key or at its table's."""
        known = next((self.places[p] for p in _upwards(path) if p in self.places), Place(1, 1))
        return Problem(
            file=self.file,
            line=known.line,
            column=known.column,
            field=".".join(path),
            found=found,
            rule=rule,
            fix=fix,
        )


def load(source: str | Path) -> Document:
    """Return the document of a file, of a folder's ``config.json``, or of stdin (``-``).

    Raises :class:`artery.errors.InputError` if it cannot be read or is no JSON table.
    """
    if str(source) == "-":
        with told("-"):
            return parse(_decode(sys.stdin.buffer.read(LARGEST_FILE + 1), STDIN), STDIN)
    file = str(source)
    if is_folder(file):
        file = os.path.join(file, "config.json")  # noqa: PTH118 (a Path would drop the "./")
    try:
        with told(file), Path(file).open("rb") as stream:
            content = stream.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(
            Problem(
                file=file,
                found=f"the file cannot be read ({reason})",
                rule="a model is a catalog name, a config.json, or a folder that holds one",
                fix="check the path; `artery catalog list models` lists the names",
            )
        ) from None
    return parse(_decode(content, file), file)


def parse(text: str, file: str) -> Document:
    """Return the document of ``text``; ``file`` is the name used in messages."""
    if not text.strip():
        raise InputError(_whole(file, "an empty file", "give a config.json with its content"))
    try:
        table = json.loads(text, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        raise InputError(_syntax(file, error)) from None
    except _DuplicateKeyError as error:
        raise InputError(_duplicate(file, text, str(error))) from None
    except (RecursionError, ValueError):
        found = "brackets too deep or a number too long"
        raise InputError(_whole(file, found, "check the file for damage")) from None
    if not isinstance(table, dict):
        kind = _kind(table)
        raise InputError(_whole(file, f"{kind} at the top", "put the keys of the model in { }"))
    return Document(file, text, table)


def _decode(content: bytes, file: str) -> str:
    """Return the bytes as text; a byte order mark is dropped."""
    if len(content) > LARGEST_FILE:
        found = f"more than {LARGEST_FILE // 2**20} MiB"
        raise InputError(_whole(file, found, "give the model's config.json, not its weights"))
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(_whole(file, "UTF-16 text", "save the file as UTF-8"))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        found = f"a byte that is not UTF-8 at offset {error.start}"
        raise InputError(_whole(file, found, "give a text file; is it a weight file?")) from None


def _whole(file: str, found: str, fix: str) -> Problem:
    return Problem(
        file=file, line=1, column=1, found=found, rule="a configuration is one JSON table", fix=fix
    )


def _syntax(file: str, error: json.JSONDecodeError) -> Problem:
    return Problem(
        file=file,
        line=error.lineno,
        column=error.colno,
        found=f"broken JSON: {error.msg[:1].lower()}{error.msg[1:]}",
        rule="a configuration is one JSON table",
        fix="look for a missing comma, quote or bracket at that place",
    )


def _duplicate(file: str, text: str, key: str) -> Problem:
    """Return the problem of a key that stands twice in one table, placed at its second place."""
    seen: set[Path_] = set()
    place = Place(1, 1)
    for path, found in _places(text):
        if path in seen and path[-1] == key:
            place = found
            break
        seen.add(path)
    return Problem(
        file=file,
        line=place.line,
        column=place.column,
        field=key,
        found="the key stands twice in one table",
        rule="a key stands once",
        fix="remove one of the two",
    )


class _DuplicateKeyError(Exception):
    """A key stands twice in one table."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the pairs as a table, refusing a key that stands twice."""
    table: dict[str, Any] = {}
    for key, value in pairs:
        if key in table:
            raise _DuplicateKeyError(key)
        table[key] = value
    return table


def _kind(value: object) -> str:
    """Return what a JSON value is, in words."""
    names = {bool: "true or false", int: "a number", float: "a number", str: "a text"}
    return names.get(type(value), "a list" if isinstance(value, list) else "null")


def _upwards(path: Path_) -> Iterator[Path_]:
    """Yield ``path``, then the tables that it stands in, innermost first."""
    for length in range(len(path), 0, -1):
        yield path[:length]


def _places(text: str) -> Iterator[tuple[Path_, Place]]:
    """Yield the path and the place of every key of the tables in (sound JSON) ``text``.

    What stands inside lists is not followed: no configuration has its shape there.
    """
    inside: list[str] = []  # the keys of the open tables, "[" for an open list
    key = ""
    for token, following, place in _tokens(text):
        if token == "{":
            inside.append(key)
        elif token == "[":
            inside.append(token)
        elif token in "}]":
            del inside[-1:]
        elif token[0] == '"' and following == ":" and "[" not in inside:
            key = json.loads(token, strict=False)
            yield (*inside[1:], key), place


def _tokens(text: str) -> Iterator[tuple[str, str, Place]]:
    """Yield every token with the one after it and its place."""
    found = list(_TOKEN.finditer(text))
    line, start, last = 1, 0, 0
    for token, following in zip_longest(found, found[1:]):
        newlines = text.count("\n", last, token.start())
        if newlines:
            line, start = line + newlines, text.rindex("\n", last, token.start()) + 1
        last = token.start()
        place = Place(line, last - start + 1)
        yield token.group(), following.group() if following else "", place
