"""Trees of switches that add: which switch each chip reports to, and each switch to which other.

An aggregation manager (SHARP; Graham et al., COMHPC 2016) joins the leaves of a job's cards by
a tree over switches that all of them reach going up, the lowest there is. Trees of several rails
have their tops side by side, so that they share as few cables as possible.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from artery.cluster.fat_tree import FatTree
from artery.cluster.network import Network, Tree
from artery.cluster.paths.route import Paths
from artery.cluster.routing import paths
from artery.core.arrays import Flags, Ints
from artery.core.system import System
from artery.errors import InputError, Problem

MOST_TOPS = 64
"""Switches tried as the top of one tree, on each tier. Assumed: with links down some do not do."""


@dataclass(frozen=True, slots=True, eq=False)
class Aggregation:
    """A tree of switches: ``leaf`` of each chip, and edges from ``child`` to ``parent`` switches.

    All are vertices of the network; ``level`` is 1 for an edge from a leaf, one more each tier up.
    """

    leaf: Ints
    child: Ints
    parent: Ints
    level: Ints


@dataclass(frozen=True, slots=True, eq=False)
class _Cables:
    """The cables between switches that work, lower end and upper end; and how many vertices."""

    lower: Ints
    upper: Ints
    vertices: int

    def seen(self, switches: Ints) -> Flags:
        """Return the vertices as flags, true at ``switches``."""
        found = np.zeros(self.vertices, dtype=bool)
        found[switches] = True
        return found


def adding(network: Network) -> str:
    """Return why the switches between nodes cannot join a tree that adds; empty if they can."""
    if not isinstance(network.plan, Tree):
        return "there are no switches between nodes"
    fabric = network.plan.fabric
    if not isinstance(fabric, FatTree):
        return "adding switches are played in trees of leaf and spine switches only"
    if fabric.reduction != "sharp":
        return "the switches between nodes do not add"
    if fabric.planes * fabric.tors > 1:
        return "adding switches are played with network cards of one port"
    return ""


def aggregations(system: System, network: Network, rails: Ints) -> list[Aggregation]:
    """Return a tree for every row of ``rails``, chips of different domains, over links that work.

    Raises ``InputError`` where the switches do not add, or where no switch is left that all
    leaves of a row reach.
    """
    why = adding(network)
    if why:
        raise _refused(why)
    edges = network.edges()
    between = network.between[network.up[network.between]]
    cables = _Cables(
        edges.source[between], edges.target[between], sum(one.count for one in network.groups)
    )
    found = []
    for turn, chips in enumerate(rails):
        up = uplinks(system, network, chips)
        leaf = edges.target[up.link[up.start[1:] - 1]]
        found.append(_tree(cables, leaf, turn))
    return found


def uplinks(system: System, network: Network, chips: Ints) -> Paths:
    """Return the way of each chip to the leaf of its network card."""
    plan = network.plan
    if not isinstance(plan, Tree):
        raise _refused(adding(network))
    size = plan.within.whole.domain.chips
    other = chips + size
    home = np.where(chips < size, size, chips % size)
    way = paths(
        system, network, chips, np.where(other < system.chips, other, home), policy="static"
    )
    path = np.repeat(np.arange(len(chips)), np.diff(way.start))
    ports = np.flatnonzero(network.kind[way.link] == plan.port)
    first = ports[np.unique(path[ports], return_index=True)[1]]
    keep = np.arange(len(way.link)) <= first[path]
    start = np.concatenate([[0], np.cumsum(first - way.start[:-1] + 1)])
    return Paths(start.astype(np.int64), way.link[keep])


def cables_of(network: Network, source: Ints, target: Ints) -> Ints:
    """Return the directed link of each pair of neighbouring switches.

    Raises ``InputError`` where there is none that works.
    """
    edges = network.edges()
    between = network.between[network.up[network.between]]
    links = np.concatenate([between, between + network.cables])
    many = sum(one.count for one in network.groups)
    key = edges.source[links].astype(np.int64) * many + edges.target[links]
    order = np.argsort(key, kind="stable")
    wanted = source * many + target
    place = np.searchsorted(key[order], wanted)
    there = place < len(order)
    there[there] = key[order][place[there]] == wanted[there]
    if not there.all():
        raise _refused("a cable of its tree of switches has failed during the run")
    return np.asarray(links[order[place]], dtype=np.int64)


def _tree(cables: _Cables, leaf: Ints, turn: int) -> Aggregation:
    """Return the lowest tree that joins the leaves; ``turn`` chooses among equal tops."""
    leaves = np.unique(leaf)
    tops, height = leaves[:1], 0
    while len(tops):
        order = np.roll(tops, -(turn % len(tops)))
        for top in order[:MOST_TOPS].tolist():
            above = _descended(cables, top, height, turn)
            if (above[leaves] >= 0).all():
                return _climbed(above, leaf, height)
        tops = np.unique(cables.upper[cables.seen(tops)[cables.lower]])
        height += 1
    raise _refused("no switch is left that all its network cards reach")


def _descended(cables: _Cables, top: int, height: int, turn: int) -> Ints:
    """Return the switch above each of those that ``top`` reaches going down; -1: not reached."""
    above = np.full(cables.vertices, -1, dtype=np.int64)
    above[top] = top
    now = np.array([top])
    for _ in range(height):
        way = np.flatnonzero(cables.seen(now)[cables.upper])
        child, many = np.unique(cables.lower[way], return_counts=True)
        order = np.argsort(cables.lower[way], kind="stable")
        begin = np.concatenate([[0], np.cumsum(many)[:-1]])
        above[child] = cables.upper[way[order[begin + turn % many]]]
        now = child
    return above


def _climbed(above: Ints, leaf: Ints, height: int) -> Aggregation:
    """Return the edges that lead from the leaves to the top, tier by tier."""
    child, parent, level = [], [], []
    now = np.unique(leaf)
    for tier in range(1, height + 1):
        child.append(now)
        parent.append(above[now])
        level.append(np.full(len(now), tier))
        now = np.unique(above[now])
    none = np.zeros(0, dtype=np.int64)
    return Aggregation(
        leaf,
        np.concatenate([none, *child]),
        np.concatenate([none, *parent]),
        np.concatenate([none, *level]),
    )


def _refused(rule: str) -> InputError:
    return InputError(
        Problem(
            field="algorithm",
            found="collnet",
            rule=rule,
            fix="--algorithm nvls_tree, tree or ring; artery expect has the closed form",
        )
    )
