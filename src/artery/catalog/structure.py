"""Walks the dataclasses of the schema: fills them, and says what belongs where.

:func:`fill` is the fast way in, for the shipped files, which a test sends through the strict
door of :mod:`artery.catalog.door`. What comes from a user always takes the door itself.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from artery.catalog.sourced import Path
from artery.errors import InputError
from artery.units import Unit

T = TypeVar("T")


def fill(cls: type[T], values: Mapping[str, Any]) -> T:
    """Return ``cls`` filled from ``values``: units read, nested tables filled likewise."""
    hints = field_types(cls)
    made = get_origin(cls) or cls
    return made(**{key: _convert(hints[key], value) for key, value in values.items()})


def keys(schema: type, path: Path) -> tuple[str, ...]:
    """Return the fields of the table at ``path``; none where any key is allowed."""
    hint = _hint_at(schema, path)
    return tuple(field_types(hint)) if _is_table(hint) else ()


def unit_at(schema: type, path: Path) -> Unit | None:
    """Return the unit of the quantity at ``path``; ``None`` for any other value."""
    hint = _hint_at(schema, path)
    if get_origin(hint) is not Annotated:
        return None
    marker = get_args(hint)[1]
    return marker if isinstance(marker, Unit) else None


def example(schema: type, path: Path) -> str:
    """Return ``for example "80 GiB"`` for the quantity at ``path``; empty for other values."""
    marker = unit_at(schema, path)
    if marker is None:
        return ""
    try:
        marker.parse(None)
    except InputError as error:
        return error.problems[0].fix
    return ""


def _hint_at(schema: type, path: Path) -> Any:  # noqa: ANN401 - a type of any form
    """Return the type of the value at ``path``, without its ``None``; ``None`` if unknown."""
    hint: Any = schema
    for part in path:
        if _is_table(hint):
            hint = _present(field_types(hint).get(str(part)))
        elif get_origin(hint) is not None and get_args(hint):
            hint = _present(_inner(hint))
        else:
            return None
    return hint


def _is_table(hint: object) -> bool:
    """Whether the type is a dataclass, or a generic one of some type."""
    kind = get_origin(hint) or hint
    return isinstance(kind, type) and is_dataclass(kind)


def field_types(cls: type) -> Mapping[str, Any]:
    """Return the resolved type of every field of ``cls``, in order."""
    return _field_types(cls)


@cache
def _field_types(cls: Hashable) -> Mapping[str, Any]:
    kind = get_origin(cls) or cls
    hints = get_type_hints(kind, include_extras=True)
    of = dict(zip(getattr(kind, "__parameters__", ()), get_args(cls), strict=True))
    return {item.name: of.get(hints[item.name], hints[item.name]) for item in fields(kind)}  # type: ignore[arg-type]


def _present(hint: Any) -> Any:  # noqa: ANN401 - a type of any form
    """Return the type without ``| None``."""
    if get_origin(hint) in (Union, UnionType):
        return next(part for part in get_args(hint) if part is not type(None))
    return hint


def _inner(hint: Any) -> Any:  # noqa: ANN401 - a type of any form
    """Return the type of the values of a mapping or tuple type."""
    return get_args(hint)[1 if issubclass(get_origin(hint), Mapping) else 0]


def _convert(hint: Any, value: Any) -> Any:  # noqa: ANN401 - types and TOML values
    """Return ``value`` as ``hint`` asks for it."""
    if value is None:
        return None
    hint = _present(hint)
    origin = get_origin(hint)
    if origin is Annotated:
        marker = get_args(hint)[1]
        return marker.parse(value) if isinstance(marker, Unit) else value
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {key: _convert(_inner(hint), part) for key, part in value.items()}
    if origin is tuple:
        return tuple(_convert(_inner(hint), part) for part in value)
    if _is_table(hint):
        return fill(hint, value)
    return value
