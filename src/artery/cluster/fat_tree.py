"""Leaf and spine: one to three tiers of switches above the nodes, with or without rails.

Without rails all cards of a node go to one leaf (top of rack); with rails card ``r`` of every
node goes to leaf ``r`` of its group. Several planes are copies of the tree, each joined to one
port of every card. Counts follow from the ports of a switch: a switch that has a tier above it
keeps ``down : up = taper`` of its ports, one at the top uses all of them downwards.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from artery.core.link import Link
from artery.core.system import Tier

Ints = NDArray[np.int64]

ROUNDING = 1e-9
"""A quotient this close below a whole number of ports is that number."""


@dataclass(frozen=True, slots=True)
class Level:
    """One tier of switches: ``nodes`` under one group of them (``None``: all there are).

    ``taper`` is the bandwidth below this tier over the bandwidth into it; ``radix`` the ports
    of one of its switches, each at the rate of one port of a network card.
    """

    name: str
    nodes: int | None
    taper: float = 1.0
    radix: int = 64


@dataclass(frozen=True, slots=True)
class FatTree:
    """A tree of switches over network cards.

    ``cards`` of class ``card`` per node, each split over ``planes`` ports; ``latency`` is one way
    through a leaf and ``hop`` that of one more switch with its cable, in seconds; ``routing`` is
    the choice among equal paths (``hash`` or ``modulo``); ``reduction`` is ``sharp`` where the
    switches add.
    """

    card: Link
    cards: int
    levels: tuple[Level, ...]
    latency: float
    hop: float
    rails: bool = False
    planes: int = 1
    routing: str = "hash"
    reduction: str | None = None

    def clipped(self, nodes: int) -> FatTree:
        """Return the tree that ``nodes`` nodes need: no tier above the one that holds them all."""
        kept: list[Level] = []
        for level in self.levels:
            kept.append(level)
            if level.nodes is None or level.nodes >= nodes:
                break
        return replace(self, levels=tuple(kept))


def fat_tree_tiers(tree: FatTree, chips_per_node: int, chips: int) -> tuple[Tier, ...]:
    """Return the tree's tiers as ``chips`` chips see them, innermost first.

    One chip's share of its node's cards, divided by every taper on the way, is its bandwidth; a
    chip whose neighbours are silent uses whole cards. One way across tier ``k`` (from 0)
    passes ``2k`` switches more than across a leaf.
    """
    share = tree.cards * tree.card.bandwidth / chips_per_node
    burst = ceil(tree.cards / chips_per_node) * tree.card.bandwidth
    tiers = []
    for index, level in enumerate(tree.levels):
        share /= level.taper
        size = chips if level.nodes is None else level.nodes * chips_per_node
        tiers.append(
            Tier(
                name=level.name,
                chips=size,
                kind="switch",
                link=tree.card,
                bandwidth=share,
                burst=burst,
                pair=burst,
                latency=tree.latency + 2 * index * tree.hop,
                reduction=tree.reduction,
            )
        )
    return tuple(tiers)


@dataclass(frozen=True, slots=True)
class Stage:
    """The switches of one tier in one plane: ``count``, in groups of ``group``.

    ``below`` is the number of lower switches (cards, at the leaves) under one group; ``up`` the
    ports of one switch that go up, 0 at the top.
    """

    count: int
    group: int
    below: int
    up: int


class TooManyPortsError(ValueError):
    """A rail leaf would need more ports than a switch has."""


def stages(tree: FatTree, nodes: int) -> tuple[Stage, ...]:
    """Return the switches of each tier that ``nodes`` nodes need, in one plane.

    ``tree`` is already clipped to ``nodes``. Raises :class:`TooManyPortsError` if the nodes of a
    rail group need more ports than a leaf has.
    """
    found: list[Stage] = []
    for index, level in enumerate(tree.levels):
        top = index + 1 == len(tree.levels)
        taper = 1.0 if top else tree.levels[index + 1].taper
        ports = level.radix if top else floor(level.radix * taper / (1 + taper))
        stage = _leaves(tree, nodes, ports) if index == 0 else _spines(tree, found, ports)
        down = ceil(stage.below * (found[-1].up if found else 1) / stage.group)
        up = 0 if top else max(1, floor(down / taper + ROUNDING))
        found.append(Stage(stage.count, stage.group, stage.below, up))
    return tuple(found)


def _leaves(tree: FatTree, nodes: int, ports: int) -> Stage:
    """Return the leaves; in a group there is one per rail, or as many as the cards need."""
    size = tree.levels[0].nodes or nodes
    groups = ceil(nodes / size)
    below = size * tree.cards
    if tree.rails:
        if size > ports:
            raise TooManyPortsError(f"{size} nodes on a rail leaf with {ports} ports for them")
        return Stage(groups * tree.cards, tree.cards, below, 0)
    group = ceil(below / ports)
    return Stage(groups * group, group, below, 0)


def _spines(tree: FatTree, lower: list[Stage], ports: int) -> Stage:
    """Return the switches of the next tier up, as many as take the up-links of the lower one."""
    index = len(lower)
    size, inner = tree.levels[index].nodes, tree.levels[index - 1].nodes
    last = lower[-1]
    below, groups = last.count, 1
    if size is not None and inner is not None and index + 1 < len(tree.levels):
        below = size // inner * last.group
        groups = ceil(last.count / below)
    group = ceil(below * last.up / ports)
    return Stage(groups * group, group, below, 0)


def fat_tree_edges(tree: FatTree, nodes: int) -> tuple[Ints, Ints]:
    """Return the cables above the cards as two arrays, lower end and upper end.

    Vertices: the cards node by node, then the switches of plane 0 from the leaves up, then those
    of plane 1, and so on. Every cable has the rate of one port, card / planes.
    """
    found = stages(tree, nodes)
    cards = nodes * tree.cards
    lower: list[Ints] = []
    upper: list[Ints] = []
    first = cards
    for _ in range(tree.planes):
        leaf = _leaf_of_card(tree, found[0], nodes)
        lower.append(np.arange(cards, dtype=np.int64))
        upper.append(first + leaf)
        for stage, above in pairwise(found):
            ends = np.arange(stage.count * stage.up, dtype=np.int64)
            switch = ends // stage.up
            within = switch % above.below * stage.up + ends % stage.up
            lower.append(first + switch)
            first += stage.count
            upper.append(first + switch // above.below * above.group + within % above.group)
        first += found[-1].count
    return np.concatenate(lower), np.concatenate(upper)


def _leaf_of_card(tree: FatTree, leaves: Stage, nodes: int) -> Ints:
    """Return the leaf of every card, node by node."""
    size = tree.levels[0].nodes or nodes
    node, card = np.divmod(np.arange(nodes * tree.cards, dtype=np.int64), tree.cards)
    group = node // size * leaves.group
    if tree.rails:
        return group + card
    per_leaf = ceil(size * tree.cards / leaves.group)
    within: Ints = (node % size * tree.cards + card) // per_leaf
    return group + within
