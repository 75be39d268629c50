"""``iblinkinfo``: every port of a subnet with its width, speed and state, in blocks or lines.

A line is one port: ``lid port[ext] ==( 4X 106.25 Gbps Active/ LinkUp)==> lid port[ext] "peer"
(hints)``; with ``-l`` its own GUID and name stand in front. In blocks a head line
(``Switch: 0x.. name:``, ``CA: name:``) names the device of the ports below.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from artery.errors import InputError, Problem
from artery.formats.cabling.reading import fabric_reading
from artery.formats.infiniband.iblinkinfo_cables import Kind, Port, cabling_of
from artery.formats.infiniband.names import AGGREGATION
from artery.formats.passed import passed_over
from artery.formats.reading import Format, Reading
from artery.formats.syntax.numerals import number
from artery.formats.text import Text
from artery.formats.wording import counted
from artery.units import show_line_rate

_HEAD = re.compile(r"\s*(Switch|CA|HCA|Router):\s+(?:0x[0-9a-fA-F]{1,16}\s+)?(.{0,200}?):?\s*$")
_LINE = re.compile(
    r'\s*(?:(0x[0-9a-fA-F]{1,16})\s+(?:"([^"]{0,200})"\s+)?)?(\d{1,6})\s+(\d{1,4})\[[^\]]{0,8}\]\s*'
    r"==\(\s*([^)]{0,80}?)\s*\)==>\s*(.{0,400})$"
)
_STATE = re.compile(
    r"(?:(\d{1,2})X\s+([\d.]{1,12})\s+Gbps\s+)?([A-Za-z]{1,20})\s*/\s*([A-Za-z]{1,20})"
)
_PEER = re.compile(
    r"(?:(0x[0-9a-fA-F]{1,16})\s+)?(?:\d{1,6}\s+)?"
    r'(\d{1,4})\[[^\]]{0,8}\]\s*"([^"]{0,200})"\s*\(([^)]{0,200})\)'
)


def _recognise(text: Text) -> float:
    return 0.95 if any(_LINE.match(line) for line in text.head.split("\n")) else 0.0


def _ports(text: Text) -> tuple[list[Port], set[int]]:
    """Return the ports and the numbers of the lines that were used."""
    ports: list[Port] = []
    used: set[int] = set()
    here = ""
    kind: Kind = ""
    for count, line in enumerate(text.lines, 1):
        found = _LINE.match(line)
        if found is None:
            head = _HEAD.match(line)
            if head is not None:
                here = head[2].strip()
                kind = "switch" if head[1] == "Switch" else "host"
                used.add(count)
            continue
        used.add(count)
        state = _STATE.search(found[5])
        peer = _PEER.search(found[6])
        name = (found[2] or "").strip() or here
        ports.append(
            Port(
                name,
                found[4],
                int(state[1]) if state and state[1] else None,
                number(state[2]) if state and state[2] else None,
                state[3] if state else found[5] or "unknown",
                state[4] if state else "",
                peer[3].strip() if peer else "",
                peer[4].strip() if peer else "",
                count,
                kind if not found[2] else "",
                _guid(found[1]) if found[2] else "",
                _guid(peer[1]) if peer else "",
                peer[2] if peer else "",
            )
        )
    return ports, used


def _guid(digits: str | None) -> str:
    """Return a GUID without leading zeros, which some versions drop; empty if there is none."""
    return f"{int(digits, 16):x}" if digits else ""


def _read(text: Text) -> Reading:
    ports, used = _ports(text)
    if not ports:
        rule = "iblinkinfo prints a line with ==( ... )==> for every port"
        fix = "send its whole output"
        raise InputError(Problem(file=text.path, found="no port", rule=rule, fix=fix))
    fields = _fields(ports)
    cabling = cabling_of(text.path, ports)
    network = None if cabling is None else fabric_reading(cabling)
    fields["network"] = None if network is None else network.fields
    return Reading(
        "iblinkinfo",
        "system",
        tuple(_summary(fields)),
        fields,
        (*_warnings(ports, fields), *(network.warnings if network is not None else ())),
        passed_over(text, used, re.compile(r"\s*#"), "no port and no device"),
        cabling=cabling,
    )


def _fields(ports: list[Port]) -> dict[str, Any]:
    joined = [one for one in ports if one.peer]
    speeds = Counter(f"{one.lanes}x{one.speed}" for one in joined if one.lanes and one.speed)
    return {
        "link_layer": "InfiniBand",
        "ports": len(ports),
        "ports_with_peer": len(joined),
        "ports_down": sum(one.unlinked for one in ports),
        "devices": sorted({one.name for one in ports if one.name}),
        "states": dict(Counter(one.state for one in ports)),
        "speeds": dict(speeds.most_common()),
        "aggregation_nodes": [
            {"speed": one.speed, "rate_bytes_per_s": one.rate}
            for one in ports
            if AGGREGATION in one.name
        ],
        "hints": sum("Could be" in one.hint for one in ports),
        "links": [
            {
                "device": one.name,
                "port": one.number,
                "peer": one.peer,
                "lanes": one.lanes,
                "speed": one.speed,
                "rate_bytes_per_s": one.rate,
                "state": one.state,
            }
            for one in joined[:2000]
        ],
    }


def _summary(fields: dict[str, Any]) -> Iterator[str]:
    yield (
        f"{counted(fields['ports'], 'port')} of {counted(len(fields['devices']), 'device')}, "
        "all InfiniBand"
    )
    if fields["speeds"]:
        yield "links: " + ", ".join(f"{count} x {name}" for name, count in fields["speeds"].items())
    if fields["aggregation_nodes"]:
        yield "the switch reduces in the network: it shows a SHARP aggregation node"


def _warnings(ports: list[Port], fields: dict[str, Any]) -> Iterator[str]:
    yield "iblinkinfo answers, so this is InfiniBand and not RoCE"
    down = [one for one in ports if one.unlinked]
    if down:
        told = ", ".join(f"{one.name}[{one.number}]" for one in down[:3])
        yield f"without a link, polling or disabled ({len(down)} ports): {told} first"
    slow = [one for one in ports if one.lanes and one.lanes < 4 and one.peer]
    if slow:
        yield f"on fewer than 4 lanes ({len(slow)} links): {slow[0].name}[{slow[0].number}] first"
    waiting = fields["states"].get("Initialize", 0)
    if waiting:
        yield f"in state Initialize, not set up by a subnet manager: {counted(waiting, 'port')}"
    if fields["hints"]:
        yield f"could be wider or faster, as iblinkinfo says: {counted(fields['hints'], 'port')}"
    yield from _slower_than_switch(ports)


def _slower_than_switch(ports: list[Port]) -> Iterator[str]:
    """Yield that hosts run below what the switch's own aggregation node shows it can do."""
    able = max((one.rate or 0.0 for one in ports if AGGREGATION in one.name), default=0.0)
    hosts = [one.rate for one in ports if one.peer and one.rate and AGGREGATION not in one.name]
    if able and hosts and max(hosts) < able:
        yield (
            f"hosts are linked at {show_line_rate(max(hosts))}, the switch can do "
            f"{show_line_rate(able)}: the cards or cables limit, not the switch"
        )


FORMAT: Final = Format("iblinkinfo", "system", _recognise, _read)
