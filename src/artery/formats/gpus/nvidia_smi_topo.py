"""``nvidia-smi topo -m`` and ``-mp``: how every pair of GPUs and network cards is joined.

``NVk`` is k NVLinks; ``PIX`` one PCIe bridge, ``PXB`` several, ``PHB`` the host bridge, ``NODE``
between host bridges of a socket, ``SYS`` (once ``SOC``) between sockets.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import combinations
from typing import Any, Final

from artery.catalog.systems import described
from artery.core.system import System
from artery.errors import InputError, Problem
from artery.formats.gpus.grid import STATUS, TOPOLOGY, Grid, grids
from artery.formats.gpus.names import one_chip, products_in
from artery.formats.gpus.node_table import Node, node_table
from artery.formats.passed import passed_over
from artery.formats.reading import Format, Reading
from artery.formats.syntax.prefixes import bare
from artery.formats.text import Text
from artery.formats.wording import counted

NEARNESS: Final = ("PIX", "PXB", "PHB", "NODE", "SYS")
"""PCIe classes from near to far."""

_NIC_LEGEND: Final = re.compile(r"[ \t]{0,20}(NIC\d{1,3}):[ \t]{1,20}(\S{1,60})\s*")
_LEGEND: Final = re.compile(r"\s*(?:GPU \d+: |Legend:|NIC Legend:|NIC\d+:|[A-Z#]{1,4}\d?\s+= )")


def is_topology(grid: Grid) -> bool:
    """Whether the table says how devices are joined."""
    return any(TOPOLOGY.fullmatch(cell) for cell in grid.values()) or (
        set(grid.values()) == {"X"} and bool(grid.columns)
    )


def _recognise(text: Text) -> float:
    if "between two GPUs" in text.head:
        return 0.0
    return 0.9 if any(map(is_topology, grids(text.head.split("\n"))[0])) else 0.0


def _read(text: Text) -> Reading:
    tables, used = grids(text.lines)
    matrices = [grid for grid in tables if is_topology(grid)]
    if not matrices:
        rule = "nvidia-smi topo -m prints a row and a column for every GPU"
        fix = "send the whole output, from the line with the names on"
        raise InputError(Problem(file=text.path, found="no matrix", rule=rule, fix=fix))
    grid = matrices[0]
    products = products_in(text.content)
    fields = {**_fields(grid, text), "matrices": len(matrices)}
    fields["nvlink_hidden"] = "topo -mp" in text.head
    fields["p2p"] = next((statuses(one) for one in tables if is_status(one)), None)
    chip = one_chip(products)
    fields |= {"products": products, "chip": chip, "missing_facts": _missing(fields, chip)}
    node = _node(grid, fields, text.path)
    table = partial(_table, node, hidden=fields["nvlink_hidden"])
    system, doubts = _system(table, chip, text.path)
    return Reading(
        "nvidia-smi-topo", "system", tuple(_summary(fields)), fields,
        (*_warnings(grid, fields), *doubts), passed_over(text, used, _LEGEND), system, (), table,
    )  # fmt: skip


def _fields(grid: Grid, text: Text) -> dict[str, Any]:
    gpus = grid.gpus
    nics = [name for name in grid.names if name not in gpus]
    pairs = list(combinations(gpus, 2))
    links = Counter(grid.value(*pair) or "unknown" for pair in pairs)
    far = {"SOC": "SYS"}
    near = {
        gpu: {nic: far.get(cell, cell) for nic in nics if (cell := grid.value(gpu, nic))}
        for gpu in gpus
    }
    legend = (_NIC_LEGEND.fullmatch(bare(line[:200])) for line in text.lines)
    named = {one[1]: one[2] for one in legend if one is not None}
    return {
        "gpus": len(gpus),
        "gpu_names": list(gpus),
        "nics": [{"name": nic, "device": named.get(nic, nic)} for nic in nics],
        "links": dict(links),
        "pairs": [
            {"pair": [gpus.index(a), gpus.index(b)], "link": grid.value(a, b)} for a, b in pairs
        ],
        "nvlinks_per_pair": sorted({int(link[2:]) for link in links if link.startswith("NV")}),
        "nic_distance": near,
        "nearest_nics": {gpu: _nearest(near[gpu]) for gpu in gpus},
        "gpus_with_own_nic": [gpu for gpu in gpus if {"PIX", "PXB"} & set(near[gpu].values())],
        "nics_far_from_all": [
            nic for nic in nics if gpus and all(near[gpu].get(nic) == "SYS" for gpu in gpus)
        ],
        "nics_side_by_side": [
            list(two) for two in combinations(nics, 2) if grid.value(*two) == "PIX"
        ],
        **_affinity(grid),
        "cut_rows": grid.cut,
    }


def _nearest(distance: dict[str, str]) -> list[str]:
    """Return the cards that are nearest to a GPU; none if all are across the sockets."""
    known = [cell for cell in distance.values() if cell in NEARNESS]
    if not known:
        return []
    best = min(known, key=NEARNESS.index)
    return [nic for nic, cell in distance.items() if cell == best]


NODE: Final = re.compile(r"[0-9]{1,9}")
SEVERAL: Final = re.compile(r"N/A|[0-9]{1,4}(?:[-,][0-9]{1,4})+")
"""One NUMA node; and what is none, or several."""

MOST_NODES: Final = 1024
"""Linux counts NUMA nodes from 0 to 1023 (MAX_NUMNODES on x86)."""


def _affinity(grid: Grid) -> dict[str, Any]:
    """The processors and the NUMA node of every GPU, where the file says them."""
    processors: dict[str, str] = {}
    numa: dict[str, int | None] = {}
    strange: dict[str, str] = {}
    for gpu in grid.gpus:
        tail = list(grid.tails.get(gpu, ()))
        if "CPU Affinity" in grid.columns and tail and tail[0] != "N/A":
            processors[gpu] = tail.pop(0)
        if "NUMA Affinity" not in grid.columns or not tail:
            continue
        if NODE.fullmatch(tail[0]) and int(tail[0]) < MOST_NODES:
            numa[gpu] = int(tail[0])
        elif not SEVERAL.fullmatch(tail[0]):
            strange[gpu] = tail[0][:20]
    return {
        "cpu_affinity": processors,
        "numa": numa,
        "numa_damaged": strange,
        "numa_nodes": sorted({*numa.values()} - {None}),
    }


def is_status(grid: Grid) -> bool:
    """Whether the table says which pairs may reach each other's memory."""
    cells = set(grid.values())
    return all(cell in {"X", "N/A"} or STATUS.fullmatch(cell) for cell in cells) and not (
        cells == {"X"} and grid.columns
    )


