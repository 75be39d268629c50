"""Systems by name or file, as :class:`artery.core.system.System`.

``NAME:CHIPS`` says how many chips (``dgx-h100:1024``); a torus takes its shape (``4x4x8``) or the
squarest one for a number of chips. The name of a chip alone is a system of one chip.
``schema`` is what a file may say and ``checks`` what must agree in it; ``parts`` and ``build`` make
the system of it, ``on_cables`` does so on the cables that a file of another tool tells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from artery.catalog.chips import chip as chip_of
from artery.catalog.links import link as link_of
from artery.catalog.loader import entry, names, resolve
from artery.catalog.overrides import ORIGIN, put_under, under
from artery.catalog.sourced import Sourced, leaves
from artery.catalog.structure import fill
from artery.catalog.systems.build import build, lone_chip
from artery.catalog.systems.schema import SystemTable
from artery.catalog.systems.spec import Spec, parse_spec
from artery.core.chip import Chip
from artery.core.link import Link
from artery.core.source import Source
from artery.core.system import System
from artery.errors import InputError, Problem, UnknownNameError


def system(spec: str, overrides: Sequence[str] = ()) -> System:
    """Return the system that ``spec`` names, or that the file at that path describes.

    ``overrides`` are ``path=value`` texts: ``fabric.nic.bandwidth=800 Gb/s``, ``node.chips=16``,
    and below ``chip.`` those of the chip. What was rounded, assumed or extrapolated is in the
    system's ``warnings``. Raises :class:`artery.errors.UnknownNameError` and
    :class:`artery.errors.InputError`.
    """
    wanted = parse_spec(spec)
    chip_overrides, own = under("chip", overrides)
    _check_one_count(wanted, own)
    note, found = _table(wanted.name, own)
    if found is None:
        return _of_one_chip(wanted, chip_overrides, own)
    return _built(*found, note, wanted, chip_overrides)


def described(
    values: dict[str, Any], file: str, overrides: Sequence[str] = (), chips: int | None = None
) -> System:
    """Return the system that the tables ``values`` describe, as read from ``file``.

    They are those of a file of ours, without sources; everything has ``file`` as its source.
    ``chips`` is how many to take, if not those that the tables say.
    Raises :class:`artery.errors.InputError` with all that is missing or contradicts itself.
    """
    from artery.catalog.door import revise
    from artery.catalog.systems import checks  # noqa: F401 - registers the checks of the table

    own = Source(f"the file {file}", "now", "recalled")
    sourced = Sourced(values, {path: own for path, _ in leaves(values)})
    chip_overrides, rest = under("chip", overrides)
    table, sourced = revise(SystemTable, sourced, rest)
    return _built(table, sourced, None, Spec(file, chips=chips), chip_overrides)


def _built(
    table: SystemTable,
    sourced: Sourced,
    note: str | None,
    wanted: Spec,
    chip_overrides: Sequence[str],
) -> System:
    chip, links = chip_and_links(table, chip_overrides)
    built = build(table, chip, links, wanted)
    provenance = {**sourced.provenance, **_provenance_of(chip)}
    warnings = (*((note,) if note else ()), *built.warnings)
    return replace(built, provenance=provenance, warnings=warnings)


def chip_and_links(
    table: SystemTable, chip_overrides: Sequence[str]
) -> tuple[Chip, dict[str, Link]]:
    """Return the chip of a table, with ``chip_overrides``, and the classes of link it names."""
    chip = _chip(table.chip, chip_overrides)
    return chip, {name: link_of(name) for name in _link_names(table)}


def table_of(
    name: str, overrides: Sequence[str] = ()
) -> tuple[str | None, SystemTable, dict[str, Source]]:
    """Return a note on the name of a system, its table with ``overrides``, and its sources.

    Raises :class:`artery.errors.InputError`, for the name of a chip as well.
    """
    note, found = _table(name, overrides)
    if found is None:
        _of_one_chip(Spec(name, chips=0), (), ())
        raise AssertionError(name)
    return note, found[0], dict(found[1].provenance)


def _table(
    name: str, overrides: Sequence[str]
) -> tuple[str | None, tuple[SystemTable, Sourced] | None]:
    """Return a note on the name, and the table it stands for; no table for the name of a chip."""
    from artery.catalog.door import is_path, read, revise
    from artery.catalog.systems import checks  # noqa: F401 - registers the checks of the table

    if is_path(name):
        table, sourced = read(name, SystemTable, "systems")
        return None, revise(SystemTable, sourced, overrides) if overrides else (table, sourced)
    try:
        found = resolve("systems", name)
    except UnknownNameError:
        if _is_chip(name):
            return None, None
        raise
    sourced = entry("systems", found.name)
    if overrides:
        return found.note, revise(SystemTable, sourced, overrides)
    return found.note, (fill(SystemTable, sourced.values), sourced)


def _check_one_count(wanted: Spec, own: Sequence[str]) -> None:
    """Refuse two numbers of chips: one after the colon and one among the overrides."""
    set_to = [text for text in own if text.partition("=")[0].strip() == "chips"]
    if set_to and (wanted.chips is not None or wanted.shape is not None):
        raise InputError(
            Problem(
                file=ORIGIN,
                field="chips",
                found=f'"{set_to[-1]}" beside the chips after the colon',
                rule="the number of chips is said once",
                fix=f"leave out one, for example --on {wanted.name} --set {set_to[-1]}",
            )
        )


def _chip(name: str, overrides: Sequence[str]) -> Chip:
    """Return the chip of that name with the overrides that stood below ``chip.``."""
    try:
        return chip_of(name, overrides)
    except InputError as error:
        raise put_under("chip", error) from None


def is_catalog_name(spec: str) -> bool:
    """Whether ``spec`` names a system or chip of the catalog, with or without a number of chips."""
    name = spec.strip()
    for one in (name, name.rpartition(":")[0]):
        try:
            resolve("systems", one)
        except UnknownNameError:
            if not _is_chip(one):
                continue
        return True
    return False


def _is_chip(name: str) -> bool:
    """Whether ``name`` is that of a chip."""
    try:
        resolve("chips", name)
    except UnknownNameError:
        return False
    return True


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
    chip = _chip(wanted.name, chip_overrides)
    note = resolve("chips", wanted.name).note
    alone = replace(lone_chip(chip), provenance=_provenance_of(chip))
    return replace(alone, warnings=(note, *alone.warnings)) if note else alone


def _provenance_of(chip: Chip) -> dict[str, Source]:
    """Return the sources of a chip's values, by their path in a system."""
    return {f"chip.{path}": source for path, source in chip.provenance.items()}


def _systems_with(chip: str) -> list[str]:
    """Return the systems of the catalog that have this chip, or all if none has."""
    target = resolve("chips", chip).name
    every = names("systems")
    return [name for name in every if entry("systems", name).values.get("chip") == target] or list(
        every
    )


def _link_names(table: SystemTable) -> set[str]:
    """Return the classes of link that the table names."""
    found = {table.node.link, *(cable.link for cable in table.node.cables)}
    if table.node.host is not None:
        found.add(table.node.host.link)
    for fabric in (table.fabric, table.dragonfly):
        if fabric is not None:
            found.add(fabric.nic.link)
    if table.torus is not None:
        found.add(table.torus.link)
    return {name for name in found if name is not None}
