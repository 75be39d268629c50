"""What is known of hardware, models and software: the answer to ``artery catalog``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from artery.answers.catalog.models import counted, is_configuration, read_from
from artery.answers.models import workload
from artery.catalog import chip, link, model, nic, optic, switch
from artery.catalog.chips import build as build_chip
from artery.catalog.door import is_path, json_schema, read
from artery.catalog.libraries import LibraryTable
from artery.catalog.loader import KINDS, SINGULAR, Resolved, aliases, entry, names, resolve
from artery.catalog.part_schema import NicTable, OpticTable, SwitchTable
from artery.catalog.schema import ChipTable, LinkTable
from artery.catalog.sourced import Path, Sourced, dotted, leaves
from artery.catalog.structure import field_types, fill, unit_at
from artery.catalog.syntax import read_document
from artery.catalog.systems.schema import SystemTable
from artery.core.chip import Chip
from artery.core.parts import Span
from artery.core.profile import Profile
from artery.core.source import Confidence, Source
from artery.errors import InputError, Problem, UnknownNameError, did_you_mean, nearest
from artery.places import is_folder
from artery.units import (
    Unit,
    show_bytes,
    show_count,
    show_flops,
    show_line_rate,
    show_power,
    show_rate,
    show_time,
)

_TABLES: Final[dict[str, type]] = {
    "chips": ChipTable,
    "links": LinkTable,
    "systems": SystemTable,
    "switches": SwitchTable,
    "nics": NicTable,
    "optics": OpticTable,
    "profiles": Profile,
    "libraries": LibraryTable,
}
"""The dataclass of each kind's file; a model's file depends on its family."""

DESCRIBED: Final = ("chip", "link", "system", "switch", "nic", "optic")
"""What a user may describe in a file of their own, and ``artery catalog schema`` describes."""

_IDENTITY: Final = ("name", "title", "version")


@dataclass(frozen=True, slots=True)
class Count:
    """How many entries of a kind there are."""

    kind: str
    count: int


@dataclass(frozen=True, slots=True)
class Item:
    """One line of a list: the entry's name and what matters most about it."""

    name: str
    title: str
    summary: str


@dataclass(frozen=True, slots=True)
class Listing:
    """All entries of one kind."""

    kind: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Value:
    """One value of an entry: ``value`` in SI with its ``unit``, ``text`` as the file has it.

    ``source``, ``as_of`` and ``confidence`` are ``None`` where the file names no source.
    """

    path: str
    value: float | str | bool
    unit: str | None
    text: str
    source: str | None
    as_of: str | None
    confidence: Confidence | None


@dataclass(frozen=True, slots=True)
class Entry:
    """Everything that is known of one entry; ``note`` says what an alias was taken as."""

    kind: str
    name: str
    title: str
    note: str | None
    values: tuple[Value, ...]


def catalog() -> tuple[Count, ...]:
    """Return the number of entries of each kind."""
    return tuple(Count(kind, len(names(kind))) for kind in KINDS)


def catalog_list(kind: str) -> Listing:
    """Return every entry of ``kind`` (``chips``, ``links``, ...) in a line each.

    Raises :class:`artery.errors.UnknownNameError` for an unknown kind.
    """
    plural = _plural(kind)
    return Listing(plural, tuple(_item(plural, name) for name in names(plural)))


def catalog_show(name: str) -> tuple[Entry, ...]:
    """Return every entry called ``name``, of whatever kind, or the file at that path.

    A file describes a chip, link, system or part, or is a model's ``config.json`` or its folder.

    Raises :class:`artery.errors.InputError` with the nearest names of all kinds.
    """
    if is_path(name):
        return (_of_file(name),)
    found = [(kind, known) for kind in KINDS for known in _resolved(kind, name)]
    if found:
        return tuple(
            _entry(kind, known.name, known.note, entry(kind, known.name)) for kind, known in found
        )
    known_names = [known for kind in KINDS for known in (*names(kind), *aliases(kind))]
    raise InputError(
        Problem(
            field="NAME",
            found=f'"{name}"',
            rule="nothing of that name is in the catalog",
            fix=did_you_mean(nearest(name, known_names))
            or "`artery catalog list chips` lists chips",
        )
    )


def catalog_schema(kind: str) -> dict[str, Any]:
    """Return the JSON Schema of a file that describes a ``chip``, ``link``, ``system`` or part.

    Raises :class:`artery.errors.UnknownNameError` for anything else.
    """
    plural = next((one for one, single in SINGULAR.items() if kind.casefold() in (one, single)), "")
    if SINGULAR.get(plural) not in DESCRIBED:
        raise UnknownNameError("kind", kind, DESCRIBED)
    return json_schema(_TABLES[plural])


def _plural(kind: str) -> str:
    """Return the kind as the catalog writes it: ``Chip`` and ``chips`` are ``chips``."""
    folded = kind.casefold()
    for plural, singular in SINGULAR.items():
        if folded in (plural, singular):
            return plural
    raise UnknownNameError("kind", kind, KINDS)


def _resolved(kind: str, name: str) -> Iterator[Resolved]:
    """Yield the entry of ``kind`` that ``name`` stands for, if there is one."""
    try:
        yield resolve(kind, name)
    except UnknownNameError:
        return


def _item(kind: str, name: str) -> Item:
    values = entry(kind, name).values
    return Item(name, str(values.get("title", "")), _summary(kind, name, values))