def statuses(grid: Grid) -> dict[str, Any]:
    """Return the count of each peer-to-peer status over pairs, and whether all pairs are ``OK``."""
    found = Counter(grid.value(*pair) or "unknown" for pair in combinations(grid.gpus, 2))
    return {"pairs": dict(found), "all_ok": bool(found) and set(found) == {"OK"}}


def _missing(fields: dict[str, Any], chip: str | None) -> list[str]:
    missing = [] if chip else ["chip: which GPUs these are (nvidia-smi -L)"]
    if fields["nics"]:
        missing.append("network cards: their rate (ibstat, ethtool)")
    return missing


def _node(grid: Grid, fields: dict[str, Any], path: str) -> Node:
    links: dict[tuple[int, int], int] = {}
    near: dict[tuple[int, int], str] = {}
    for one in fields["pairs"]:
        pair, link = tuple(one["pair"]), one["link"] or ""
        if link.startswith("NV"):
            links[pair] = int(link[2:])
        elif link:
            near[pair] = {"SOC": "SYS"}.get(link, link)
    p2p = fields["p2p"]
    sockets = len(fields["numa_nodes"]) or None
    return Node(
        "node-from-topo", len(grid.gpus), links, near,
        sockets if sockets and len(grid.gpus) % sockets == 0 and sockets <= 2 else None,
        peers=None if p2p is None else p2p["all_ok"], file=path,
    )  # fmt: skip


def _table(node: Node, chip: str | None, *, hidden: bool) -> dict[str, Any]:
    if hidden:
        rule = "topo -mp leaves NVLinks out"
        fix = "give what `nvidia-smi topo -m` prints"
        raise InputError(Problem(file=node.file, found="PCIe links only", rule=rule, fix=fix))
    return node_table(node, chip)


def _system(table: Any, chip: str | None, path: str) -> tuple[System | None, tuple[str, ...]]:  # noqa: ANN401
    """Return the system, if the file says enough, else what stands against it."""
    if chip is None:
        return None, ()
    try:
        return described(table(chip), path), ()
    except InputError as error:
        return None, tuple(f"no system can be made of it: {one}" for one in error.problems)


