"""LLDP neighbours: ``lldpctl -f json`` of one host, or SONiC's ``show lldp table`` of one switch.

Each neighbour is one cable: the local interface, and the other end's name and port.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from artery.core.cabling import Cable, Cabling, Device, DeviceKind, End
from artery.errors import InputError, Problem
from artery.formats.fabric_reading import fabric_reading
from artery.formats.json_text import inside, json_of, looks_like_json, tables
from artery.formats.passed import runs
from artery.formats.reading import Format, Ignored, Reading
from artery.formats.text import Text

_LLDP: Final = re.compile(r'"lldp"\s*:\s*[{\[]')
_TABLE: Final = re.compile(r"LocalPort\s+RemoteDevice\s+RemotePortID")
_ROW: Final = re.compile(
    r"(Ethernet\d{1,4}(?:/\d{1,3}){0,2}|eth\d{1,3}|Management\S{0,8})\s+(\S{1,100})\s+"
    r"(\S{1,100})(?:\s+([A-Z]{0,8}))?(?:\s|$)"
)
_PROMPT: Final = re.compile(r"(?m)^(?:\w+@)?([\w.-]{1,64})(?::\S{0,60})?[#$]\s*show lldp")
HERE: Final = "this device"
"""The device that was asked; ``lldpctl`` does not say its name."""


def is_lldp(text: Text) -> bool:
    """Whether the text lists neighbours, as JSON or as SONiC's table."""
    return bool((_LLDP if looks_like_json(text) else _TABLE).search(text.head))


def _recognise(text: Text) -> float:
    return 0.95 if is_lldp(text) else 0.0


def read_cabling(text: Text) -> Cabling:
    """Return the cables of one device; raises ``InputError`` if it has no neighbour."""
    return _cabling(text)[0]


def _cabling(text: Text) -> tuple[Cabling, tuple[Ignored, ...]]:
    json = looks_like_json(text)
    strange: list[int] = []
    rows = list(_json_rows(json_of(text)) if json else _table_rows(text, strange))
    if not rows:
        rule = "a device with cables has neighbours"
        fix = "check that lldpd runs at both ends"
        raise InputError(Problem(file=text.path, found="no neighbour", rule=rule, fix=fix))
    prompt = _PROMPT.search(text.head)
    here = prompt[1] if prompt and not json else HERE
    own: DeviceKind = "host" if json else "switch"
    devices = {here: Device(here, here, own, named=here != HERE)}
    cables = []
    for port, name, remote, kind, line in rows:
        devices.setdefault(name, Device(name, name, kind))
        one = End(here, port, port if own == "host" else "")
        cables.append(Cable(one, End(name, remote, remote if kind == "host" else ""), line=line))
    cabling = Cabling(text.path, "lldp", tuple(devices.values()), tuple(cables), _doubts(rows))
    return cabling, runs(strange, "no neighbour")


Row = tuple[str, str, str, DeviceKind, int | None]


def _json_rows(document: object) -> Iterator[Row]:
    """Yield the neighbours of ``lldpctl``: interfaces as a table of names, or a list of tables."""
    found = inside(document, "lldp", "interface")
    for table in tables(found) or tables(inside(document, "lldp", 0, "interface")):
        plain = "name" in table and "chassis" in table
        for port, one in [(str(table["name"]), table)] if plain else table.items():
            if not isinstance(one, Mapping):
                continue
            name, kind = _chassis(one.get("chassis"))
            remote = inside(one, "port", "id", "value") or inside(one, "port", "descr")
            yield str(port), name, str(remote or ""), kind, None


def _chassis(chassis: object) -> tuple[str, DeviceKind]:
    """Return the name of the neighbour, and what it is by its capabilities."""
    if not isinstance(chassis, Mapping):
        return "unnamed", "switch"
    named = [(str(key), one) for key, one in chassis.items() if isinstance(one, Mapping)]
    table: Mapping[str, object] = chassis
    name = inside(chassis, "name", 0, "value") or inside(chassis, "id", "value")
    if named and named[0][0] not in {"id", "name", "capability"}:
        name, table = named[0]
    if not isinstance(name, str):
        return "unnamed", "switch"
    on = {str(one.get("type")) for one in tables(table.get("capability")) if one.get("enabled")}
    return name, "host" if "Station" in on and not on & {"Bridge", "Router"} else "switch"


def _table_rows(text: Text, strange: list[int]) -> Iterator[Row]:
    """Yield the rows of SONiC's table; capability B is a bridge, R a router, S a station."""
    inside_table = False
    for count, line in enumerate(text.lines, 1):
        if _TABLE.search(line):
            inside_table = True
            continue
        found = _ROW.match(line)
        if found is None:
            if inside_table and line.strip() and not set(line.strip()) <= set("- ="):
                strange.append(count)
            continue
        marks = found[4] or ""
        kind: DeviceKind = "host" if marks and not set(marks) & {"B", "R"} else "switch"
        yield found[1], found[2], found[3], kind, count


def _doubts(rows: list[Row]) -> tuple[str, ...]:
    silent = [port for port, name, *_ in rows if name in {"unnamed", "None", "N/A"}]
    first = ("the neighbours of one device only: collect them from all for the whole network",)
    return (*first, f"neighbours without a name on {', '.join(silent[:6])}") if silent else first


def _read(text: Text) -> Reading:
    return fabric_reading(*_cabling(text))


_UNTESTED: Final = "written from the documentation of lldpd and SONiC; no output was at hand"

FORMAT: Final = Format("lldp", "system", _recognise, _read, tested=False, notes=(_UNTESTED,))
