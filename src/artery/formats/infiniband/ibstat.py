"""``ibstat`` and ``ibstatus``: the InfiniBand (or RoCE) ports of one host."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from artery.errors import InputError, Problem
from artery.formats.passed import passed_over
from artery.formats.reading import Format, Reading
from artery.formats.syntax.numerals import number
from artery.formats.syntax.prefixes import bare
from artery.formats.text import Text
from artery.formats.wording import counted
from artery.units import show_line_rate

_CARD = re.compile(r"\s*CA '([^']{1,64})'")
_PORT = re.compile(r"\s*Port (\d{1,3}):\s*$")
_STATUS = re.compile(r"\s*Infiniband device '([^']{1,64})' port (\d{1,3}) status:")
_PAIR = re.compile(r"\s*([A-Za-z][A-Za-z_ ]{1,40}?)\s*:\s*(\S.{0,200}?)\s*$")
_RATE = re.compile(r"\s*(\d{1,6}(?:\.\d{1,3})?)(?:\s*Gb/sec)?(?:\s*\((\d{1,2})X\s*([A-Z0-9]*)\))?")

Row = dict[str, Any]


def _recognise(text: Text) -> float:
    lines = [bare(line) for line in text.head.split("\n")]
    if any(_STATUS.match(line) for line in lines):
        return 0.95
    if any(_CARD.match(line) for line in lines) and any("state:" in line.lower() for line in lines):
        return 0.95
    return 0.0


def _rows(text: Text) -> tuple[list[Row], list[str], set[int]]:
    """Return one row of raw words per port, the cards, and the lines that were used."""
    rows: list[Row] = []
    cards: list[str] = []
    used: set[int] = set()
    above: Row = {}
    here: Row = {}
    for count, raw in enumerate(text.lines, 1):
        line = bare(raw)
        if card := _CARD.match(line):
            above = here = {"device": card[1]}
            cards.append(card[1])
        elif status := _STATUS.match(line):
            above = {}
            here = {"device": status[1], "port": int(status[2])}
            rows.append(here)
            cards.append(status[1])
        elif (port := _PORT.match(line)) and above:
            here = {**above, "port": int(port[1])}
            rows.append(here)
        elif (pair := _PAIR.match(line)) and here:
            here[pair[1].strip().casefold().replace(" ", "_")] = pair[2]
        else:
            continue
        used.add(count)
    return rows, list(dict.fromkeys(cards)), used


def _read(text: Text) -> Reading:
    rows, cards, used = _rows(text)
    if not rows:
        rule = "ibstat and ibstatus print a block for every port"
        fix = "send the whole output"
        raise InputError(Problem(file=text.path, found="no port", rule=rule, fix=fix))
    ports = [_port(row) for row in rows]
    usable = [one for one in ports if one["usable"]]
    fields: dict[str, Any] = {
        "devices": cards,
        "ports": ports,
        "active_ports": len(usable),
        "rate_bytes_per_s": sum(one["rate_bytes_per_s"] or 0.0 for one in usable),
    }
    return Reading(
        "ibstat", "state", tuple(_summary(fields)), fields, tuple(_warnings(ports)),
        passed_over(text, used, None, "no property of a port"),
    )  # fmt: skip


def _port(row: Row) -> Row:
    rate = _RATE.match(row.get("rate", ""))
    gigabits = number(rate[1]) if rate else None
    state = row.get("state", "unknown").rpartition(":")[2].strip()
    physical = row.get("physical_state") or row.get("phys_state") or "unknown"
    layer = row.get("link_layer", "unknown")
    return {
        "device": row["device"],
        "port": row["port"],
        "type": row.get("ca_type"),
        "firmware": row.get("firmware_version"),
        "state": state,
        "physical_state": physical.rpartition(":")[2].strip(),
        "rate_bytes_per_s": gigabits * 1e9 / 8 if gigabits is not None else None,
        "generation": (rate[3] or None) if rate else None,
        "link_layer": {"IB": "InfiniBand"}.get(layer, layer),
        "usable": state.casefold() == "active",
    }


def _summary(fields: Row) -> Iterator[str]:
    yield (
        f"{counted(len(fields['ports']), 'port')} on {counted(len(fields['devices']), 'card')}, "
        f"{fields['active_ports']} of them active"
    )
    for one in fields["ports"][:4]:
        rate = one["rate_bytes_per_s"]
        speed = show_line_rate(rate) if rate is not None else "unknown rate"
        yield f"{one['device']} port {one['port']}: {one['state']}, {speed}, {one['link_layer']}"


def _warnings(ports: list[Row]) -> Iterator[str]:
    for one in ports:
        place = f"{one['device']} port {one['port']}"
        if one["state"].casefold().startswith("initializ"):
            yield f"{place} is Initializing: no subnet manager has set it up; it carries no traffic"
        elif not one["usable"]:
            yield f"{place} is {one['state']} ({one['physical_state']}): not usable"
    rates = {one["rate_bytes_per_s"] for one in ports if one["usable"]}
    if len(rates) > 1:
        yield "active ports run at different rates"
    if any(one["link_layer"] == "Ethernet" for one in ports):
        yield "link layer Ethernet: these ports speak RoCE, not InfiniBand"


FORMAT: Final = Format("ibstat", "state", _recognise, _read)