def _summary(fields: dict[str, Any]) -> Iterator[str]:
    named = f" {fields['products'][0]}" if len(fields["products"]) == 1 else ""
    gpus, nics = fields["gpus"], len(fields["nics"])
    yield f"{counted(gpus, 'GPU')}{named}, {counted(nics, 'network card')}"
    if fields["links"]:
        said = ", ".join(
            f"{count} {_spelt(link)}" for link, count in sorted(fields["links"].items())
        )
        yield f"GPU pairs: {said}"
    if fields["nics"]:
        own = len(fields["gpus_with_own_nic"])
        yield f"{own} of {counted(gpus, 'GPU')} have a network card behind their own PCIe switch"
    if fields["numa_nodes"]:
        yield f"NUMA nodes of the GPUs: {', '.join(map(str, fields['numa_nodes']))}"
    if fields["p2p"]:
        said = ", ".join(f"{count} {state}" for state, count in fields["p2p"]["pairs"].items())
        yield f"peer-to-peer: {said}"


def _spelt(link: str) -> str:
    """Return a cell of the matrix, with what it counts."""
    number = link.removeprefix("NV")
    return f"{link} ({counted(int(number), 'NVLink')} each)" if number.isdecimal() else link


def _warnings(grid: Grid, fields: dict[str, Any]) -> Iterator[str]:
    yield from _about_links(fields)
    without = [gpu for gpu in grid.gpus if gpu not in fields["gpus_with_own_nic"]]
    if fields["nics"] and fields["gpus_with_own_nic"] and without:
        far = ", ".join(without)
        yield f"no network card near {far}: their traffic passes another GPU or the processor"
    if fields["p2p"] and not fields["p2p"]["all_ok"] and fields["p2p"]["pairs"]:
        yield "the driver refuses peer-to-peer between some pairs: copies go through host memory"
    for gpu, cell in list(fields["numa_damaged"].items())[:3]:
        yield f'the NUMA node of {gpu} is "{cell}": no such thing; the line is damaged'
    if len(fields["numa_nodes"]) > 2:
        count = len(fields["numa_nodes"])
        yield f"{count} NUMA nodes among the GPUs: several to a socket (NPS), a node is no socket"
    if grid.cut:
        yield f"rows cut off and filled by symmetry: {', '.join(grid.cut)}"
    if "unknown" in fields["links"]:
        yield f"{fields['links']['unknown']} pairs are in no row of the file"


def _about_links(fields: dict[str, Any]) -> Iterator[str]:
    links, counts, gpus = fields["links"], fields["nvlinks_per_pair"], fields["gpus"]
    if fields["nvlink_hidden"]:
        yield "topo -mp prints PCIe only: NVLinks are there or not, it does not say (topo -m does)"
    if gpus == 1:
        yield "one GPU: the file says nothing about links between GPUs"
    if len(counts) > 1 and max(counts) > 4:
        yield (f"NV{counts[0]} beside NV{counts[-1]}: some pairs have lost NVLinks "
               "(nvidia-smi nvlink -s, dmesg for Xid 74); behind switches the slowest counts "
               "for all")  # fmt: skip
    if gpus >= 8 and set(links) <= {"SYS", "SOC", "NODE"}:
        yield ("all pairs are SYS or NODE: on a machine with NVSwitch the NVLinks are down "
               "(does the fabric manager run?); PCIe cards talk across processors")  # fmt: skip
    if gpus > 2 and set(links) == {"PIX"}:
        yield ("all pairs are PIX: a flattened PCIe tree as virtual machines show it; "
               "give the libraries the provider's topology file (NCCL_TOPO_FILE)")  # fmt: skip


FORMAT = Format("nvidia-smi-topo", "system", _recognise, _read)


def _read_p2p(text: Text) -> Reading:
    tables, used = grids(text.lines)
    matrices = [grid for grid in tables if is_status(grid)]
    if not matrices:
        rule = "nvidia-smi topo -p2p prints OK, CNS, GNS, TNS, NS, DR or U for every pair"
        raise InputError(
            Problem(file=text.path, found="no matrix", rule=rule, fix="send the whole output")
        )
    grid = matrices[0]
    said = statuses(grid)
    fields = {"gpus": len(grid.gpus), **said}
    words = ", ".join(f"{count} {state}" for state, count in said["pairs"].items())
    warnings = () if said["all_ok"] or not said["pairs"] else (
        "the driver refuses peer-to-peer between some pairs: copies go through host memory",
    )  # fmt: skip
    summary = (f"{len(grid.gpus)} GPUs, peer-to-peer by pair: {words or 'no pairs'}",)
    ignored = passed_over(text, used, _LEGEND)
    return Reading("nvidia-smi-p2p", "system", summary, fields, warnings, ignored)


def _recognise_p2p(text: Text) -> float:
    tables = grids(text.head.split("\n"))[0]
    if any(map(is_topology, tables)):
        return 0.0
    return 0.9 if any(is_status(grid) and len(grid.gpus) > 1 for grid in tables) else 0.0


P2P = Format("nvidia-smi-p2p", "system", _recognise_p2p, _read_p2p)
FORMATS = (FORMAT, P2P)
