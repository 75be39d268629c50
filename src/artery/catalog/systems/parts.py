"""From the tables of a system to its parts: scale-up domain, tree of switches, torus."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from artery.catalog.systems.schema import (
    DragonflyTable,
    FabricTable,
    HostTable,
    NicTable,
    NodeTable,
    TorusTable,
)
from artery.cluster.dragonfly import Dragonfly
from artery.cluster.fat_tree import FatTree, Level
from artery.cluster.torus import Torus, squarest, torus
from artery.core.link import Link
from artery.errors import InputError, Problem
from artery.node.cube_mesh import cube_mesh
from artery.node.full_mesh import full_mesh
from artery.node.graph import graph
from artery.node.nvl72 import nvl72
from artery.node.nvlink_pairs import nvlink_pairs
from artery.node.nvswitch import nvswitch
from artery.node.on_chip import crossbar, mesh, ring
from artery.node.paths import NoWayError
from artery.node.pcie_tree import Host, pcie_tree
from artery.node.scale_up import Layout, ScaleUp
from artery.node.single import single

Links = Mapping[str, Link]
"""The classes of link that a table names, by name."""

VERTEX = re.compile(r"(chip|switch|host|nic)(0|[1-9][0-9]{0,3})")
"""A vertex of a graph as written in a file."""


_ON_PCIE = ("pcie-tree", "nvlink-pairs", "cube-mesh")


def scale_up(node: NodeTable, links: Links) -> ScaleUp:
    """Return the scale-up domain that the table's node describes.

    Raises :class:`artery.errors.InputError` if a graph does not join its chips.
    """
    if node.kind == "graph":
        return _graph(node, links)
    host = None if node.host is None else _host(node.host, links)
    if node.kind == "single":
        return single(None if host is None else host.link)
    if node.kind.startswith("noc-"):
        return _on_chip(node, _scale_up_link(node, links))
    if host is not None and node.kind in _ON_PCIE:
        return _under_host(node, links, host)
    link = _scale_up_link(node, links)
    if node.kind == "nvl72":
        return nvl72(link, link.latency, host, node.trays)
    if node.kind == "full-mesh":
        return full_mesh(node.chips, link, link.latency, host)
    return nvswitch(
        node.chips,
        link,
        link.latency,
        switches=node.switches or 1,
        reduction=_reduction(node.reduction),
        host=host,
    )


def _under_host(node: NodeTable, links: Links, host: Host) -> ScaleUp:
    """Return a node whose chips reach some others by PCIe alone."""
    if node.kind == "pcie-tree":
        return pcie_tree(node.chips, host, _latency(node, host.link))
    link = _scale_up_link(node, links)
    if node.kind == "nvlink-pairs":
        return nvlink_pairs(node.chips, link, host, _latency(node, host.link))
    return cube_mesh(link, host, link.latency)


def fat_tree(fabric: FabricTable, links: Links) -> FatTree:
    """Return the tree of switches that the table's fabric describes."""
    nic, card = fabric.nic, _card(fabric.nic, links)
    return FatTree(
        card=card,
        cards=nic.count,
        levels=tuple(Level(one.name, one.nodes, one.taper, one.radix) for one in fabric.tiers),
        latency=card.latency + fabric.hop if fabric.latency is None else fabric.latency,
        hop=fabric.hop,
        rails=fabric.rails,
        rail_only=fabric.rail_only,
        planes=nic.planes,
        tors=nic.tors,
        routing=fabric.routing,
        reduction=_reduction(fabric.reduction),
    )


def dragonfly(table: DragonflyTable, links: Links) -> Dragonfly:
    """Return the groups of routers that the table describes."""
    card = _card(table.nic, links)
    return Dragonfly(
        card=card,
        cards=table.nic.count,
        nodes=table.nodes,
        routers=table.routers,
        spines=table.spines,
        local=table.local,
        between=table.between,
        radix=table.radix,
        latency=card.latency + table.hop if table.latency is None else table.latency,
        hop=table.hop,
        long=table.long,
        routing=table.routing,
        reduction=_reduction(table.reduction),
    )


