"""From the table of a system to the noun: its node, its fabric or torus, the warnings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from math import ceil

from artery.catalog.system_schema import (
    FabricTable,
    HostTable,
    NodeTable,
    SystemTable,
    TorusTable,
)
from artery.cluster.fat_tree import FatTree, Level, TooManyPorts, fat_tree_tiers, stages
from artery.cluster.torus import squarest, torus, torus_tier, torus_wiring
from artery.cluster.wiring import Assembly
from artery.core.chip import Chip
from artery.core.link import Link
from artery.core.system import Router, System, Tier, VertexGroup
from artery.errors import InputError, Problem
from artery.node.cube_mesh import cube_mesh
from artery.node.full_mesh import full_mesh
from artery.node.nvl72 import nvl72
from artery.node.nvlink_pairs import nvlink_pairs
from artery.node.nvswitch import nvswitch
from artery.node.pcie_tree import Host, pcie_tree
from artery.node.scale_up import ScaleUp
from artery.node.single import alone, single

Links = Mapping[str, Link]


def build(table: SystemTable, chip: Chip, links: Links, chips: int | None) -> System:
    """Return the system of ``chips`` chips (``None``: what the table says, else one domain).

    Raises :class:`artery.errors.InputError` if there is no way between so many chips, or the
    tiers need more ports than a switch has.
    """
    domain = scale_up(table.node, links)
    count = chips or table.chips or domain.chips
    if table.fabric is None and count > domain.chips:
        raise _too_many(table.name, count, domain.chips, "it has no fabric")
    if table.fabric is not None and table.fabric.limit is not None and count > table.fabric.limit:
        raise _too_many(table.name, count, table.fabric.limit, "that is the whole of it")
    nodes = ceil(count / table.node.chips)
    tree = None if table.fabric is None else fat_tree(table.fabric, links).clipped(nodes)
    tiers = _nested(domain, tree, table.node.chips, count)
    if nodes == 1 and domain.tiers:
        tree = None
    if tree is not None:
        _check_ports(tree, nodes)
    whole = Assembly(count, domain, tree)
    return System(
        name=table.name,
        chip=chip,
        chips=count,
        chips_per_node=table.node.chips,
        tiers=tiers,
        groups=whole.groups,
        links=whole.links,
        wiring=whole.edges,
        router=_router(tiers, tree),
        library=table.library,
        node_power=table.node.power,
        node_price=table.node.price,
        chip_hour_price=table.chip_hour_price,
        warnings=tuple(_warnings(table, domain, count)),
    )


def lone_chip(chip: Chip) -> System:
    """Return one chip as a system, its crossbar the only tier."""
    whole = Assembly(1, alone(chip), None)
    return System(
        name=chip.name,
        chip=chip,
        chips=1,
        chips_per_node=1,
        tiers=whole.domain.tiers,
        groups=whole.groups,
        links=whole.links,
        wiring=whole.edges,
        router=Router((1,), ("direct",)),
        library="nccl" if chip.vendor.casefold() == "nvidia" else "gloo",
    )


def scale_up(node: NodeTable, links: Links) -> ScaleUp:
    """Return the scale-up domain that the table's node describes."""
    host = None if node.host is None else _host(node.host, links)
    if node.kind == "single":
        return single(None if host is None else host.link)
    if node.kind == "pcie-tree" and host is not None:
        return pcie_tree(node.chips, host, _latency(node, host.link))
    if node.link is None:
        raise ValueError(f"a {node.kind} node needs a link")
    link = links[node.link]
    if node.bandwidth is not None:
        link = replace(link, bandwidth=node.bandwidth)
    latency = _latency(node, link)
    if node.kind == "nvlink-pairs" and host is not None:
        return nvlink_pairs(node.chips, link, host, latency)
    if node.kind == "cube-mesh" and host is not None:
        return cube_mesh(link, host, latency)
    if node.kind == "nvl72":
        return nvl72(link, latency, host)
    if node.kind == "full-mesh":
        return full_mesh(node.chips, link, latency, host)
    return nvswitch(
        node.chips,
        link,
        latency,
        switches=node.switches or 1,
        reduction=node.reduction,
        host=host,
    )


def _host(table: HostTable, links: Links) -> Host:
    return Host(
        link=links[table.link],
        switches=table.switches,
        sockets=table.sockets,
        memory=table.memory,
        socket_bandwidth=table.socket_bandwidth,
        peer_to_peer=table.peer_to_peer,
    )


def _latency(node: NodeTable, link: Link) -> float:
    return link.latency if node.latency is None else node.latency


def fat_tree(fabric: FabricTable, links: Links) -> FatTree:
    """Return the tree of switches that the table's fabric describes."""
    nic = fabric.nic
    given = {
        name: value
        for name in ("bandwidth", "efficiency")
        if (value := getattr(nic, name)) is not None
    }
    card = replace(links[nic.link], **given)
    return FatTree(
        card=card,
        cards=nic.count,
        levels=tuple(Level(one.name, one.nodes, one.taper, one.radix) for one in fabric.tiers),
        latency=card.latency + fabric.hop if fabric.latency is None else fabric.latency,
        hop=fabric.hop,
        rails=fabric.rails,
        planes=nic.planes,
        routing=fabric.routing,
        reduction=fabric.reduction,
    )


