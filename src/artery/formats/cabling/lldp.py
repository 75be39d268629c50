"""LLDP neighbours: ``lldpctl -f json`` of hosts, or SONiC's ``show lldp table`` of switches.

Each neighbour is one cable: the local interface, and the other end's name and port. Several devices
in one file are told by the prompt before each table, or by the key above each host's JSON.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from artery.core.cabling import Cable, Cabling, Device, DeviceKind, End
from artery.errors import InputError, Problem
from artery.formats.cabling.reading import fabric_reading
from artery.formats.passed import runs
from artery.formats.reading import Format, Ignored, Reading
from artery.formats.syntax.json_text import inside, json_of, looks_like_json, tables
from artery.formats.text import Text

_LLDP: Final = re.compile(r'"lldp"\s*:\s*[{\[]')
_TABLE: Final = re.compile(r"LocalPort\s+RemoteDevice\s+RemotePortID")
_ROW: Final = re.compile(
    r"(Ethernet\d{1,4}(?:/\d{1,3}){0,2}|eth\d{1,3}|Management\S{0,8})\s+(\S{1,100})\s+"
    r"(\S{1,100})(?:\s+([A-Z]{0,8}))?(?:\s|$)"
)
_PROMPT: Final = re.compile(r"^(?:\w+@)?([\w.-]{1,64})(?::\S{0,60})?[#$]\s*show lldp")
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
    rows = list(_asked(json_of(text)) if json else _table_rows(text, strange))
    if not rows:
        rule = "a device with cables has neighbours"
        fix = "check that lldpd runs at both ends"
        raise InputError(Problem(file=text.path, found="no neighbour", rule=rule, fix=fix))
    own: DeviceKind = "host" if json else "switch"
    devices = {row.here: Device(row.here, row.here, own, named=row.here != HERE) for row in rows}
    for row in rows:
        devices.setdefault(row.name, Device(row.name, row.name, row.kind))
    cables = []
    for row in _once(rows):
        kind = devices[row.name].kind
        one = End(row.here, row.port, row.port if own == "host" else "")
        other = End(row.name, row.remote, row.remote if kind == "host" else "")
        cables.append(Cable(one, other, line=row.line))
    cabling = Cabling(text.path, "lldp", tuple(devices.values()), tuple(cables), _doubts(rows))
    return cabling, runs(strange, "no neighbour")


@dataclass(frozen=True, slots=True)
class Row:
    """One neighbour: the device that was asked and its port, the other end, its kind, the line."""

    here: str
    port: str
    name: str
    remote: str
    kind: DeviceKind
    line: int | None


def _once(rows: list[Row]) -> Iterator[Row]:
    """Yield every cable once: where both ends were asked, as the one says that sees more.

    Ports cannot be matched: one end may say ``Ethernet8``, the other ``etp3``, of the same port.
    """
    seen = Counter((row.here, row.name) for row in rows)
    for row in rows:
        mine, theirs = seen[row.here, row.name], seen[row.name, row.here]
        if mine > theirs or (mine == theirs and row.here <= row.name):
            yield row


def _asked(document: object) -> Iterator[Row]:
    """Yield the neighbours of one ``lldpctl``, or of several under the names of their hosts."""
    if inside(document, "lldp") is not None:
        yield from _json_rows(document, HERE)
        return
    for host, one in document.items() if isinstance(document, Mapping) else ():
        yield from _json_rows(one, str(host))


def _json_rows(document: object, here: str) -> Iterator[Row]:
    """Yield the neighbours of ``lldpctl``: interfaces as a table of names, or a list of tables."""
    found = inside(document, "lldp", "interface")
    for table in tables(found) or tables(inside(document, "lldp", 0, "interface")):
        plain = "name" in table and "chassis" in table
        for port, one in [(str(table["name"]), table)] if plain else table.items():
            if not isinstance(one, Mapping):
                continue
            name, kind = _chassis(one.get("chassis"))
            remote = inside(one, "port", "id", "value") or inside(one, "port", "descr")
            yield Row(here, str(port), name, str(remote or ""), kind, None)


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
    here = HERE
    for count, line in enumerate(text.lines, 1):
        prompt = _PROMPT.match(line)
        if prompt is not None:
            here = prompt[1]
            continue
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
        yield Row(here, found[1], found[2], found[3], kind, count)


def _doubts(rows: list[Row]) -> tuple[str, ...]:
    silent = [row.port for row in rows if row.name in {"unnamed", "None", "N/A"}]
    found = []
    if len({row.here for row in rows}) == 1:
        found.append(
            "the neighbours of one device only: collect them from all for the whole network"
        )
    if silent:
        found.append(f"neighbours without a name on {', '.join(silent[:6])}")
    return tuple(found)


def _read(text: Text) -> Reading:
    return fabric_reading(*_cabling(text))


_UNTESTED: Final = "written from the documentation of lldpd and SONiC; no output was at hand"

FORMAT: Final = Format("lldp", "system", _recognise, _read, tested=False, notes=(_UNTESTED,))