def _card(nic: NicTable, links: Links) -> Link:
    """Return the class of a network card with its own values, where it gives them."""
    return _revised(links[nic.link], bandwidth=nic.bandwidth, efficiency=nic.efficiency)


def slice_of(pod: TorusTable, dims: tuple[int, ...], links: Links) -> Torus:
    """Return the slice of shape ``dims`` of the pod that the table describes."""
    link = _revised(links[pod.link], bandwidth=pod.bandwidth, latency=pod.latency)
    return torus(dims, link, pod.cube, each_side=pod.each_side, wrap=pod.wrap)


def _host(table: HostTable, links: Links) -> Host:
    return Host(
        link=links[table.link],
        switches=table.switches,
        sockets=table.sockets,
        memory=table.memory,
        socket_bandwidth=table.socket_bandwidth,
        peer_to_peer=table.peer_to_peer,
    )


def _scale_up_link(node: NodeTable, links: Links) -> Link:
    """Return the node's link with the node's own bandwidth and latency, where it gives them."""
    if node.link is None:
        raise ValueError(f"a {node.kind} node needs a link")
    return _revised(links[node.link], bandwidth=node.bandwidth, latency=node.latency)


def _revised(
    link: Link,
    bandwidth: float | None = None,
    efficiency: float | None = None,
    latency: float | None = None,
) -> Link:
    """Return ``link`` with the values that are given."""
    return replace(
        link,
        bandwidth=link.bandwidth if bandwidth is None else bandwidth,
        efficiency=link.efficiency if efficiency is None else efficiency,
        latency=link.latency if latency is None else latency,
    )


def _latency(node: NodeTable, link: Link) -> float:
    return link.latency if node.latency is None else node.latency


def _reduction(name: str | None) -> str | None:
    return None if name == "none" else name


def _on_chip(node: NodeTable, wire: Link) -> ScaleUp:
    """Return the network on a chip; a memory controller is as fast as a wire, if nobody says."""
    memory = _revised(replace(wire, name="memory", kind="memory"), bandwidth=node.memory_bandwidth)
    if node.kind == "noc-ring":
        return ring(node.chips, wire, node.memories, memory)
    if node.kind == "noc-crossbar":
        return crossbar(node.chips, wire, node.memories, memory)
    columns = node.columns or squarest(node.chips, 2)[-1]
    return mesh(columns, node.chips // columns, wire, node.memories, memory)


def _graph(node: NodeTable, links: Links) -> ScaleUp:
    """Return the hand-drawn network; its switches, hosts and cards are those that cables name."""
    ends = [_ends(cable.ends) for cable in node.cables]
    layout = Layout(node.chips)
    first = {"chip": 0}
    for kind in ("switch", "host", "nic"):
        count = 1 + max((n for pair in ends for one, n in pair if one == kind), default=-1)
        first[kind] = layout.add(kind, kind, count).start
    for pair, cable in zip(ends, node.cables, strict=True):
        one, other = (first[kind] + number for kind, number in pair)
        link = _revised(links[cable.link], bandwidth=cable.bandwidth, latency=node.latency)
        layout.join(one, other, link)
    latency = max(links[cable.link].latency for cable in node.cables)
    try:
        return graph(layout, latency if node.latency is None else node.latency)
    except NoWayError as error:
        raise InputError(
            Problem(
                field="node.cables",
                found=f"no way from chip{error.source} to chip{error.target}",
                rule="a graph joins all its chips",
                fix="add the cable that is missing",
            )
        ) from None


def _ends(ends: tuple[str, ...]) -> list[tuple[str, int]]:
    """Return the two ends of a cable as (kind, number); checked before."""
    found = [VERTEX.fullmatch(end) for end in ends]
    return [(match[1], int(match[2])) for match in found if match is not None]
