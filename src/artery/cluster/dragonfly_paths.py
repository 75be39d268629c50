"""Shortest ways through a dragonfly: to the gateway, across to the other group, and on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from artery.cluster.choice import Choice
from artery.cluster.dragonfly import (
    Dragonfly,
    between_cable,
    gateway,
    inside_cable,
    router_of,
)
from artery.cluster.tree_paths import Crossing, Ends

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


def dragonfly_paths(fabric: Dragonfly, nodes: int, ends: Ends, choice: Choice) -> Crossing:
    """Return the way of every pair of cards through ``fabric`` with ``nodes`` nodes.

    Cables are numbered as in :func:`artery.cluster.dragonfly.dragonfly_edges`. A way inside a group
    has one cable (two through a spine of a dragonfly+), one to another group up to three.
    """
    groups = fabric.groups(nodes)
    rise = ends.source * fabric.cards + ends.source_card
    fall = ends.target * fabric.cards + ends.target_card
    here, there = router_of(fabric, rise), router_of(fabric, fall)
    group, peer = here // fabric.switches, there // fabric.switches
    away = group != peer
    strand = np.asarray(choice(fabric.between))
    out = np.where(away, gateway(fabric, group, peer, strand, groups), there)
    back = np.where(away, gateway(fabric, peer, group, strand, groups), there)
    first = nodes * fabric.cards
    across = first + groups * fabric.inside
    if fabric.spines:
        # Inside one group any spine will do, between groups the gateway is one.
        middle = group * fabric.switches + fabric.routers + choice(fabric.spines)
        out = np.where(away, out, np.where(here == there, here, middle))
        back = np.where(away, back, out)
    strands = np.asarray(choice(fabric.local)), np.asarray(choice(fabric.local))
    leaving = _step(fabric, here, out, strands[0])
    arriving = _step(fabric, back, there, strands[1])
    low, high = np.minimum(group, peer), np.maximum(group, peer)
    long = np.where(away, across + between_cable(fabric, low, high, strand, groups), -1)
    local = [np.where(cable < 0, -1, first + cable) for cable, _ in (leaving, arriving)]
    return Crossing(
        [rise, local[0], long, local[1], fall],
        [False, leaving[1], np.asarray(group > peer), arriving[1], True],
        np.ones(len(rise), dtype=bool),
    )


def _step(fabric: Dragonfly, one: Ints, other: Ints, strand: Ints) -> tuple[Ints, Flags]:
    """Return the cable inside a group from one switch to another, and whether it is taken back.

    Counted from the first group's first such cable; -1 where both are the same.
    """
    group = one // fabric.switches
    start = group * fabric.switches
    low, high = np.minimum(one, other) - start, np.maximum(one, other) - start
    cable = group * fabric.inside + inside_cable(fabric, low, high, strand)
    return np.where(one == other, -1, cable), np.asarray(one > other)
