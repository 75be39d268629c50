"""Leaf and spine: one to three tiers of switches above the nodes, with or without rails.

Without rails all cards of a node go to one leaf (top of rack); with rails card ``r`` of every
node goes to leaf ``r`` of its group. Several planes are copies of the tree, each joined to one
port of every card; in a plane a card may have ports to several leaves of its own (dual ToR); and a
rail-only tree is one tree for every rail. :mod:`artery.cluster.stages` counts and cables the
switches.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil

from artery.core.link import Link
from artery.core.system import Tier


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

    ``cards`` of class ``card`` per node, each split over ``planes`` planes and, in each of them,
    over ``tors`` leaves; ``latency`` is one way through a leaf and ``hop`` that of one more switch
    with its cable, in seconds; ``routing`` is the choice among equal paths (``hash`` or
    ``modulo``); ``reduction`` is ``sharp`` where the switches add. With ``rail_only`` the rails
    have no switch in common: who wants to change rail does so inside a node.
    """

    card: Link
    cards: int
    levels: tuple[Level, ...]
    latency: float
    hop: float
    rails: bool = False
    rail_only: bool = False
    planes: int = 1
    tors: int = 1
    routing: str = "hash"
    reduction: str | None = None

    @property
    def trees(self) -> int:
        """Trees side by side that share no switch."""
        return self.planes * (self.cards if self.rail_only else 1)

    @property
    def one(self) -> FatTree:
        """One of these trees: a card of every node if rail-only, else all of them."""
        if self.rail_only:
            return replace(self, cards=1, planes=1, rails=False, rail_only=False)
        return replace(self, planes=1)

    @property
    def port(self) -> float:
        """B/s per direction of one port of a card, the rate of every cable of the tree."""
        return self.card.bandwidth / (self.planes * self.tors)

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
