"""Error counters of InfiniBand ports: ``perfquery`` and ``ibqueryerrors``."""

from __future__ import annotations

import re
from typing import Any, Final

from artery.errors import InputError, Problem
from artery.formats.infiniband.counters import remarks, telling
from artery.formats.passed import passed_over
from artery.formats.reading import Format, Reading
from artery.formats.text import Text

_PORT: Final = re.compile(
    r"# Port (?:extended )?counters: (?:Lid (\d{1,6})|(\S{1,60})) port (\d{1,4})"
)
_COUNTER: Final = re.compile(r"(\w{3,60}):\.{1,60}(0x[0-9a-fA-F]{1,16}|\d{1,20})\s*$")
_NODE: Final = re.compile(r'Errors for (?:0x[0-9a-fA-F]{1,16} )?"([^"]{1,80})"')
_BAD_PORT: Final = re.compile(
    r"GUID 0x[0-9a-fA-F]{1,16} port (\d{1,4}|ALL):((?: ?\[\w{3,60} == [^\]]{1,40}\]){1,60})"
)
_VALUE: Final = re.compile(r"\[(\w{3,60}) == (\d{1,20})")
_CHECKED: Final = re.compile(r"## Summary: (\d{1,9}) nodes checked, (\d{1,9}) bad nodes found")
_SELECT: Final = frozenset({"PortSelect", "CounterSelect", "CounterSelect2"})


def _recognise(text: Text) -> float:
    if _PORT.search(text.head) and _COUNTER.search(text.head.replace("\n", " \n")) is not None:
        return 0.95
    if _PORT.search(text.head) or (_NODE.search(text.head) and _BAD_PORT.search(text.head)):
        return 0.9
    return 0.6 if _CHECKED.search(text.content) else 0.0


def _read(text: Text) -> Reading:
    ports: dict[str, dict[str, int]] = {}
    used: set[int] = set()
    node = port = ""
    checked: tuple[int, int] | None = None
    for number, line in enumerate(text.lines, 1):
        part = line[:4000]
        if title := _PORT.search(part):
            port = f"lid {title[1] or title[2]} port {title[3]}"
        elif port and (counter := _COUNTER.match(part)):
            if counter[1] not in _SELECT:
                ports.setdefault(port, {})[counter[1]] = int(counter[2], 0)
        elif named := _NODE.search(part):
            node = named[1]
        elif bad := _BAD_PORT.search(part):
            if bad[1] == "ALL":
                used.add(number)  # the sum over the ports that follow
                continue
            values = {name: int(value) for name, value in _VALUE.findall(bad[2])}
            ports.setdefault(f"{node} port {bad[1]}".strip(), {}).update(values)
        elif summary := _CHECKED.search(part):
            checked = int(summary[1]), int(summary[2])
        else:
            continue
        used.add(number)
    if not ports and checked is None:
        rule = "perfquery prints Name:....value, ibqueryerrors [Name == value]"
        raise InputError(
            Problem(file=text.path, found="no counter", rule=rule, fix="send it whole")
        )
    found = {name: some for name, counters in ports.items() if (some := telling(counters))}
    fields: dict[str, Any] = {
        "ports": ports,
        "telling": found,
        "nodes_checked": checked[0] if checked else None,
        "bad_nodes": checked[1] if checked else None,
        "about": sorted({str(one["about"]) for some in found.values() for one in some}),
    }
    said = f"{len(ports)} ports with counters, {len(found)} of them with errors or waiting"
    more = () if checked is None else (f"{checked[0]} nodes checked, {checked[1]} bad",)
    return Reading("ib-counters", "measurement", (said, *more), fields, tuple(remarks(ports)),
                   passed_over(text, used, re.compile(r"\s*##")))  # fmt: skip


FORMAT = Format(
    "ib-counters", "measurement", _recognise, _read, tested=False,
    notes=("written from infiniband-diags' documentation; no real output was at hand",),
)  # fmt: skip
