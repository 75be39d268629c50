"""The hottest links: their names, their load, who crosses them, and what relief would gain."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np

from artery.cluster.routing import Network
from artery.core.system import VertexGroup
from artery.simulator.simulate import Simulation


@dataclass(frozen=True, slots=True)
class LinkLoad:
    """One directed link.

    Its ends and class, bytes carried, seconds it was sending at its rate, and up to a few of the
    pairs of chips that cross it.
    """

    link: int
    name: str
    kind: str
    carried: int
    busy: float
    crossers: int
    pairs: tuple[tuple[int, int], ...]


def hottest(simulation: Simulation, count: int = 10, pairs: int = 4) -> tuple[LinkLoad, ...]:
    """Return the ``count`` links that send longest, hottest first."""
    wires = simulation.network
    busy = simulation.carried / np.maximum(wires.rate, 1)
    order = np.argsort(-busy, kind="stable")[:count]
    order = order[busy[order] > 0]
    ends = wires.edges()
    crossed = simulation.edges
    found = []
    for link in order.tolist():
        place = np.flatnonzero(crossed.link == link)
        edge = np.searchsorted(crossed.start, place, side="right") - 1
        who = np.unique(np.stack([crossed.source[edge], crossed.target[edge]], axis=1), axis=0)
        name = f"{vertex(wires, int(ends.source[link]))} -> {vertex(wires, int(ends.target[link]))}"
        found.append(
            LinkLoad(
                link=link,
                name=name,
                kind=wires.links[int(wires.kind[link])].name,
                carried=int(simulation.carried[link]),
                busy=float(busy[link]),
                crossers=len(who),
                pairs=tuple((int(a), int(b)) for a, b in who[:pairs]),
            )
        )
    return tuple(found)


def vertex(wires: Network, number: int) -> str:
    """Return a vertex by its group and its place in it: ``leaf 3``, ``chip 17``."""
    first, group = _group(wires.groups, number)
    return f"{group.name} {number - first}"


def _group(groups: tuple[VertexGroup, ...], number: int) -> tuple[int, VertexGroup]:
    firsts = [0]
    for group in groups:
        firsts.append(firsts[-1] + group.count)
    index = bisect_right(firsts, number) - 1
    return firsts[index], groups[index]
