"""OpenSM's dump of linear forwarding tables: ``opensm-lfts.dump`` (``opensm -D 0x43``).

One block per switch, ``0x0005 002 # Channel Adapter portguid 0x...: 'node0002'`` a line: to the
local identifier 5 out of port 2. ``dump_fts`` and ``ibroute`` print the same with a colon.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from artery.errors import InputError, Problem

_SWITCH = re.compile(r"Unicast lids .*\((?:'|)(?P<name>[^()']{1,200})(?:'|)\):?\s*$")
_ROW = re.compile(
    r"0x(?P<lid>[0-9a-fA-F]{4})\s+(?P<port>\d{3})\s+[#:]\s*\(?(?P<kind>Switch|Channel Adapter)"
    r"\s+portguid\s+0x[0-9a-fA-F]{16}:\s+'(?P<name>[^']{1,200})'"
)


@dataclass(frozen=True, slots=True)
class ForwardingTables:
    """By switch: the port out of which what is for a device (by its name) goes; 0 is itself."""

    ports: dict[str, dict[str, int]]
    adapters: tuple[str, ...]


def read_tables(text: str, path: str) -> ForwardingTables:
    """Return the tables of a dump; raises ``InputError`` if there are none."""
    ports: dict[str, dict[str, int]] = {}
    adapters: dict[str, None] = {}
    here: dict[str, int] | None = None
    for line in text.splitlines():
        if head := _SWITCH.match(line.strip()):
            here = ports.setdefault(head["name"], {})
        elif (row := _ROW.match(line.strip())) and here is not None:
            here[row["name"]] = int(row["port"])
            if row["kind"] == "Channel Adapter":
                adapters[row["name"]] = None
    if not ports:
        rule = "must have a block of unicast lids for each switch"
        fix = "write it with opensm -D 0x43, or dump_fts"
        raise InputError(Problem(file=path, found="no forwarding table", rule=rule, fix=fix))
    return ForwardingTables(ports, tuple(adapters))
