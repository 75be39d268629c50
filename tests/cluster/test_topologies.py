"""Each topology by what the books say of it: degree, diameter, bisection, length of paths."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from artery.catalog import link, system
from artery.cluster.dragonfly import Dragonfly, RouterPortsError, check_ports
from artery.cluster.fabric import Fabric, fabric_tiers
from artery.cluster.fat_tree import FatTree, Level
from artery.cluster.routing import network, paths
from artery.cluster.torus import Torus, torus, torus_tier, torus_wiring
from artery.cluster.wiring import Assembly
from artery.core.system import Edges, Router, System, VertexGroup
from artery.errors import InputError
from artery.node.nvswitch import nvswitch
from artery.node.on_chip import crossbar, mesh, ring
from artery.node.scale_up import ScaleUp
from artery.node.single import single
from tests.cluster.walks import Ints, check_walks
from tests.flows import bisection, max_flow, reached

CARD = replace(link("ib-ndr"), bandwidth=10e9, efficiency=1.0)
WIRE = replace(link("nvlink4"), bandwidth=100e9, efficiency=1.0, latency=1e-9)


def assembled(domain: ScaleUp, fabric: Fabric | None, chips: int) -> System:
    """``chips`` chips in copies of ``domain`` under ``fabric``."""
    whole = Assembly(chips, domain, fabric)
    per_node = domain.chips // domain.nodes
    tiers = domain.tiers if fabric is None else fabric_tiers(fabric, per_node, chips)
    return replace(
        system("dgx-h100"),
        chips=chips,
        chips_per_node=per_node,
        groups=whole.groups,
        links=whole.links,
        wiring=whole.edges,
        tiers=tiers,
        router=Router((chips,), ("hash",), whole),
    )


def on_grid(grid: Torus) -> System:
    return replace(
        system("tpu-v4-pod"),
        chips=grid.chips,
        groups=(VertexGroup("chip", "chip", grid.chips),),
        links=(grid.link,),
        wiring=lambda: torus_wiring(grid),
        tiers=(torus_tier(grid),),
        router=Router(grid.dims, ("dimension",) * len(grid.dims), grid),
    )


def all_pairs(chips: int) -> tuple[Ints, Ints]:
    source, target = np.divmod(np.arange(chips * chips), chips)
    return source[source != target], target[source != target]


def lengths(found: System, policy: str = "hash") -> Ints:
    """Links of the path of every pair of chips, each path checked."""
    net = network(found)
    source, target = all_pairs(found.chips)
    way = paths(found, net, source, target, policy=policy)
    check_walks(net, way, source, target)
    return np.diff(way.start)


def degree(found: System, kind: str) -> set[int]:
    """Cables of every vertex of one kind."""
    first, cables = 0, np.bincount(found.wiring().source)
    seen: set[int] = set()
    for group in found.groups:
        if group.kind == kind:
            seen.update(cables[first : first + group.count].tolist())
        first += group.count
    return seen


def clos(k: int, *, tiers: int = 3) -> tuple[FatTree, int]:
    """The k-ary fat tree and its number of hosts (Al-Fares, Loukissas, Vahdat, SIGCOMM 2008)."""
    half = k // 2
    levels = (Level("edge", half, radix=k), Level("pod", half * half, radix=k))
    if tiers == 3:
        return FatTree(CARD, 1, (*levels, Level("core", None, radix=k)), 1e-6, 1e-7), k**3 // 4
    top = replace(levels[1], nodes=None)
    return FatTree(CARD, 1, (levels[0], top), 1e-6, 1e-7), k * half


@pytest.mark.parametrize("k", [4, 8])
def test_three_tier_clos(k: int) -> None:
    tree, hosts = clos(k)
    found = assembled(single(), tree, hosts)
    switches = [group.count for group in found.groups if group.kind == "switch"]
    assert switches == [k * k // 2, k * k // 2, k * k // 4]
    assert degree(found, "switch") == {k}
    assert bisection(found) == pytest.approx(hosts / 2 * 10e9)
    # Two cables at each end of a path, then 0, 2 or 4 between switches.
    seen, count = np.unique(lengths(found), return_counts=True)
    half = k // 2
    assert seen.tolist() == [4, 6, 8]
    assert count.tolist() == [
        hosts * (half - 1),
        hosts * (half * half - half),
        hosts * (hosts - half * half),
    ]


def test_two_tier_clos() -> None:
    tree, hosts = clos(8, tiers=2)
    found = assembled(single(), tree, hosts)
    assert bisection(found) == pytest.approx(hosts / 2 * 10e9)
    assert set(lengths(found).tolist()) == {4, 6}


def railed(
    *, rail_only: bool, levels: tuple[Level, ...] = (Level("leaf", 4), Level("spine", None))
) -> System:
    tree = FatTree(CARD, 4, levels, 1e-6, 1e-7, rails=True, rail_only=rail_only)
    return assembled(nvswitch(4, WIRE, 1e-6, switches=2), tree, 4 * 16)


def test_rail_optimised() -> None:
    found = railed(rail_only=False)
    assert bisection(found) == pytest.approx(32 * 10e9)
    net = network(found)
    # The same rail in one group meets at the leaf, all else at a spine.
    for target, hops in ((4, 4), (5, 6), (32, 6), (33, 6)):
        assert len(paths(found, net, np.array([0]), np.array([target])).link) == hops
    assert set(lengths(found).tolist()) == {2, 4, 6}


def test_rail_only() -> None:
    found = railed(rail_only=True)
    net = network(found)
    assert bisection(found) == pytest.approx(32 * 10e9)
    # Another rail is reached by way of the chip of one's own node that has it.
    for target, hops in ((4, 4), (5, 6), (32, 6), (33, 8)):
        assert len(paths(found, net, np.array([0]), np.array([target])).link) == hops
    assert set(lengths(found).tolist()) == {2, 4, 6, 8}
    # Without NVLink the rails are four networks.
    bare = replace(found, wiring=lambda: without_nvlink(found))
    chips = reached(bare, 0) & set(range(64))
    assert chips == set(range(0, 64, 4))


def without_nvlink(found: System) -> Edges:
    edges = found.wiring()
    keep = edges.link != 0
    return Edges(edges.source[keep], edges.target[keep], edges.link[keep])


def test_dual_plane() -> None:
    tree, hosts = clos(8, tiers=2)
    found = assembled(single(), replace(tree, planes=2), hosts)
    assert degree(found, "nic") == {3}
    assert bisection(found) == pytest.approx(hosts / 2 * 10e9)
    assert set(lengths(found).tolist()) == {4, 6}
    net = network(found)
    # A whole plane may fail.
    first = 2 * hosts
    plane = range(first, first + sum(g.count for g in found.groups if g.name.endswith("-0")))
    cut = net.fail_vertices(plane)
    source, target = all_pairs(hosts)
    check_walks(cut, paths(found, cut, source, target), source, target)


def test_dual_tor() -> None:
    levels = (Level("leaf", 4, radix=16), Level("spine", None, radix=16))
    tree = FatTree(CARD, 1, levels, 1e-6, 1e-7, tors=2)
    found = assembled(single(), tree, 16)
    assert [g.count for g in found.groups if g.kind == "switch"] == [8, 2]
    assert degree(found, "nic") == {3}
    assert bisection(found) == pytest.approx(8 * 10e9)
    assert set(lengths(found).tolist()) == {4, 6}
    # Any one leaf may fail and cuts nobody off.
    net = network(found)
    source, target = all_pairs(16)
    for leaf in range(8):
        cut = net.fail_vertices([32 + leaf])
        check_walks(cut, paths(found, cut, source, target), source, target)
    single_homed = network(assembled(single(), replace(tree, tors=1), 16)).fail_vertices([32])
    with pytest.raises(InputError, match="no way"):
        paths(found, single_homed, source, target)


def test_dual_tor_spreads_counted_routes_over_both_ports() -> None:
    levels = (Level("leaf", 8, radix=16), Level("spine", None, radix=16))
    found = assembled(single(), FatTree(CARD, 1, levels, 1e-6, 1e-7, tors=2), 32)
    net = network(found)
    ways = paths(found, net, *all_pairs(32), policy="static")
    load = np.bincount(ways.link, minlength=len(net.rate))
    # Chips and cards have 31 to send to and hear from, cards over two ports. The 8 cards of a pair
    # of leaves send to 24 elsewhere over 2 x 8 links up, and hear from as many over those down.
    assert sorted(load.tolist()) == [8 * 24 // 16] * 128 + [15] * 64 + [16] * 64 + [31] * 64


BALANCED = Dragonfly(CARD, 1, nodes=8, routers=4, latency=1e-6, hop=1e-7, long=3e-7, radix=7)
"""p = 2, a = 4, h = 2: 9 groups of 8 nodes (Kim et al., ISCA 2008, a = 2p = 2h)."""


def test_dragonfly() -> None:
    found = assembled(single(), BALANCED, 72)
    assert degree(found, "switch") == {7}
    seen, count = np.unique(lengths(found), return_counts=True)
    # Four cables at the ends; one router, one hop, then local-global-local in part or whole.
    assert seen.tolist() == [4, 5, 6, 7]
    assert count[0] == 72
    eight = assembled(single(), BALANCED, 64)
    # 4 groups to 4 groups: one cable for each of the 16 pairs.
    assert bisection(eight) == pytest.approx(16 * 10e9)
    # Of what a chip may send beyond its group, four sevenths go to the other half.
    assert 32 * eight.tiers[-1].bandwidth * 4 / 7 == pytest.approx(bisection(eight))


def test_dragonfly_plus() -> None:
    plus = replace(BALANCED, spines=4, radix=8)
    found = assembled(single(), plus, 72)
    assert degree(found, "switch") == {6}
    seen = set(lengths(found).tolist())
    # Leaf; leaf-spine-leaf; leaf-spine-spine-leaf.
    assert seen == {4, 6, 7}
    assert bisection(assembled(single(), plus, 64)) == pytest.approx(16 * 10e9)


def test_parallel_cables_between_groups_are_all_used() -> None:
    fat = replace(BALANCED, between=4, radix=64)
    found = assembled(single(), fat, 16)
    assert bisection(found) == pytest.approx(4 * 10e9)
    net = network(found)
    way = paths(
        found, net, np.repeat(np.arange(8), 50), np.tile(np.arange(8, 16), 50), np.arange(400)
    )
    across = net.kind[way.link] == net.kind.max()
    assert len(np.unique(way.link[across])) == 4


@pytest.mark.parametrize("spines", [0, 4])
def test_adaptive_routes_go_round_a_crowded_cable_between_groups(spines: int) -> None:
    # All of one group send to the next: shortest ways share one cable, of eight pairs each.
    fabric = replace(BALANCED, spines=spines, radix=64)
    found = assembled(single(), fabric, 72)
    net = network(found)
    source = np.arange(72)
    target = (source + 8) % 72
    short = paths(found, net, source, target)
    wide = paths(found, net, source, target, policy="adaptive", ways=32)
    check_walks(net, wide, source, target)
    assert np.bincount(short.link).max() == 8
    assert np.bincount(wide.link).max() <= 4
    across = net.kind[wide.link] == net.kind.max()
    assert set(np.bincount(np.repeat(source, np.diff(wide.start))[across]).tolist()) == {1, 2}
    # A cable between two groups that is down is gone round by a third group.
    crossing = short.link[(net.kind[short.link] == net.kind.max())][0]
    cut = net.fail([int(crossing)])
    check_walks(cut, paths(found, cut, source, target), source, target)


def test_a_router_with_too_few_ports() -> None:
    with pytest.raises(RouterPortsError, match="needs 8 ports and has 7"):
        check_ports(BALANCED, 8 * 10)
    with pytest.raises(InputError, match=r"dragonfly\.radix"):
        system("frontier:4096", ["dragonfly.radix=40"])


@pytest.mark.parametrize("wrap", [True, False])
@pytest.mark.parametrize("dims", [(4, 6), (4, 4, 6), (5, 3), (3, 4, 5)])
def test_tori_and_meshes(dims: tuple[int, ...], wrap: bool) -> None:
    wire = replace(link("ici-v4"), bandwidth=10e9)
    grid = torus(dims, wire, 1, wrap=wrap)
    found = on_grid(grid)
    assert max(degree(found, "chip")) == 2 * len(dims)
    assert (len(degree(found, "chip")) == 1) == wrap
    far = sum(size // 2 if wrap else size - 1 for size in dims)
    seen = lengths(found)
    assert seen.max() == far
    # Mean distance of a ring of k is k/4 (even) or (k - 1/k)/4, of a line (k - 1/k)/3.
    mean = sum(
        (size / 4 if size % 2 == 0 else (size - 1 / size) / 4) if wrap else (size - 1 / size) / 3
        for size in dims
    )
    assert seen.mean() == pytest.approx(mean * grid.chips / (grid.chips - 1))
    if dims[-1] % 2 == 0:
        across = grid.chips // dims[-1] * (2 if wrap else 1)
        assert bisection(found) == pytest.approx(across * 10e9)


@pytest.mark.parametrize("shape", ["4x4x4", "4x4x8", "8x12x16", "4x8x4"])
def test_any_slice_of_whole_cubes_wraps_around(shape: str) -> None:
    # TPU v4, ISCA 2023: optical switches close every dimension of a slice of 4x4x4 cubes.
    found = system(f"tpu-v4-pod:{shape}")
    assert degree(found, "chip") == {6}
    assert not found.warnings


def drawn(domain: ScaleUp) -> System:
    return assembled(domain, None, domain.chips)


def busiest(found: System) -> float:
    """B/s that every core sends to all others alike before a wire is full, on static paths."""
    net = network(found)
    source, target = all_pairs(found.chips)
    way = paths(found, net, source, target, policy="static")
    load = np.bincount(way.link, minlength=len(net.rate)) / (found.chips - 1)
    return float((net.rate[load > 0] / load[load > 0]).min())


@pytest.mark.parametrize(("columns", "rows"), [(4, 4), (5, 3), (8, 2), (3, 7)])
def test_a_mesh_on_a_chip(columns: int, rows: int) -> None:
    found = drawn(mesh(columns, rows, WIRE, 4, WIRE))
    seen = lengths(found, "static")
    assert seen.max() == columns + rows
    # Dimension by dimension: never back to the first after the second.
    net = network(found)
    edges, cores = net.edges(), columns * rows
    source, target = all_pairs(cores)
    way = paths(found, net, source, target, policy="static")
    turn = np.abs(edges.target[way.link] - edges.source[way.link])
    inner = (edges.source[way.link] >= cores) & (edges.target[way.link] >= cores)
    path = np.repeat(np.arange(len(source)), seen)
    along = turn == (min(columns, 1))
    steps = inner[1:] & inner[:-1] & (path[1:] == path[:-1])
    assert not (steps & ~along[:-1] & along[1:]).any()
    assert found.tiers[0].bandwidth == pytest.approx(min(100e9, busiest(found)))


@pytest.mark.parametrize(("columns", "rows", "cut"), [(4, 4, 4), (8, 2, 2), (6, 3, 3), (3, 6, 3)])
def test_bisection_of_a_mesh_on_a_chip(columns: int, rows: int, cut: int) -> None:
    found = drawn(mesh(columns, rows, WIRE, 0, WIRE))
    core = np.arange(columns * rows)
    left = core % columns < columns // 2 if columns >= rows else core // columns < rows // 2
    across = max_flow(found, core[left].tolist(), core[~left].tolist())
    assert across == pytest.approx(cut * 100e9)


@pytest.mark.parametrize("cores", [5, 7, 12])
def test_a_ring_on_a_chip(cores: int) -> None:
    found = drawn(ring(cores, WIRE, 2, WIRE))
    assert lengths(found).max() == cores // 2 + 2
    assert bisection(found) == pytest.approx(2 * 100e9)
    if cores % 2:
        assert found.tiers[0].bandwidth == pytest.approx(min(100e9, busiest(found)))


def test_a_crossbar_on_a_chip_and_its_memory() -> None:
    found = drawn(crossbar(8, WIRE, 2, replace(WIRE, bandwidth=300e9)))
    assert set(lengths(found).tolist()) == {2}
    assert bisection(found) == pytest.approx(4 * 100e9)
    # Cores read from both controllers as fast as these give it.
    first = found.chips + 1
    assert max_flow(found, [first, first + 1], range(8)) == pytest.approx(600e9)
    assert found.tiers[0].bandwidth == pytest.approx(100e9)


def test_memory_controllers_sit_at_the_edge_of_a_mesh() -> None:
    found = drawn(mesh(4, 4, WIRE, 8, WIRE))
    assert degree(found, "memory") == {1}
    edges = found.wiring()
    first = sum(group.count for group in found.groups[:-1])
    routers = edges.target[edges.source >= first] - found.chips
    assert set((routers // 4).tolist()) == {0, 3}
    assert max_flow(found, range(first, first + 8), range(16)) == pytest.approx(800e9)
