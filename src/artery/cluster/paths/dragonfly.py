"""Ways through a dragonfly: to the gateway, across to the other group, and on to the router.

The shortest takes one cable between groups. A longer one goes by way of a third group, which helps
where all of one group send to another (Valiant; Kim et al., ISCA 2008, section 4).
"""

from __future__ import annotations

import numpy as np

from artery.cluster.dragonfly import (
    Dragonfly,
    between_cable,
    gateway,
    inside_cable,
    router_of,
)
from artery.cluster.paths.choice import Choice
from artery.cluster.paths.tree import Crossing, Ends
from artery.core.arrays import Flags, Ints

Column = tuple[Ints, Flags]
"""Cables, -1 where there is none, and which are taken back."""


def dragonfly_paths(fabric: Dragonfly, nodes: int, ends: Ends, choice: Choice) -> Crossing:
    """Return the way of every pair of cards through ``fabric`` with ``nodes`` nodes.

    Cables are numbered as in :func:`artery.cluster.dragonfly.dragonfly_edges`. If ``choice`` is for
    longer ways, those between groups go by a third one, those inside a group by a third router.
    """
    groups = fabric.groups(nodes)
    rise = ends.source * fabric.cards + ends.source_card
    fall = ends.target * fabric.cards + ends.target_card
    here, there = router_of(fabric, rise), router_of(fabric, fall)
    goal = there // fabric.switches
    columns: list[Column] = []
    if choice.longer and groups > 2:
        third = _third(groups, here // fabric.switches, goal, choice)
        columns, here = _to_group(fabric, groups, here, third, choice)
    if choice.longer and not fabric.spines:
        around = goal * fabric.switches + np.asarray(choice(fabric.routers))
        around = np.where((here // fabric.switches == goal) & (here != there), around, here)
        columns.append(_step(fabric, here, around, choice))
        here = around
    more, here = _to_group(fabric, groups, here, goal, choice)
    columns += [*more, *_inside(fabric, here, there, choice)]
    down: list[bool | Flags] = [False, *(back for _, back in columns), True]
    first = nodes * fabric.cards
    cables = [np.where(cable < 0, -1, first + cable) for cable, _ in columns]
    return Crossing([rise, *cables, fall], down, np.ones(len(rise), dtype=bool))


def _third(groups: int, start: Ints, goal: Ints, choice: Choice) -> Ints:
    """Return a group that is neither the first nor the last; the last if these are the same."""
    low, high = np.minimum(start, goal), np.maximum(start, goal)
    found = np.asarray(choice(groups - 2)) + np.zeros_like(start)
    found = found + (found >= low)
    found = found + (found >= high)
    return np.where(start == goal, goal, found)


def _to_group(
    fabric: Dragonfly, groups: int, here: Ints, goal: Ints, choice: Choice
) -> tuple[list[Column], Ints]:
    """Return the cables to another group and the switches reached there.

    Nothing, and where they are, for those that are in the group already.
    """
    group = here // fabric.switches
    away = group != goal
    strand = np.asarray(choice(fabric.between))
    out = np.where(away, gateway(fabric, group, goal, strand, groups), here)
    low, high = np.minimum(group, goal), np.maximum(group, goal)
    cable = groups * fabric.inside + between_cable(fabric, low, high, strand, groups)
    across = (np.where(away, cable, -1), np.asarray(group > goal))
    reached = np.where(away, gateway(fabric, goal, group, strand, groups), here)
    return [*_inside(fabric, here, out, choice), across], reached


def _inside(fabric: Dragonfly, one: Ints, other: Ints, choice: Choice) -> list[Column]:
    """Return the cables inside a group from one switch to another.

    Leaves of a dragonfly+ meet at any spine, spines at any leaf.
    """
    if not fabric.spines:
        return [_step(fabric, one, other, choice)]
    start = one // fabric.switches * fabric.switches
    leaf, end = one - start < fabric.routers, other - start < fabric.routers
    spine = start + fabric.routers + choice(fabric.spines)
    middle = np.where(leaf, spine, start + choice(fabric.routers))
    middle = np.where((leaf != end) | (one == other), one, middle)
    return [_step(fabric, one, middle, choice), _step(fabric, middle, other, choice)]


def _step(fabric: Dragonfly, one: Ints, other: Ints, choice: Choice) -> Column:
    """Return the cable inside a group between two switches, if they are not the same."""
    group = one // fabric.switches
    start = group * fabric.switches
    low, high = np.minimum(one, other) - start, np.maximum(one, other) - start
    cable = group * fabric.inside + inside_cable(
        fabric, low, high, np.asarray(choice(fabric.local))
    )
    return np.where(one == other, -1, cable), np.asarray(one > other)
