"""Reads a user's TOML, YAML or JSON file into plain tables, and knows where each value stands.

YAML is 1.2 (``no`` is a string, ``1e9`` a number). JSON is read as YAML, of which it is a part.
Whatever is wrong with the text is an :class:`artery.errors.InputError` with line and column.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from artery.catalog.sourced import Path
from artery.errors import InputError, Problem
from artery.places import is_folder

LARGEST_FILE = 250_000
"""Bytes. Assumed: fifty times a long system file, so that more is the wrong file. The YAML reader
takes about 20 s for a megabyte."""

DEEPEST = 50
"""Brackets inside each other. Assumed: a system file has five; readers recurse and break."""

MOST_VALUES = 100_000
"""Assumed likewise; it also stops YAML references that unfold without end."""

SUFFIXES = (".toml", ".yaml", ".yml", ".json")

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Document:
    """The tables of one file; ``places`` gives line and column (from 1) by path."""

    file: str
    values: dict[str, Any]
    places: dict[Path, Place] = field(default_factory=dict)

    def place(self, path: Path) -> tuple[int | None, int | None]:
        """Return line and column of ``path``, or of the nearest table around it."""
        while path and path not in self.places:
            path = path[:-1]
        return self.places.get(path, (None, None))


def read_document(file: str) -> Document:
    """Return the document in ``file``, whose suffix says what it is written in."""
    text = _text(file)
    if not text.strip():
        raise _broken(file, "the file is empty", "must describe one thing", _SEE_SCHEMA)
    suffix = FilePath(file).suffix.lower()
    if suffix not in SUFFIXES:
        rule = f"the name must end in {', '.join(SUFFIXES)}"
        raise _broken(file, f'"{suffix or FilePath(file).name}"', rule, "rename the file")
    if _depth(text) > DEEPEST:
        raise _too_deep(file)
    try:
        return _toml(file, text) if suffix == ".toml" else _yaml(file, text)
    except RecursionError:
        raise _too_deep(file) from None


def _depth(text: str) -> int:
    """Return how deep brackets are nested in ``text``, those in quotes counted too."""
    depth = deepest = 0
    for bracket in re.findall(r"[\[\]{}]", text):
        depth = depth + 1 if bracket in "[{" else max(depth - 1, 0)
        deepest = max(deepest, depth)
    return deepest


def _too_deep(file: str) -> InputError:
    rule = f"at most {DEEPEST} brackets may stand inside each other"
    return _broken(file, "endless nesting", rule, "write it flat")


_SEE_SCHEMA = "`artery catalog schema chip` (or link, system) prints what belongs in it"


def _broken(
    file: str, found: str, rule: str, fix: str, place: Place | tuple[None, None] = (None, None)
) -> InputError:
    line, column = place
    return InputError(Problem(file=file, line=line, column=column, found=found, rule=rule, fix=fix))


def _text(file: str) -> str:
    """Return the text of ``file``: UTF-8, with or without a byte order mark."""
    path = FilePath(file)
    try:
        if is_folder(path):
            raise _broken(file, "a folder", "must be a file", "name the file inside it")
        with path.open("rb") as stream:
            raw = stream.read(LARGEST_FILE + 1)  # not by its size: a device has none
    except FileNotFoundError:
        rule = "no such file"
        raise _broken(file, f'"{file}"', rule, "check the path, or give a catalog name") from None
    except (OSError, ValueError) as error:
        found = getattr(error, "strerror", None) or str(error)
        raise _broken(file, found, "the file must be readable", "check the path") from None
    if len(raw) > LARGEST_FILE:
        rule = f"must be at most {LARGEST_FILE:,} bytes"
        raise _broken(file, f"over {LARGEST_FILE:,} bytes", rule, "is it the right file?")
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise _broken(file, "UTF-16 text", "must be UTF-8", "save the file as UTF-8")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        found = f"a byte that is no UTF-8 at offset {error.start}"
        raise _broken(file, found, "must be UTF-8 text", "is it the right file?") from None
    if "\0" in text:
        raise _broken(file, "binary data", "must be text", "is it the right file?")
    return text


def _toml(file: str, text: str) -> Document:
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        where = re.search(r"\(at line (\d+), column (\d+)\)", message)
        place = (int(where[1]), int(where[2])) if where else _end(text)
        found = message.partition(" (at ")[0].removesuffix(".").lower()
        repeated = found.startswith("cannot overwrite")
        fix = "each key stands once" if repeated else "correct the line; strings stand in quotes"
        raise _broken(file, found, "must be valid TOML", fix, place) from None
    except ValueError as error:
        raise _broken(file, str(error), "must be valid TOML", "correct the value") from None
    return Document(file, values, _toml_places(text))


def _end(text: str) -> Place:
    lines = text.splitlines()
    return len(lines), len(lines[-1]) + 1


_HEADER = re.compile(r"\s*(\[\[?)\s*([^\]]+?)\s*\]")
_KEY = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")
_KEY_PART = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")


def _toml_places(text: str) -> dict[Path, Place]:
    """Return where each key of a valid TOML text stands, inline tables as a whole.

    tomllib keeps no positions, so headers and keys are found again line by line.
    """
    places: dict[Path, Place] = {}
    arrays: dict[Path, int] = {}
    table: Path = ()
    for number, line in enumerate(text.splitlines(), start=1):
        header = _HEADER.match(line)
        key = _KEY.match(line)
        if header:
            table = _table_path(_parts(header[2]), header[1] == "[[", arrays)
            places[table] = (number, header.start(2) + 1)
        elif key:
            parts = _parts(key[1])
            for length in range(1, len(parts) + 1):
                places.setdefault((*table, *parts[:length]), (number, key.start(1) + 1))
    return places


def _parts(key: str) -> tuple[str, ...]:
    return tuple(part.strip("\"'") for part in _KEY_PART.findall(key))


def _table_path(parts: tuple[str, ...], is_array: bool, arrays: dict[Path, int]) -> Path:
    """Return the path of a table header, with the index of each array of tables on the way."""
    path: Path = ()
    for position, part in enumerate(parts):
        path = (*path, part)
        if is_array and position == len(parts) - 1:
            arrays[path] = arrays.get(path, -1) + 1
        if path in arrays:
            path = (*path, arrays[path])
    return path


def _yaml(file: str, text: str) -> Document:
    from ruamel.yaml import YAML
    from ruamel.yaml.constructor import DuplicateKeyError
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        root = YAML(typ="rt", pure=True).load(text)
    except DuplicateKeyError as error:
        name = re.search(r'found duplicate key "(.*?)"', str(error))
        found = f'"{name[1]}" a second time' if name else "a key a second time"
        place = _mark(error.problem_mark)
        raise _broken(file, found, "each key stands once", "remove one", place) from None
    except MarkedYAMLError as error:
        place = _mark(error.problem_mark or error.context_mark)
        raise _broken(file, *_yaml_problem(error.problem or "broken text"), place) from None
    except (YAMLError, ValueError) as error:
        found = str(error).splitlines()[0]
        raise _broken(file, found, "must be valid YAML", "correct the line") from None
    if not isinstance(root, Mapping):
        found = "a list" if isinstance(root, list) else "a single value"
        raise _broken(file, found, "must be a table of keys and values", _SEE_SCHEMA)
    plain = _Plain(file)
    values = plain.table(root, ())
    return Document(file, values, plain.places)


def _mark(mark: Any) -> Place | tuple[None, None]:  # noqa: ANN401 - ruamel's mark
    return (mark.line + 1, mark.column + 1) if mark is not None else (None, None)


def _yaml_problem(problem: str) -> tuple[str, str, str]:
    """Return what was found, the rule and the fix for a complaint of the YAML reader."""
    if "'\\t'" in problem:
        return "a tab", "YAML is indented with spaces", "replace the tab by spaces"
    if "expected a single document" in problem or "another document" in problem:
        return "a second document", "one file describes one thing", "remove what follows ---"
    return problem, "must be valid YAML", "correct the line"


class _Plain:
    """Turns ruamel's containers and scalars into Python's own and notes where they stood."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.places: dict[Path, Place] = {}
        self.seen = 0

    def table(self, value: Any, path: Path) -> dict[str, Any]:  # noqa: ANN401 - ruamel's
        """Return a mapping as a dictionary."""
        result = {}
        for key, part in value.items():
            name = str(key)
            if key in value.lc.data:
                line, column = value.lc.key(key)
                self.places[*path, name] = (line + 1, column + 1)
            result[name] = self.plain(part, (*path, name))
        return result

    def plain(self, value: Any, path: Path) -> Any:  # noqa: ANN401 - ruamel's
        """Return any value of a document as Python's own."""
        self.seen += 1
        if self.seen > MOST_VALUES:
            rule = f"must hold at most {MOST_VALUES:,} values"
            raise _broken(self.file, "more values", rule, "remove references that unfold")
        if isinstance(value, Mapping):
            return self.table(value, path)
        if isinstance(value, list):
            return [self.plain(part, (*path, index)) for index, part in enumerate(value)]
        for kind in (bool, int, float, str):
            if isinstance(value, kind):
                return kind(value)
        return value