def _nested(
    domain: ScaleUp, tree: FatTree | None, chips_per_node: int, chips: int
) -> tuple[Tier, ...]:
    """Return the tiers that ``chips`` chips meet, each clipped to them, innermost first."""
    above = () if tree is None else fat_tree_tiers(tree, chips_per_node, chips)
    kept: list[Tier] = []
    for tier in (*domain.tiers, *above):
        if kept and kept[-1].chips >= chips:
            break
        size = min(tier.chips, chips)
        kept.append(replace(tier, chips=size, ring=tier.ring[: size + 1]))
    return tuple(kept)


def _router(tiers: tuple[Tier, ...], tree: FatTree | None) -> Router:
    """Return the digits of a chip number: its place in each tier's domain, innermost first."""
    radix: list[int] = []
    inside = 1
    for tier in tiers:
        radix.append(ceil(tier.chips / inside))
        inside = tier.chips
    scaled = len(tiers) - (0 if tree is None else len(tree.levels))
    routing = "hash" if tree is None else tree.routing
    # Up to the leaf there is one path; above it there is a choice among equal ones.
    choice = ("direct" if index <= scaled else routing for index in range(len(tiers)))
    return Router(tuple(radix), tuple(choice))


def _check_ports(tree: FatTree, nodes: int) -> None:
    try:
        stages(tree, nodes)
    except TooManyPorts as error:
        raise InputError(
            Problem(
                field="fabric.tiers[0].nodes",
                found=str(error),
                rule="with rails every node takes a port of every leaf of its group",
                fix="fewer nodes in a group, or a larger radix",
            )
        ) from None


def _warnings(table: SystemTable, domain: ScaleUp, chips: int) -> list[str]:
    """Return what the user should know of how ``chips`` fill the system."""
    found = []
    per_node = table.node.chips
    left = chips % per_node
    if left:
        found.append(f"{table.name}: the last node holds {left} of {per_node} chips")
    if domain.chips > per_node and chips > domain.chips and chips % domain.chips:
        left = chips % domain.chips
        found.append(f"{table.name}: the last domain holds {left} of {domain.chips} chips")
    published = None if table.fabric is None else table.fabric.published
    if published is not None and chips > published:
        found.append(
            f"{table.name}: published to {published:,} chips; {chips:,} is extrapolated"
        )
    return found


def build_torus(
    table: SystemTable,
    pod: TorusTable,
    chip: Chip,
    links: Links,
    chips: int | None,
    shape: tuple[int, ...] | None,
) -> System:
    """Return the slice of a pod with that many ``chips`` (squarest shape) or that ``shape``.

    Raises :class:`artery.errors.InputError` if the shape has another number of dimensions or the
    pod is smaller.
    """
    count = chips or table.chips or table.node.chips
    dims = shape or squarest(count, pod.dimensions)
    if len(dims) != pod.dimensions:
        raise InputError(
            Problem(
                field="system",
                found="x".join(map(str, dims)),
                rule=f"{table.name} has {pod.dimensions} dimensions",
                fix="for example " + "x".join(["4"] * pod.dimensions),
            )
        )
    given = {
        name: value
        for name in ("bandwidth", "latency")
        if (value := getattr(pod, name)) is not None
    }
    grid = torus(dims, replace(links[pod.link], **given), pod.cube)
    if grid.chips > pod.limit:
        raise _too_many(table.name, grid.chips, pod.limit, "that is a whole pod")
    text = "x".join(map(str, dims))
    warnings = []
    if shape is None and chips is not None:
        warnings.append(f"{table.name}: {chips} chips are taken as {text}, the squarest shape")
    if not grid.wrapped and grid.chips > 1:
        warnings.append(f"{table.name}: {text} is no whole number of cubes and not wrapped around")
    return System(
        name=table.name,
        chip=chip,
        chips=grid.chips,
        chips_per_node=table.node.chips,
        tiers=(torus_tier(grid),),
        groups=(VertexGroup("chip", "chip", grid.chips),),
        links=(grid.link,),
        wiring=partial(torus_wiring, grid),
        router=Router(dims, ("dimension",) * len(dims)),
        library=table.library,
        node_power=table.node.power,
        node_price=table.node.price,
        chip_hour_price=table.chip_hour_price,
        warnings=tuple(warnings),
    )


def _too_many(name: str, chips: int, limit: int, why: str) -> InputError:
    return InputError(
        Problem(
            field="system",
            found=f"{chips:,} chips",
            rule=f"{name} holds at most {limit:,} chips: {why}",
            fix=f'"{name}:{limit}", or a file of your own with a fabric',
        )
    )
