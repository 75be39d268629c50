"""Contradictions in a system's file: what a kind of node needs, and tiers that do not nest."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from artery.catalog.checks import Complaint, complaints, counts, fraction, label
from artery.catalog.door import is_path
from artery.catalog.loader import resolve
from artery.catalog.sourced import Path
from artery.catalog.systems.parts import VERTEX
from artery.catalog.systems.schema import (
    CalibrationTable,
    DragonflyTable,
    FabricTable,
    HostTable,
    NicTable,
    NodeTable,
    SystemTable,
    TorusTable,
)
from artery.errors import UnknownNameError
from artery.node.graph import MOST_CHIPS

MOST_CHIPS_IN_A_NODE = 1024
"""Assumed: beyond any scale-up domain built or announced; a slip of the pen above."""

MOST_CARDS_IN_A_NODE, MOST_PLANES, MOST_PORTS, MOST_SOCKETS = 256, 16, 4096, 16
"""Assumed: several times what is built (32 cards, 4 planes, 576 ports, 8 sockets)."""

_FIXED = {"single": 1, "cube-mesh": 8, "nvl72": 4}
"""Chips of a node whose kind says how many."""

_ON_CHIP = ("noc-mesh", "noc-ring", "noc-crossbar")
_NEEDS_LINK = ("nvlink-pairs", "cube-mesh", "nvswitch", "nvl72", "full-mesh", *_ON_CHIP)
_NEEDS_HOST = ("pcie-tree", "nvlink-pairs", "cube-mesh")


@complaints.register
def _(table: SystemTable) -> Iterator[Complaint]:
    if table.chips is not None:
        yield from counts({"chips": table.chips})
    yield from _known("chips", table.chip, ("chip",))
    for path, name in _links(table):
        yield from _known("links", name, path)
    if table.calibration is not None:
        yield from _calibration(table.calibration)
    yield from _node(table.node)
    if table.fabric is not None and table.torus is not None:
        rule = "a system has a fabric or a torus"
        yield Complaint(("torus",), "both [fabric] and [torus]", rule, "leave one out")
    if table.dragonfly is not None and (table.fabric or table.torus) is not None:
        rule = "a system has a fabric, a dragonfly or a torus"
        found = "[dragonfly] beside [fabric] or [torus]"
        yield Complaint(("dragonfly",), found, rule, "leave one out")
    if (table.torus is not None) != (table.node.kind == "torus"):
        rule = 'kind = "torus" and [torus] go together'
        yield Complaint(("node", "kind"), f'"{table.node.kind}"', rule, "write both or neither")
    if table.fabric is not None:
        yield from _fabric(table.fabric, table.node)
    if table.dragonfly is not None:
        yield from _dragonfly(table.dragonfly)
    if table.torus is not None:
        yield from _torus(table.torus)


def _links(table: SystemTable) -> Iterator[tuple[Path, str]]:
    """Yield the classes of link that the table names, and where."""
    if table.node.link is not None:
        yield ("node", "link"), table.node.link
    if table.node.host is not None:
        yield ("node", "host", "link"), table.node.host.link
    for index, cable in enumerate(table.node.cables):
        yield ("node", "cables", index, "link"), cable.link
    if table.fabric is not None:
        yield ("fabric", "nic", "link"), table.fabric.nic.link
    if table.torus is not None:
        yield ("torus", "link"), table.torus.link


def _known(kind: str, name: str, path: Path) -> Iterator[Complaint]:
    """Yield a complaint if ``name`` is neither a file nor an entry of that kind in the catalog."""
    if is_path(name):
        return
    try:
        resolve(kind, name)
    except UnknownNameError as error:
        (problem,) = error.problems
        yield Complaint(path, problem.found, problem.rule, problem.fix)


def _calibration(measured: CalibrationTable) -> Iterator[Complaint]:
    """Yield what is wrong with the factors of a framework."""
    if measured.framework is not None:
        yield from _known("profiles", measured.framework, ("calibration", "framework"))
    elif (measured.host, measured.exposed) != (1.0, 1.0):
        rule = "host and exposed are of one training framework"
        fix = 'framework = "megatron-core", for example'
        yield Complaint(("calibration", "framework"), "no framework", rule, fix)


def _node(node: NodeTable) -> Iterator[Complaint]:
    path: Path = ("node",)
    fixed = _FIXED.get(node.kind)
    if fixed is not None and node.chips != fixed:
        fix = f"write {fixed}, or choose another kind"
        yield Complaint((*path, "chips"), str(node.chips), f"a {node.kind} node has {fixed}", fix)
    if node.kind != "graph":  # which has bounds of its own
        yield from _between(node.chips, 1, MOST_CHIPS_IN_A_NODE, (*path, "chips"))
    if node.kind in _NEEDS_LINK and node.link is None:
        fix = 'for example link = "nvlink4"'
        yield Complaint((*path, "link"), "nothing", f"a {node.kind} node needs a link", fix)
    if node.kind in _NEEDS_HOST and node.host is None:
        fix = 'for example host = {link = "pcie4x16"}'
        yield Complaint((*path, "host"), "nothing", f"a {node.kind} node needs a host", fix)
    if node.switches is not None:
        yield from _between(node.switches, 1, MOST_PORTS, (*path, "switches"))
    if node.host is not None:
        yield from _host(node, node.host)
    if node.kind == "graph":
        yield from _graph(node)
    if node.kind.startswith("noc-"):
        yield from _on_chip(node)


def _graph(node: NodeTable) -> Iterator[Complaint]:
    path: Path = ("node", "cables")
    known = 2 <= node.chips <= MOST_CHIPS
    if not known:
        rule = f"a graph has 2 to {MOST_CHIPS} chips"
        yield Complaint(("node", "chips"), str(node.chips), rule, "larger networks take a [fabric]")
    if not node.cables:
        fix = 'for example cables = [{ends = ["chip0", "chip1"], link = "nvlink4"}]'
        yield Complaint(path, "nothing", "a graph needs cables", fix)
    for index, cable in enumerate(node.cables):
        here: Path = (*path, index, "ends")
        if len(cable.ends) != 2 or len(set(cable.ends)) != 2:
            found = ", ".join(cable.ends) or "nothing"
            fix = 'for example ends = ["chip0", "chip1"]'
            yield Complaint(here, found, "a cable has two different ends", fix)
        for end in cable.ends:
            match = VERTEX.fullmatch(end)
            if match is None:
                fix = "for example chip0, switch3, host1, nic7"
                yield Complaint(here, f'"{end}"', "no kind of vertex with a number", fix)
            elif match[1] == "chip" and known and int(match[2]) >= node.chips:
                rule = f"there are {node.chips} chips, numbered from 0"
                yield Complaint(here, f'"{end}"', rule, f"chip0 to chip{node.chips - 1}")


def _on_chip(node: NodeTable) -> Iterator[Complaint]:
    path: Path = ("node",)
    yield from _between(node.memories, 0, MOST_CHIPS_IN_A_NODE, (*path, "memories"))
    if node.columns is not None and (node.columns < 1 or node.chips % node.columns):
        rule = f"must divide the {node.chips} cores"
        yield Complaint(
            (*path, "columns"), str(node.columns), rule, "leave out: as square as can be"
        )


def _host(node: NodeTable, host: HostTable) -> Iterator[Complaint]:
    path: Path = ("node", "host")
    yield from _between(host.sockets, 1, MOST_SOCKETS, (*path, "sockets"))
    if host.switches < 0 or (host.switches and node.chips % host.switches):
        rule = f"must divide the {node.chips} chips of a node"
        yield Complaint((*path, "switches"), str(host.switches), rule, "0: cards on root ports")
    if host.sockets > 1 and host.socket_bandwidth is None and node.kind in _NEEDS_HOST:
        rule = "traffic between cards crosses the sockets"
        fix = 'for example socket_bandwidth = "20 GB/s per direction"'
        yield Complaint((*path, "socket_bandwidth"), "nothing", rule, fix)
    if not host.peer_to_peer and host.memory is None:
        rule = "without peer-to-peer every transfer goes through host memory"
        fix = 'for example memory = "51.2 GB/s"'
        yield Complaint((*path, "memory"), "nothing", rule, fix)


def _nic(nic: NicTable, path: Path) -> Iterator[Complaint]:
    yield from _between(nic.count, 1, MOST_CARDS_IN_A_NODE, (*path, "count"))
    yield from _between(nic.planes, 1, MOST_PLANES, (*path, "planes"))
    yield from _between(nic.tors, 1, MOST_PLANES, (*path, "tors"))
    if nic.efficiency is not None:
        yield from fraction(nic.efficiency, (*path, "efficiency"))


def _dragonfly(table: DragonflyTable) -> Iterator[Complaint]:
    path: Path = ("dragonfly",)
    yield from _nic(table.nic, (*path, "nic"))
    if table.nic.planes != 1 or table.nic.tors != 1:
        rule = "a card of a dragonfly has one port"
        yield Complaint((*path, "nic"), "planes or tors", rule, "leave them out")
    sizes = ("nodes", "routers", "local", "between")
    yield from counts({name: getattr(table, name) for name in sizes}, path)
    yield from _between(table.spines, 0, MOST_PORTS, (*path, "spines"))
    yield from _between(table.radix, 2, MOST_PORTS, (*path, "radix"))
    for name in ("published", "limit"):
        value = getattr(table, name)
        if value is not None:
            yield from counts({name: value}, path)


def _fabric(fabric: FabricTable, node: NodeTable) -> Iterator[Complaint]:
    yield from _nic(fabric.nic, ("fabric", "nic"))
    if fabric.rail_only and not fabric.rails:
        rule = "rails that share no switch are rails"
        yield Complaint(("fabric", "rail_only"), "true", rule, "write rails = true too")
    if not fabric.tiers:
        fix = 'for example tiers = [{name = "leaf", nodes = 32}, {name = "spine"}]'
        yield Complaint(("fabric", "tiers"), "nothing", "a fabric needs tiers", fix)
    for name in ("published", "limit"):
        value = getattr(fabric, name)
        if value is not None:
            yield from counts({name: value}, ("fabric",))
    for index, level in enumerate(fabric.tiers):
        path: Path = ("fabric", "tiers", index)
        yield from label(level.name, (*path, "name"))
        if level.name in {below.name for below in fabric.tiers[:index]}:
            rule = "each tier has its own name"
            yield Complaint((*path, "name"), f'"{level.name}"', rule, "rename one of the two")
        yield from _between(level.radix, 2, MOST_PORTS, (*path, "radix"))
        if level.nodes is not None:
            yield from counts({"nodes": level.nodes}, path)
        if level.taper < 1:
            rule = "is bandwidth below over bandwidth into the tier, at least 1"
            yield Complaint((*path, "taper"), f"{level.taper:g}", rule, "1: full bisection")
    yield from _nesting(fabric, node)


def _nesting(fabric: FabricTable, node: NodeTable) -> Iterator[Complaint]:
    """Check that each tier holds whole groups of the one below."""
    sizes = [level.nodes for level in fabric.tiers]
    for index, size in enumerate(sizes[:-1]):
        if size is None:
            path: Path = ("fabric", "tiers", index, "nodes")
            yield Complaint(
                path, "nothing", "only the last tier may hold all nodes", "say how many"
            )
    domain = node.trays if node.kind == "nvl72" else 1
    for index, (inner, outer) in enumerate(pairwise([domain, *sizes])):
        if inner is None or outer is None or inner < 1:
            continue
        if outer % inner:
            path = ("fabric", "tiers", index, "nodes")
            rule = f"must be a multiple of the {inner} below"
            yield Complaint(path, str(outer), rule, f"for example {max(1, outer // inner) * inner}")


def _torus(torus: TorusTable) -> Iterator[Complaint]:
    yield from _between(torus.dimensions, 2, 3, ("torus", "dimensions"))
    yield from counts({"cube": torus.cube, "limit": torus.limit}, ("torus",))


def _between(value: int, low: int, high: int, path: Path) -> Iterator[Complaint]:
    """Check that a count is neither nonsense nor a slip of the pen."""
    if not low <= value <= high:
        rule = f"must lie between {low} and {high:,}"
        yield Complaint(path, str(value), rule, "leave out what is not there")
