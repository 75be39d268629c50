"""Systems by name or file, as :class:`artery.core.system.System`.

``NAME:CHIPS`` says how many chips (``dgx-h100:1024``); a torus takes its shape (``4x4x8``) or the
squarest one for a number of chips. The name of a chip alone is a system of one chip.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from artery.catalog.chips import chip as chip_of
from artery.catalog.links import link as link_of
from artery.catalog.loader import entry, names, resolve
from artery.catalog.overrides import under
from artery.catalog.sourced import Sourced
from artery.catalog.structure import fill
from artery.catalog.system_build import build, build_torus, lone_chip
from artery.catalog.system_schema import SystemTable
from artery.core.system import System
from artery.errors import InputError, Problem, UnknownNameError

MOST_CHIPS = 4_000_000
"""Assumed: more than any system built or announced; a slip of the pen above."""

_COUNT = re.compile(r"[0-9]{1,12}")
_SHAPE = re.compile(r"[0-9]{1,6}(x[0-9]{1,6}){1,2}")


@dataclass(frozen=True, slots=True)
class Spec:
    """A system as written on the command line: ``name``, and ``chips`` or the ``shape`` of a torus."""

    name: str
    chips: int | None = None
    shape: tuple[int, ...] | None = None


def parse_spec(text: str) -> Spec:
    """Return ``NAME``, ``NAME:CHIPS`` or ``NAME:4x4x8`` taken apart.

    Raises :class:`artery.errors.InputError` if what follows the last colon is no number of chips
    from 1 up and no shape. A colon inside a path is left to the path.
    """
    name, colon, size = text.strip().rpartition(":")
    if not colon or "/" in size or "\\" in size:
        return Spec(text.strip())
    folded = size.strip().casefold().replace("_", "").replace("×", "x")
    if _SHAPE.fullmatch(folded):
        shape = tuple(int(side) for side in folded.split("x"))
        if all(shape):
            return Spec(name, shape=shape)
    elif _COUNT.fullmatch(folded) and 1 <= int(folded) <= MOST_CHIPS:
        return Spec(name, chips=int(folded))
    raise InputError(
        Problem(
            field="system",
            found=f'"{text}"',
            rule=f"after the colon stands a number of chips from 1 to {MOST_CHIPS:,}, or a shape",
            fix=f'for example "{name}:64", or "tpu-v4-pod:4x4x8"',
        )
    )


def system(spec: str, overrides: Sequence[str] = ()) -> System:
    """Return the system that ``spec`` names, or that the file at that path describes.

    ``overrides`` are ``path=value`` texts: ``fabric.nic.bandwidth=800 Gb/s``, ``node.chips=16``,
    and below ``chip.`` those of the chip. What was rounded, assumed or extrapolated is in the
    system's ``warnings``. Raises :class:`artery.errors.UnknownNameError` and
    :class:`artery.errors.InputError`.
    """
    wanted = parse_spec(spec)
    chip_overrides, own = under("chip", overrides)
    note, found = _table(wanted.name, own)
    if found is None:
        return _of_one_chip(wanted, chip_overrides, own)
    table, sourced = found
    chip = chip_of(table.chip, chip_overrides)
    links = {name: link_of(name) for name in _link_names(table)}
    if table.torus is not None:
        result = build_torus(table, table.torus, chip, links, wanted.chips, wanted.shape)
    else:
        if wanted.shape is not None:
            raise _no_torus(spec, wanted)
        result = build(table, chip, links, wanted.chips)
    provenance = {**sourced.provenance}
    provenance.update({f"chip.{path}": source for path, source in chip.provenance.items()})
    warnings = (*((note,) if note else ()), *result.warnings)
    return replace(result, provenance=provenance, warnings=warnings)


def _table(
    name: str, overrides: Sequence[str]
) -> tuple[str | None, tuple[SystemTable, Sourced] | None]:
    """Return a note on the name, and the table it stands for; no table for the name of a chip."""
    from artery.catalog import system_checks  # noqa: F401 - registers the checks of the table
    from artery.catalog.door import is_path, read, revise

    if is_path(name):
        table, sourced = read(name, SystemTable, "systems")
        return None, revise(SystemTable, sourced, overrides) if overrides else (table, sourced)
    try:
        found = resolve("systems", name)
    except UnknownNameError as unknown:
        return None, _none_if_chip(name, unknown)
    sourced = entry("systems", found.name)
    if overrides:
        return found.note, revise(SystemTable, sourced, overrides)
    return found.note, (fill(SystemTable, sourced.values), sourced)


def _none_if_chip(name: str, unknown: UnknownNameError) -> None:
    """Return ``None`` if ``name`` is a chip's, or raise ``unknown``."""
    try:
        resolve("chips", name)
    except UnknownNameError:
        raise unknown from None


def _of_one_chip(wanted: Spec, chip_overrides: Sequence[str], own: Sequence[str]) -> System:
    """Return the chip of that name as a system; it has no node or fabric to override."""
    if wanted.chips not in (None, 1) or wanted.shape is not None or own:
        raise InputError(
            Problem(
                field="system",
                found=f'"{wanted.name}", the name of a chip',
                rule="alone it is a system of one chip, without node or fabric",
                fix=f"name what joins the chips: {', '.join(_systems_with(wanted.name))}",
            )
        )
    chip = chip_of(wanted.name, chip_overrides)
    provenance = {f"chip.{path}": source for path, source in chip.provenance.items()}
    return replace(lone_chip(chip), provenance=provenance)


def _systems_with(chip: str) -> list[str]:
    """Return the systems of the catalog that have this chip, or all if none has."""
    target = resolve("chips", chip).name
    every = names("systems")
    return [name for name in every if entry("systems", name).values.get("chip") == target] or list(
        every
    )


def _link_names(table: SystemTable) -> set[str]:
    """Return the classes of link that the table names."""
    found = {table.node.link}
    if table.node.host is not None:
        found.add(table.node.host.link)
    if table.fabric is not None:
        found.add(table.fabric.nic.link)
    if table.torus is not None:
        found.add(table.torus.link)
    return {name for name in found if name is not None}


def _no_torus(spec: str, wanted: Spec) -> InputError:
    shape = wanted.shape or ()
    product = 1
    for side in shape:
        product *= side
    return InputError(
        Problem(
            field="system",
            found=f'"{spec}"',
            rule=f"{wanted.name} is no torus and takes a number of chips",
            fix=f'"{wanted.name}:{product}"',
        )
    )
