"""Any way that is left: a search of the whole network, for the few pairs with all paths cut."""

from __future__ import annotations

import numpy as np

from artery.cluster.network import Network
from artery.cluster.paths.choice import Words
from artery.core.arrays import Flags, Ints
from artery.core.system import Edges
from artery.errors import InputError, Problem

NAMED = 4
"""Links of a cut that are named."""


def detour(network: Network, source: Ints, target: Ints, words: Words) -> list[list[int]]:
    """Return the links of a shortest way over links that are up, for each pair.

    A way passes other chips only if there is no way round them; ``words``
    choose among equal ones. Raises :class:`artery.errors.InputError`, naming the cut, if there is
    none at all.
    """
    edges = network.edges()
    ways: list[list[int]] = [[] for _ in range(len(source))]
    passable = _passable(network)
    for goal in np.unique(target).tolist():
        rows = np.flatnonzero(target == goal)
        distance = _distances(network, edges, goal, passable)
        for row in rows.tolist():
            start = int(source[row])
            known = distance
            if known[start] < 0:
                known = _distances(network, edges, goal, np.ones(len(passable), dtype=bool))
            if known[start] < 0:
                raise _cut(network, edges, start, goal, known >= 0)
            ways[row] = _follow(network, edges, known, (start, goal), int(words[row]))
    return ways


def _passable(network: Network) -> Flags:
    """Return which vertices forward what is not for them: all but chips."""
    kinds = [np.full(group.count, group.kind != "chip") for group in network.groups]
    return np.concatenate(kinds)


def _distances(network: Network, edges: Edges, goal: int, passable: Flags) -> Ints:
    """Return the links from every vertex to ``goal``, -1 where there is no way."""
    distance = np.full(len(passable), -1, dtype=np.int64)
    distance[goal] = 0
    enters = network.up & (passable[edges.target] | (edges.target == goal))
    level = 0
    while True:
        reached = enters & (distance[edges.target] == level) & (distance[edges.source] < 0)
        if not reached.any():
            return distance
        level += 1
        distance[edges.source[reached]] = level


def _follow(
    network: Network, edges: Edges, distance: Ints, ends: tuple[int, int], word: int
) -> list[int]:
    """Return the links from the first end to the second, each step one nearer to it."""
    vertex, goal = ends
    way: list[int] = []
    while vertex != goal:
        near = network.up & (edges.source == vertex)
        options = np.flatnonzero(near & (distance[edges.target] == distance[vertex] - 1))
        way.append(int(options[word % len(options)]))
        vertex = int(edges.target[way[-1]])
    return way


def _cut(network: Network, edges: Edges, start: int, goal: int, reached: Flags) -> InputError:
    """Return the error that names the links whose failure parts two chips."""
    crossing = np.flatnonzero(reached[edges.target] & ~reached[edges.source] & ~network.up)
    names = [
        f"{vertex_name(network, int(edges.source[link]))} to "
        f"{vertex_name(network, int(edges.target[link]))}"
        for link in crossing[:NAMED]
    ]
    more = f" and {len(crossing) - NAMED} more" if len(crossing) > NAMED else ""
    return InputError(
        Problem(
            field="network",
            found=f"no way from chip {start} to chip {goal}: down are {', '.join(names)}{more}",
            rule="every chip must reach every other",
            fix="fail fewer links, or leave the chips behind them out",
        )
    )


def vertex_name(network: Network, vertex: int) -> str:
    """Return a vertex by the name of its group and its number in it: ``leaf 3``, ``chip 17``."""
    first = 0
    for group in network.groups:
        if vertex < first + group.count:
            return group.called(vertex - first)
        first += group.count
    raise IndexError(vertex)
