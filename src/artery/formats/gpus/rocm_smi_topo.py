"""``rocm-smi --showtopo``: weight, hops and kind of link between every pair of GPUs.

Each of its four sections may be missing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import combinations
from typing import Any, Final

from artery.catalog.systems import described
from artery.errors import InputError, Problem
from artery.formats.gpus.grid import Grid, grids
from artery.formats.gpus.names import one_chip, products_in
from artery.formats.gpus.node_table import Node, node_table
from artery.formats.passed import passed_over
from artery.formats.reading import Format, Reading
from artery.formats.text import Text

_SECTIONS: Final = {"Weight": "weight", "Hops": "hops", "Link Type": "link_type"}
_TITLE: Final = re.compile(r"=+ (Weight|Hops|Link Type) between two GPUs =*")
_NUMA: Final = re.compile(
    r"GPU\[(\d{1,3})\]\s{0,20}: \(Topology\) Numa (Node|Affinity): (-?\d{1,4})"
)
_KNOWN: Final = re.compile(r"\s*=+.*=+\s*$|WARNING")


def _recognise(text: Text) -> float:
    if _TITLE.search(text.head) or _NUMA.search(text.head):
        return 0.95
    return 0.0


def _read(text: Text) -> Reading:
    tables, used = grids(text.lines)
    sections = _sections(text, tables)
    numa = {
        int(gpu): int(node) for gpu, what, node in _NUMA.findall(text.content) if what == "Node"
    }
    if not sections and not numa:
        rule = "rocm-smi --showtopo prints a matrix of weights, hops or link types"
        fix = "send the whole output"
        raise InputError(Problem(file=text.path, found="no matrix", rule=rule, fix=fix))
    products = products_in(text.content)
    fields = _fields(sections, numa) | {"products": products, "chip": one_chip(products)}
    chip = fields["chip"]
    fields["missing_facts"] = (
        [] if chip else ["chip: which GPUs these are (rocm-smi --showproductname)"]
    )
    for number, line in enumerate(text.lines, 1):
        if _NUMA.search(line):
            used.add(number)
    table = partial(node_table, _node(sections, fields, text.path))
    system = None
    doubts: tuple[str, ...] = ()
    if chip is not None:
        try:
            system = described(table(chip), text.path)
        except InputError as error:
            doubts = tuple(f"no system can be made of it: {one}" for one in error.problems)
    return Reading(
        "rocm-smi-topo", "system", tuple(_summary(fields)), fields,
        (*_warnings(text, fields), *doubts), passed_over(text, used, _KNOWN), system, (), table,
    )  # fmt: skip


def _sections(text: Text, tables: list[Grid]) -> dict[str, Grid]:
    """Return the table below each title."""
    found: dict[str, Grid] = {}
    for number, line in enumerate(text.lines, 1):
        title = _TITLE.search(line)
        if title is not None:
            below = next((grid for grid in tables if grid.line > number), None)
            if below is not None:
                found.setdefault(_SECTIONS[title[1]], below)
    return found


def _fields(sections: dict[str, Grid], numa: dict[int, int]) -> dict[str, Any]:
    first = next(iter(sections.values()), None)
    count = len(first.gpus) if first is not None else len(numa)
    fields: dict[str, Any] = {"gpus": count, "sections": list(sections)}
    for name, grid in sections.items():
        cells = Counter(grid.value(*pair) or "unknown" for pair in combinations(grid.gpus, 2))
        fields[name] = dict(cells)
    kinds = fields.get("link_type", {})
    fields["fully_connected"] = bool(kinds) and set(kinds) == {"XGMI"} and (
        set(fields.get("hops", {"1": 1})) == {"1"}
    )  # fmt: skip
    fields["numa"] = {f"GPU{gpu}": node for gpu, node in sorted(numa.items())}
    fields["numa_nodes"] = sorted(set(numa.values()))
    fields["cut_rows"] = sorted(
        {row for grid in sections.values() for row in grid.cut} if count > 1 else []
    )
    return fields


def _node(sections: dict[str, Grid], fields: dict[str, Any], path: str) -> Node:
    links: dict[tuple[int, int], int] = {}
    near: dict[tuple[int, int], str] = {}
    kinds, hops = sections.get("link_type"), sections.get("hops")
    if kinds is not None:
        gpus = kinds.gpus
        for one, other in combinations(range(len(gpus)), 2):
            pair = gpus[one], gpus[other]
            direct = hops is None or hops.value(*pair) in {"1", None}
            if kinds.value(*pair) == "XGMI" and direct:
                links[one, other] = 1
    nodes = fields["numa_nodes"]
    sockets = len(nodes) if 1 <= len(nodes) <= 2 else None
    return Node("node-from-rocm-smi", fields["gpus"], links, near, sockets, file=path)


def _summary(fields: dict[str, Any]) -> Iterator[str]:
    yield f"{fields['gpus']} AMD GPU{'s'[: fields['gpus'] != 1]}"
    for name, label in (("link_type", "links"), ("hops", "hops"), ("weight", "weights")):
        if fields.get(name):
            said = ", ".join(f"{count} x {value}" for value, count in fields[name].items())
            yield f"{label} of pairs: {said}"
    if fields["numa_nodes"]:
        yield f"NUMA nodes: {', '.join(map(str, fields['numa_nodes']))}"


def _warnings(text: Text, fields: dict[str, Any]) -> Iterator[str]:
    for line in text.lines:
        if line.lstrip().startswith("WARNING"):
            yield f"rocm-smi says: {line.strip()[:200]}"
            break
    kinds = fields.get("link_type", {})
    if fields["gpus"] == 1:
        yield "one GPU: the file says nothing about links between GPUs"
    if kinds.get("PCIE"):
        yield f"{kinds['PCIE']} pairs are joined by PCIe only: no xGMI between them"
    if fields["cut_rows"]:
        yield f"rows cut off and filled by symmetry: {', '.join(fields['cut_rows'])}"


FORMAT = Format("rocm-smi-topo", "system", _recognise, _read)
