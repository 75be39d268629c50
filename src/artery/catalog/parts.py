"""Switches, network cards and optics by name or file, as nouns of :mod:`artery.core.parts`."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar

from artery.catalog.door import is_path, read
from artery.catalog.loader import entry, resolve
from artery.catalog.part_schema import (
    NicTable,
    OpticTable,
    Range,
    SwitchTable,
)
from artery.catalog.sourced import Sourced
from artery.catalog.structure import fill
from artery.core.parts import Nic, Optic, Span, Switch

_Table = TypeVar("_Table")
_Part = TypeVar("_Part", Switch, Nic, Optic)


def switch(name: str) -> Switch:
    """Return the switch called ``name``, or the one described by the file at that path.

    Raises :class:`artery.errors.UnknownNameError` for an unknown name and
    :class:`artery.errors.InputError` for a bad file.
    """
    return _noun(Switch, *_read("switches", name, SwitchTable))


def nic(name: str) -> Nic:
    """Return the network card called ``name``; errors as for :func:`switch`."""
    return _noun(Nic, *_read("nics", name, NicTable))


def optic(name: str) -> Optic:
    """Return the optic or cable called ``name``; errors as for :func:`switch`."""
    return _noun(Optic, *_read("optics", name, OpticTable))


def _read(kind: str, name: str, schema: type[_Table]) -> tuple[_Table, Sourced]:
    if is_path(name):
        return read(name, schema, kind)
    sourced = entry(kind, resolve(kind, name).name)
    return fill(schema, sourced.values), sourced


def _noun(part: type[_Part], table: object, sourced: Sourced) -> _Part:
    """Return the noun: the fields of the table that it has, ranges as spans."""
    values: dict[str, Any] = {
        field.name: _plain(getattr(table, field.name))
        for field in fields(part)
        if field.name != "provenance"
    }
    return part(**values, provenance=sourced.provenance)


def _plain(value: object) -> object:
    return Span(value.low, value.high) if isinstance(value, Range) else value
