"""What every fabric between nodes gives: its tiers, its switches, its cables and their classes."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from math import ceil

import numpy as np

from artery.cluster.dragonfly import Dragonfly, dragonfly_edges, dragonfly_tiers
from artery.cluster.drawn import Drawn, drawn_tiers
from artery.cluster.fat_tree import FatTree, fat_tree_tiers
from artery.cluster.part_filled import links_of_last
from artery.cluster.stages import fat_tree_edges, stages
from artery.core.arrays import Ints
from artery.core.link import Link
from artery.core.system import Tier, VertexGroup
from artery.node.scale_up import bundle

Fabric = FatTree | Dragonfly | Drawn


def fabric_tiers(fabric: Fabric, chips_per_node: int, chips: int) -> tuple[Tier, ...]:
    """Return the tiers that ``chips`` chips meet in the fabric, innermost first.

    Raises :class:`artery.cluster.stages.TooManyPortsError` for nodes that a fat tree cannot take.
    """
    if isinstance(fabric, Dragonfly):
        return dragonfly_tiers(fabric, chips_per_node, chips)
    if isinstance(fabric, Drawn):
        return drawn_tiers(fabric, chips_per_node, chips)
    tiers = fat_tree_tiers(fabric, chips_per_node, chips)
    shares = links_of_last(fabric, ceil(chips / chips_per_node))
    return tuple(replace(tier, last=last) for tier, last in zip(tiers, shares, strict=True))


def switches(fabric: Fabric, nodes: int) -> list[VertexGroup]:
    """Return the switches in the order of their numbers."""
    if isinstance(fabric, Drawn):
        return fabric.groups()
    if isinstance(fabric, Dragonfly):
        return [
            VertexGroup("switch", f"{name}-{group}", count)
            for group in range(fabric.groups(nodes))
            for name, count in (("router", fabric.routers), ("spine", fabric.spines))
            if count
        ]
    found = stages(fabric, nodes)
    return list(
        chain.from_iterable(
            [
                VertexGroup("switch", _named(fabric, level.name, index), stage.count)
                for level, stage in zip(fabric.levels, found, strict=True)
            ]
            for index in range(fabric.trees)
        )
    )


def _named(tree: FatTree, name: str, index: int) -> str:
    """Return the name of a tier of one tree: with its number, if there are several."""
    return name if tree.trees == 1 else f"{name}-{index}"


def cables(fabric: Fabric, nodes: int) -> tuple[Ints, Ints, Ints]:
    """Return lower end, upper end and class of every cable; vertex 0 is the first card.

    The class is an index into :func:`cable_links`.
    """
    if isinstance(fabric, Dragonfly):
        return dragonfly_edges(fabric, nodes)
    if isinstance(fabric, Drawn):
        return fabric.lower, fabric.upper, fabric.kind
    lower, upper = fat_tree_edges(fabric, nodes)
    return lower, upper, np.asarray(lower >= nodes * fabric.cards).astype(np.int64)


def cable_counts(fabric: Fabric, nodes: int) -> list[tuple[int, int]]:
    """Return the cables of :func:`cables` as runs of one class: class and length."""
    if isinstance(fabric, Drawn):
        return fabric.counts()
    if isinstance(fabric, Dragonfly):
        groups = fabric.groups(nodes)
        across = groups * (groups - 1) // 2 * fabric.between
        return [(0, nodes * fabric.cards), (1, groups * fabric.inside), (2, across)]
    above = sum(stage.count * stage.up for stage in stages(fabric, nodes))
    return [(0, nodes * fabric.one.cards * fabric.tors), (1, above)] * fabric.trees


def port_classes(fabric: Fabric) -> int:
    """Return how many of :func:`cable_links`, the first ones, are those of cards' ports."""
    return fabric.ports if isinstance(fabric, Drawn) else 1


def cable_links(fabric: Fabric) -> tuple[Link, ...]:
    """Return the classes of the fabric's cables: a card's port first.

    Half of the latency through one switch lies on the cable of a card.
    """
    if isinstance(fabric, Drawn):
        return fabric.links()
    port = replace(fabric.card, latency=fabric.latency / 2)
    if isinstance(fabric, Dragonfly):
        return port, replace(port, latency=fabric.hop), replace(port, latency=fabric.long)
    port = bundle(port, fabric.port)
    return port, replace(port, latency=fabric.hop)