def _summary(kind: str, name: str, values: dict[str, Any]) -> str:
    """Return what matters most about an entry, in a few words."""
    if kind == "chips":
        return _chip_summary(chip(name))
    if kind == "links":
        found = link(name)
        return f"{show_rate(found.bandwidth)} per direction, {show_time(found.latency)}"
    if kind == "systems":
        return f"{values['chip']}, {values['library']}"
    if kind in ("switches", "nics", "optics"):
        return _part_summary(kind, name)
    if kind == "models":
        return f"{show_count(model(name).parameters)} parameters, {values['family']}"
    return str(values.get("description") or values.get("version", ""))


def _part_summary(kind: str, name: str) -> str:
    """Return ports, rate and power of a part of a network."""
    if kind == "switches":
        box = switch(name)
        ports = f"{box.ports} x {show_line_rate(box.port)}, {box.fabric}"
        return _with_power(ports, box.power)
    if kind == "nics":
        card = nic(name)
        return _with_power(f"{show_line_rate(card.rate)}, {', '.join(card.protocols)}", card.power)
    end = optic(name)
    reach = (
        f"{end.reach.low:g}"
        if end.reach.low == end.reach.high
        else (f"{end.reach.low:g} to {end.reach.high:g}")
    )
    return _with_power(f"{show_line_rate(end.rate)}, {end.medium}, {reach} m", end.power)


def _with_power(text: str, power: Span | None) -> str:
    if power is None:
        return text
    if power.low == power.high:
        return f"{text}, {show_power(power.low)}"
    return f"{text}, {show_power(power.low)} to {show_power(power.high)}"


def _chip_summary(found: Chip) -> str:
    dtype = next(known for known in ("bf16", "fp16", "fp32") if known in found.peaks)
    memory = found.memory
    power = "" if found.power is None else f", {show_power(found.power)}"
    return (
        f"{show_flops(found.peaks[dtype])} {dtype}, {show_bytes(memory.capacity)} "
        f"at {show_rate(memory.bandwidth)}{power}"
    )


def _of_file(file: str) -> Entry:
    """Return the user's file, after the checks of its kind; a ``config.json`` is a model."""
    if is_folder(file) or is_configuration(values := read_document(file).values):
        found = workload(file)
        known = (*_plain(counted(found)), *_plain(read_from(found)))
        return Entry("models", found.name, found.name, None, known)
    kind = _kind_of(values)
    _, sourced = read(file, _TABLES[kind], kind)
    return _entry(kind, str(sourced.values["name"]), None, sourced)


def _kind_of(values: dict[str, Any]) -> str:
    """Return the kind of thing that a file describes: by its base, else by its fields."""
    kinds = [plural for plural, singular in SINGULAR.items() if singular in DESCRIBED]
    for kind in kinds:
        base = values.get("base")
        if isinstance(base, str) and any(_resolved(kind, base)):
            return kind
    scores = {kind: len(field_types(_TABLES[kind]).keys() & values.keys()) for kind in kinds}
    return max(scores, key=lambda kind: scores[kind])


def _entry(kind: str, name: str, note: str | None, sourced: Sourced) -> Entry:
    values = [
        _value(kind, path, value, sourced.sources.get(path))
        for path, value in leaves(sourced.values)
        if path[0] not in _IDENTITY
    ]
    if kind == "chips":
        values += _assumed(sourced)
    if kind == "models":
        values = [*_plain(counted(model(name))), *values]
    title = str(sourced.values.get("title") or sourced.values.get("description") or name)
    return Entry(kind, name, title, note, tuple(values))


def _plain(values: Iterable[tuple[str, int | str]]) -> Iterator[Value]:
    """Yield values that are counted or read from a configuration, so that no source is dated."""
    for path, value in values:
        text = f"{value:,}" if isinstance(value, int) else value
        yield Value(path, value, None, text, None, None, None)


def _value(kind: str, path: Path, value: object, source: Source | None) -> Value:
    """Return one value of a file, in SI if it is a quantity."""
    table = _TABLES.get(kind)
    marker = unit_at(table, path) if table is not None else None
    plain = value if isinstance(value, (bool, int, float, str)) else str(value)
    return _dated(
        dotted(path), marker.parse(value) if marker else plain, marker, str(value), source
    )


def _dated(
    path: str, value: float | str | bool, marker: Unit | None, text: str, source: Source | None
) -> Value:
    unit = marker.unit if marker else None
    if source is None:
        return Value(path, value, unit, text, None, None, None)
    return Value(path, value, unit, text, source.text, source.as_of, source.confidence)


def _assumed(sourced: Sourced) -> list[Value]:
    """Return the efficiencies that the chip's file leaves out and artery assumes."""
    found = build_chip(fill(ChipTable, sourced.values), sourced)
    stated = sourced.provenance
    return [
        _dated(path, value, unit_at(ChipTable, tuple(path.split("."))), f"{value:g}", source)
        for path, source in found.provenance.items()
        if path not in stated
        for path, value in _numbers(found, path)
    ]


def _numbers(found: Chip, path: str) -> Iterator[tuple[str, float]]:
    """Yield the number at a dotted path of a chip, or both of an attention curve's."""
    value: Any = found
    for part in path.split("."):
        value = value[part] if isinstance(value, dict) else getattr(value, part)
    if isinstance(value, (int, float)):
        yield path, value
        return
    for field in ("peak_fraction", "half_length"):
        yield f"{path}.{field}", getattr(value, field)
