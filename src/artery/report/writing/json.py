"""The one way an answer becomes JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from importlib.resources import files
from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class _Array(Protocol):
    """What a numpy array or scalar offers; numpy itself is not imported here."""

    def tolist(self) -> object: ...


def document(command: str, payload: Mapping[str, object], *, version: int = 1) -> str:
    """Return one JSON document: ``schema`` first, then the keys of ``payload`` in their order.

    Values are in SI base units. Dataclasses become objects, arrays and tuples lists; sets are
    sorted; what is not finite becomes ``null``, since JSON has no NaN (RFC 8259, section 6).
    """
    whole = {"schema": f"artery.{command}/{version}", **payload}
    return json.dumps(_plain(whole), indent=2, ensure_ascii=False, allow_nan=False)


def published(command: str) -> dict[str, Any]:
    """Return the JSON Schema of ``artery.<command>/1``, the document that ``--json`` prints."""
    text = files("artery.report").joinpath(f"schemas/{command}.json").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def _plain(value: object) -> object:
    """Return ``value`` made of what JSON knows: null, booleans, numbers, text, lists, objects."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, str, int)):
        return value
    if isinstance(value, _Array):
        return _plain(value.tolist())
    return _container(value)


def _container(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted((_plain(item) for item in value), key=str)
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    raise TypeError(f"{type(value).__name__} has no JSON form")
