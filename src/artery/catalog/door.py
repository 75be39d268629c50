"""The door for what a user gives: files of their own, and overrides of single values.

Nothing comes past it unchecked, and everything that is wrong is said at once, with its place.
pydantic is imported here and nowhere else in this room.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, TypeVar

from artery.catalog.loader import bibliography, over_base
from artery.catalog.overrides import ORIGIN, apply_overrides
from artery.catalog.sourced import Path, Sourced, dotted, leaves, separate
from artery.catalog.structure import example, keys
from artery.catalog.syntax import SUFFIXES, Document, read_document
from artery.core.source import Source
from artery.errors import InputError, Problem, did_you_mean, nearest

if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from pydantic_core import ErrorDetails

T = TypeVar("T")


def is_path(name: str) -> bool:
    """Whether ``name`` is a path to a file rather than a name in the catalog."""
    return "/" in name or "\\" in name or name.lower().endswith(SUFFIXES)


def read(file: str, schema: type[T], kind: str) -> tuple[T, Sourced]:
    """Return what the user's ``file`` describes, checked against ``schema``, and its sources.

    ``kind`` (``"chips"``) says which shipped entries its ``base`` may name. A value without a
    source of its own has the file as its source. Raises :class:`artery.errors.InputError` with
    every problem of the file.
    """
    document = read_document(file)
    own = Source(f"the file {file}", _month_of_change(file), "recalled")
    try:
        described = separate(document.values, own, bibliography())
        described.values.setdefault("name", FilePath(file).stem)
        described.values.setdefault("title", described.values["name"])
        sourced = over_base(kind, described)
    except InputError as error:
        raise InputError(_placed(problem, document) for problem in error.problems) from None
    return check(schema, sourced.values, document), sourced


def revise(schema: type[T], sourced: Sourced, overrides: Sequence[str]) -> tuple[T, Sourced]:
    """Return the table and its sources with ``overrides`` (``path=value``) laid over them.

    Raises :class:`artery.errors.InputError` for a path that the schema does not have, a value
    that does not fit, or a text that is no ``path=value``.
    """
    laid = apply_overrides(sourced.values, overrides)
    kept = {
        path: sourced.sources[path] for path, _ in leaves(laid.values) if path in sourced.sources
    }
    table = check(schema, laid.values, Document(ORIGIN, laid.values))
    return table, Sourced(laid.values, kept | laid.sources)


def check(schema: type[T], values: dict[str, Any], document: Document) -> T:
    """Return ``schema`` filled from ``values``, or raise with all problems and their places."""
    from pydantic import ValidationError

    from artery.catalog.checks import complaints, of_any

    try:
        table = _adapter(schema).validate_python(values)
    except ValidationError as error:
        problems = [_reworded(detail, schema) for detail in error.errors()]
        raise InputError(_placed(problem, document) for problem in problems) from None
    found = [
        Problem(field=dotted(one.path), found=one.found, rule=one.rule, fix=one.fix)
        for one in (*of_any(table, values), *complaints(table))
    ]
    if found:
        raise InputError(_placed(problem, document) for problem in found)
    return table


def json_schema(schema: type) -> dict[str, Any]:
    """Return the JSON Schema of a file: any value may also be a pair with its source's name."""
    described: dict[str, Any] = _adapter(schema).json_schema()
    for table in (described, *described.get("$defs", {}).values()):
        table["properties"] = {
            key: _with_source(value) for key, value in table.get("properties", {}).items()
        }
        table["properties"]["source"] = {
            "type": "string",
            "description": "name of the source of every value in this table",
        }
    described["properties"]["base"] = {
        "type": "string",
        "description": "catalog entry of the same kind to start from; say only what differs",
    }
    described["properties"]["sources"] = _SOURCES
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **described}


_SOURCES = {
    "type": "object",
    "description": "the documents that values come from, by a name of your choice",
    "additionalProperties": {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "as_of": {"type": "string", "examples": ["2024-05"]},
            "confidence": {"enum": ["datasheet", "measured", "recalled", "assumed"]},
        },
        "required": ["text", "as_of", "confidence"],
        "additionalProperties": False,
    },
}


def _with_source(value: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of a value that may also be a pair with the name of its source."""
    if "$ref" in value or value.get("type") in ("object", "array"):
        return value
    bare = {key: part for key, part in value.items() if key not in ("title", "default")}
    pair = {"type": "array", "prefixItems": [bare, {"type": "string"}], "minItems": 2}
    kept: dict[str, Any] = {key: value[key] for key in ("title", "default") if key in value}
    return kept | {"anyOf": [bare, {**pair, "maxItems": 2}]}


def _adapter(schema: type[T]) -> TypeAdapter[T]:
    from pydantic import TypeAdapter

    return TypeAdapter(schema)


def _month_of_change(file: str) -> str:
    """Return the month of the file's last change, ``YYYY-MM``."""
    return datetime.fromtimestamp(FilePath(file).stat().st_mtime, UTC).strftime("%Y-%m")


def _reworded(detail: ErrorDetails, schema: type) -> Problem:
    """Return one of pydantic's errors in our own words, still without its place."""
    path = tuple(detail["loc"])
    found, rule, fix = _words(detail, schema, path)
    return Problem(field=dotted(path), found=found, rule=rule, fix=fix)


def _words(detail: ErrorDetails, schema: type, path: Path) -> tuple[str, str, str]:
    """Return what was found, the rule and the fix."""
    value, kind = detail.get("input"), detail["type"]
    if kind == "missing":
        return "nothing", "required", example(schema, path)
    if kind == "unexpected_keyword_argument":
        known = keys(schema, path[:-1])
        near = did_you_mean(nearest(str(path[-1]), known))
        return "unknown field", "", near or f"the fields here are {', '.join(known)}"
    if kind == "quantity":
        words = detail["ctx"]
        return words["found"], words["rule"], _undescribed(value) or words["fix"]
    if kind.startswith(("dataclass", "mapping", "dict")):
        known = keys(schema, path)
        return _shown(value), "expected a table", f"with {', '.join(known)}" if known else ""
    rule = _EXPECTED.get(kind) or detail["msg"][:1].lower() + detail["msg"][1:]
    return _shown(value), rule, _undescribed(value)


_EXPECTED = {
    "int_type": "expected a whole number",
    "int_parsing": "expected a whole number",
    "int_from_float": "expected a whole number",
    "string_type": "expected a text in quotes",
}
"""Our words for pydantic's kinds of errors."""


def _shown(value: object) -> str:
    text = f'"{value}"' if isinstance(value, str) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _undescribed(value: object) -> str:
    """Return the fix for a pair whose source is not described; empty for anything else."""
    if isinstance(value, list) and len(value) == 2 and isinstance(value[1], str):
        return f'describe "{value[1]}" in [sources], or give the value alone'
    return ""


def _placed(problem: Problem, document: Document) -> Problem:
    """Return ``problem`` with the file, line and column of its field."""
    line, column = document.place(_path(problem.field or ""))
    return replace(problem, file=document.file, line=line, column=column)


def _path(field: str) -> Path:
    """Return the path that :func:`dotted` wrote."""
    return tuple(_path_parts(field))


def _path_parts(field: str) -> Iterator[str | int]:
    for part in field.replace("[", ".[").split("."):
        if part.startswith("["):
            yield int(part[1:-1])
        elif part:
            yield part
