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
from artery.workload import (
    CnnShape,
    DecoderShape,
    EncoderDecoderShape,
    EncoderShape,
    MlpShape,
    VitShape,
    cnn,
    decoder,
    encoder,
    encoder_decoder,
    mlp,
    vit,
)

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


_FAMILIES: dict[str, Callable[[str, Table], Workload]] = {
    "cnn": lambda name, shape: cnn(name, fill(CnnShape, shape)),
    "decoder": lambda name, shape: decoder(name, fill(DecoderShape, shape)),
    "encoder": lambda name, shape: encoder(name, fill(EncoderShape, shape)),
    "encoder-decoder": lambda name, shape: encoder_decoder(name, fill(EncoderDecoderShape, shape)),
    "mlp": lambda name, shape: mlp(name, fill(MlpShape, shape)),
    "vit": lambda name, shape: vit(name, fill(VitShape, shape)),
}
"""The builder of each ``family``, behind one signature."""
