"""What every set of paths must be: walks over links that are up, from source to target."""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from artery.cluster.routing import Network, Paths
from artery.core.system import System

Ints = NDArray[np.int64]


def check_walks(network: Network, found: Paths, source: Ints, target: Ints) -> None:
    """Every path is up, joined from end to end, and passes no link or vertex twice."""
    edges = network.edges()
    if len(found.pair):
        source, target = source[found.pair], target[found.pair]
    assert len(found.start) == len(source) + 1
    assert found.start[-1] == len(found.link)
    lengths = np.diff(found.start)
    assert (lengths[source == target] == 0).all()
    assert (lengths[source != target] > 0).all()
    assert network.up[found.link].all()
    some = lengths > 0
    first, last = found.link[found.start[:-1][some]], found.link[found.start[1:][some] - 1]
    assert (edges.source[first] == source[some]).all()
    assert (edges.target[last] == target[some]).all()
    path = np.repeat(np.arange(len(lengths)), lengths)
    joined = path[1:] == path[:-1]
    ahead, behind = found.link[1:], found.link[:-1]
    assert (edges.source[ahead] == edges.target[behind])[joined].all()
    # A host is passed on the way to its memory and again on the way from it.
    host = np.concatenate([np.full(group.count, group.kind == "host") for group in network.groups])
    visited = path * len(host) + edges.target[found.link]
    visited = visited[~host[edges.target[found.link]]]
    assert len(np.unique(visited)) == len(visited)
    assert len(np.unique(path * len(network.rate) + found.link)) == len(path)


def seen(network: Network, system: System) -> set[tuple[int, int, int]]:
    """The wiring with its NVSwitches taken as one: ends and the total B/s between them."""
    place: list[int] = []
    groups = iter(network.groups)
    first = 0
    for group in system.groups:
        own = next(groups)
        many = group.count // own.count
        place += [first + index // many for index in range(group.count)]
        first += own.count
    edges = system.wiring()
    total: dict[tuple[int, int], float] = {}
    ends = zip(edges.source.tolist(), edges.target.tolist(), edges.link.tolist(), strict=True)
    for one, other, link in ends:
        here = (place[one], place[other])
        cable = system.links[link]
        total[here] = total.get(here, 0.0) + cable.bandwidth * cable.efficiency
    return {(*ends, round(rate / 1e6)) for ends, rate in total.items()}


def summed(network: Network) -> set[tuple[int, int, int]]:
    """The network's links: ends and the total B/s between them."""
    edges = network.edges()
    total: dict[tuple[int, int], float] = {}
    ends = zip(edges.source.tolist(), edges.target.tolist(), network.rate.tolist(), strict=True)
    for one, other, rate in ends:
        total[one, other] = total.get((one, other), 0.0) + rate
    return {(*ends, round(rate / 1e6)) for ends, rate in total.items()}


def distances(network: Network, goal: int, *, past: bool = False) -> Ints:
    """Fewest links from every vertex to ``goal``, breadth first; past chips and cards if asked."""
    edges = network.edges()
    near: dict[int, list[int]] = {}
    ends = zip(edges.source.tolist(), edges.target.tolist(), network.up.tolist(), strict=True)
    for one, other, up in ends:
        if up:
            near.setdefault(other, []).append(one)
    ends_here = ends_of_ways(network)
    found = np.full(sum(group.count for group in network.groups), -1)
    found[goal] = 0
    queue = deque([goal])
    while queue:
        vertex = queue.popleft()
        if ends_here[vertex] and vertex != goal and not past:
            continue
        for before in near.get(vertex, ()):
            if found[before] < 0:
                found[before] = found[vertex] + 1
                queue.append(before)
    return found


def ends_of_ways(network: Network) -> NDArray[np.bool_]:
    """Which vertices are chips or network cards."""
    return np.concatenate(
        [np.full(group.count, group.kind in ("chip", "nic")) for group in network.groups]
    )
