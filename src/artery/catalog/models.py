"""``model("llama3-405b")``: the workload of a published model, from the shape on file.

``data/models/<name>.toml`` gives the ``family`` (which builder of :mod:`artery.workload`), its
``shape`` (the fields of that builder's shape, as published) and the sources. ``notes`` are shown
with every answer about the model. A pattern of attention windows uses 0 for full attention.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from artery.catalog.loader import entry, resolve
from artery.catalog.structure import fill
from artery.core.workload import Workload
from artery.workload import DecoderShape, decoder

Table = Mapping[str, Any]


def model(name: str) -> Workload:
    """Return the workload of the catalog's model ``name``, upper and lower case alike.

    Raises :class:`artery.errors.UnknownNameError` with the nearest names. If ``name`` is an
    alias, ``notes`` says what it was taken for.
    """
    resolved = resolve("models", name)
    built = _built(resolved.name)
    return replace(built, notes=(resolved.note, *built.notes)) if resolved.note else built


@cache
def _built(name: str) -> Workload:
    """Return the workload of one entry; the same one every time, as it cannot change."""
    table = entry("models", name).values
    workload = _FAMILIES[table["family"]](name, table["shape"])
    return replace(workload, notes=(*workload.notes, *table.get("notes", ())))


def _decoder(name: str, shape: Table) -> Workload:
    return decoder(name, fill(DecoderShape, shape))


_FAMILIES: dict[str, Callable[[str, Table], Workload]] = {
    "decoder": _decoder,
}
