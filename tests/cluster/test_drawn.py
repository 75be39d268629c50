"""Networks drawn cable by cable: every path arrives, is shortest, and uses what is there."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from artery.catalog.systems.on_cables import on_cables
from artery.cluster.network import network
from artery.cluster.routing import paths
from artery.core.cabling import Cable, Cabling, Device, End
from artery.core.system import System
from artery.errors import InputError


@st.composite
def networks(draw: st.DrawFn) -> Cabling:
    """Hosts with one card on switches that any cables join, so that all are one part."""
    switches = draw(st.integers(1, 7))
    hosts = draw(st.integers(2, 6))
    joined = [(draw(st.integers(0, one - 1)), one) for one in range(1, switches)]
    pair = st.tuples(st.integers(0, switches - 1), st.integers(0, switches - 1))
    more = draw(st.lists(pair.filter(lambda ends: ends[0] != ends[1]), max_size=8))
    cables = [
        Cable(End(f"h{host}", "1", "c0"), End(f"s{draw(st.integers(0, switches - 1))}", f"h{host}"))
        for host in range(hosts)
    ]
    cables += [
        Cable(End(f"s{one}", f"a{number}"), End(f"s{other}", f"b{number}"))
        for number, (one, other) in enumerate([*joined, *more])
    ]
    devices = [Device(f"s{one}", f"s{one}", "switch") for one in range(switches)]
    devices += [Device(f"h{one}", f"h{one}", "host") for one in range(hosts)]
    return Cabling("drawn", "cable-plan", tuple(devices), tuple(cables))


def hops(cabling: Cabling, one: str, other: str) -> int:
    """Cables between two devices, searched breadth first."""
    near: dict[str, set[str]] = {}
    for cable in cabling.cables:
        near.setdefault(cable.one.device, set()).add(cable.other.device)
        near.setdefault(cable.other.device, set()).add(cable.one.device)
    distance = {one: 0}
    queue = deque([one])
    while queue:
        here = queue.popleft()
        for there in near[here]:
            if there not in distance:
                distance[there] = distance[here] + 1
                queue.append(there)
    return distance[other]


def every_pair(system: System) -> tuple[np.ndarray, np.ndarray]:
    first, second = np.divmod(np.arange(system.chips**2), system.chips)
    apart = first != second
    return first[apart], second[apart]


def hosts_in_order(system: System, cabling: Cabling) -> list[str]:
    """Hosts by node: each has one chip, whose card hangs on the host's own switch."""
    from artery.catalog.links import link
    from artery.cluster.cabling import Network
    from artery.cluster.cabling.as_built import AsBuilt, Meant

    meant = Meant(lambda rate: link("eth10"), 1, 1.0, 1e-6, 1e-6)
    return list(AsBuilt(Network(cabling), meant).hosts)


@pytest.mark.parametrize("policy", ["hash", "static", "adaptive", "spray"])
@given(cabling=networks(), seed=st.integers(0, 3))
def test_paths_are_joined_shortest_and_on_cables(policy: str, cabling: Cabling, seed: int) -> None:
    system = on_cables(cabling, "ethernet-10g")
    wires = network(system)
    edges = wires.edges()
    source, target = every_pair(system)
    found = paths(system, wires, source, target, policy=policy, seed=seed)
    hosts = hosts_in_order(system, cabling)
    of = found.pair if len(found.pair) else np.arange(len(source))
    assert set(of.tolist()) == set(range(len(source)))
    for path, pair in enumerate(of.tolist()):
        links = found.link[found.start[path] : found.start[path + 1]]
        assert edges.source[links[0]] == source[pair]
        assert edges.target[links[-1]] == target[pair]
        assert (edges.target[links[:-1]] == edges.source[links[1:]]).all()
        # Beside the cables of the network, each end has a slot and what lies before it.
        fabric = int((wires.kind[links] >= wires.plan.port).sum())  # type: ignore[union-attr]
        assert fabric == hops(cabling, hosts[source[pair]], hosts[target[pair]])


@given(cabling=networks(), seed=st.integers(0, 3))
def test_with_a_cable_down_pairs_go_round_or_the_cut_is_named(cabling: Cabling, seed: int) -> None:
    system = on_cables(cabling, "ethernet-10g")
    wires = network(system)
    if not len(wires.between):
        return
    down = int(wires.between[seed % len(wires.between)])
    broken = wires.fail([down])
    source, target = every_pair(system)
    if cut(system, broken.up):
        with pytest.raises(InputError, match="down are s"):
            paths(system, broken, source, target, seed=seed)
    else:
        found = paths(system, broken, source, target, seed=seed)
        assert broken.up[found.link].all()


def cut(system: System, up: np.ndarray) -> bool:
    """Whether some chip cannot be reached from the first over links that are up."""
    edges = network(system).edges()
    near: dict[int, set[int]] = {}
    for link in np.flatnonzero(up).tolist():
        near.setdefault(int(edges.source[link]), set()).add(int(edges.target[link]))
    seen, queue = {0}, [0]
    while queue:
        for there in near.get(queue.pop(), set()) - seen:
            seen.add(there)
            queue.append(there)
    return not set(range(system.chips)) <= seen


def test_sprayed_ways_share_parallel_cables_evenly_both_ways() -> None:
    """Two leaves of four hosts, four cables from each to a spine: of 16 ways, 4 on each cable."""
    cables = [Cable(End(f"h{n}", "1", "c0"), End(f"leaf{n % 2}", f"{n}")) for n in range(8)]
    cables += [
        Cable(End(f"leaf{leaf}", f"up{n}"), End("spine", f"{leaf}-{n}"))
        for leaf in range(2)
        for n in range(4)
    ]
    names = ["leaf0", "leaf1", "spine"]
    devices = [Device(name, name, "switch") for name in names]
    devices += [Device(f"h{n}", f"h{n}", "host") for n in range(8)]
    system = on_cables(Cabling("two", "cable-plan", tuple(devices), tuple(cables)), "ethernet-10g")
    wires = network(system)
    found = paths(system, wires, np.array([0]), np.array([7]), policy="spray", ways=16)
    used = np.bincount(found.link, minlength=len(wires.rate))
    between = wires.kind >= wires.plan.core  # type: ignore[union-attr]
    assert sorted(used[between & (used > 0)].tolist()) == [4] * 8


def test_a_smaller_last_leaf_has_fewer_links_upwards() -> None:
    """Leaves of four, four and two hosts, half as many cables to a spine."""
    sizes = (4, 4, 2)
    cables = [
        Cable(End(f"h{leaf}{n}", "1", "c0"), End(f"leaf{leaf}", f"{n}"))
        for leaf, size in enumerate(sizes)
        for n in range(size)
    ]
    cables += [
        Cable(End(f"leaf{leaf}", f"up{n}"), End("spine", f"{leaf}-{n}"))
        for leaf, size in enumerate(sizes)
        for n in range(size // 2)
    ]
    hosts = [f"h{leaf}{n}" for leaf, size in enumerate(sizes) for n in range(size)]
    devices = [Device(name, name, "switch") for name in ("leaf0", "leaf1", "leaf2", "spine")]
    devices += [Device(name, name, "host") for name in hosts]
    system = on_cables(
        Cabling("three", "cable-plan", tuple(devices), tuple(cables)), "ethernet-10g"
    )
    assert [tier.chips for tier in system.tiers] == [4, 10]
    assert [tier.last for tier in system.tiers] == [1.0, 0.5]
