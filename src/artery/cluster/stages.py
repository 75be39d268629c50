"""The switches of a fat tree, tier by tier, and the cables between them, as arithmetic.

Counts follow from the ports of a switch: a switch that has a tier above it keeps ``down : up =
taper`` of its ports, one at the top uses all of them downwards. Where one switch has fewer up-links
than there are switches above, these are split into *windows*: member ``m`` of a group of lower
switches is joined to all switches of window ``m`` modulo the number of windows, so that switches in
the same place of their groups meet one tier up, as in every large fat tree (rail ``r`` of all
groups under the same spines). Switches of different windows meet a tier further up.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor

import numpy as np

from artery.cluster.fat_tree import FatTree
from artery.core.arrays import Ints

ROUNDING = 1e-9
"""A quotient this close below a whole number of ports is that number."""


@dataclass(frozen=True, slots=True)
class Stage:
    """The switches of one tier in one tree: ``count``, in groups of ``group``.

    ``below`` is the number of lower switches (cards, at the leaves) under one group; ``up`` the
    ports of one switch that go up, 0 at the top. A group is split into ``windows`` equal parts.
    """

    count: int
    group: int
    below: int
    up: int
    windows: int = 1

    @property
    def window(self) -> int:
        """Switches in one window."""
        return self.group // self.windows


class TooManyPortsError(ValueError):
    """A rail leaf would need more ports than a switch has."""


def stages(tree: FatTree, nodes: int) -> tuple[Stage, ...]:
    """Return the switches of each tier that ``nodes`` nodes need, in one of the tree's trees.

    ``tree`` is already clipped to ``nodes``. Where real switches cannot join all that is below
    them in one tier, larger ones are drawn in their place: a chassis, itself a small fabric.
    Raises :class:`TooManyPortsError` if the nodes of a rail group need more ports than a leaf has.
    """
    one = tree.one
    found: list[Stage] = []
    for index, level in enumerate(one.levels):
        top = index + 1 == len(one.levels)
        taper = 1.0 if top else one.levels[index + 1].taper
        ports = level.radix if top else floor(level.radix * taper / (1 + taper))
        stage = _spines(one, found, ports) if found else _leaves(one, nodes, ports)
        down = ceil(stage.below * (found[-1].up if found else one.tors) / stage.group)
        up = 0 if top else max(1, floor(down / taper + ROUNDING))
        found.append(Stage(stage.count, stage.group, stage.below, up, stage.windows))
    return tuple(found)


def _leaves(tree: FatTree, nodes: int, ports: int) -> Stage:
    """Return the leaves; in a group there is one per rail, or as many as the cards need.

    Where a card has ports to several leaves there are so many in the place of one. Without rails
    and without a tier above, all cards must meet in the leaf itself, however many ports it takes.
    """
    size = tree.levels[0].nodes or nodes
    groups = ceil(nodes / size)
    below = size * tree.cards
    if tree.rails:
        if size > ports:
            raise TooManyPortsError(f"{size} nodes on a rail leaf with {ports} ports for them")
        group = tree.cards * tree.tors
    elif len(tree.levels) == 1:
        group = tree.tors
    else:
        group = ceil(below / ports) * tree.tors
    return Stage(groups * group, group, below, 0)


def _spines(tree: FatTree, lower: list[Stage], ports: int) -> Stage:
    """Return the switches of the next tier up, as many as take the up-links of the lower one."""
    index = len(lower)
    size, inner = tree.levels[index].nodes, tree.levels[index - 1].nodes
    last = lower[-1]
    below, groups = last.count, 1
    top = index + 1 == len(tree.levels)
    if size is not None and inner is not None and not top:
        below = size // inner * last.group
        groups = ceil(last.count / below)
    windows = _windows(tree, lower, below, ports, top=top)
    window = min(last.up, ceil(below // windows * last.up / ports))
    group = windows * window
    return Stage(groups * group, group, below, 0, windows)


def _windows(tree: FatTree, lower: list[Stage], below: int, ports: int, *, top: bool) -> int:
    """Return the fewest windows that real switches allow and through which all can still meet.

    They divide the places of a lower group evenly. Nodes that can change rail inside may do with
    rails that never meet; others need, below the top, every window under every spine.
    """
    last = lower[-1]
    places = last.group
    if not tree.rails:
        if len(lower) == 1:
            places = 1 if top else last.group
        elif last.windows > 1:
            places = last.window
    every = [count for count in range(1, places + 1) if places % count == 0]
    fitting = (count for count in every if ceil(below // count * last.up / ports) <= last.up)
    return next(fitting, every[-1])


def upward(lower: Stage, upper: Stage, switch: Ints, port: Ints) -> Ints:
    """Return the upper switch to which ``port`` of the lower ``switch`` goes."""
    window, first = attachment(lower, upper, switch)
    inside = rest(first + port, upper.window)
    found: Ints = switch // upper.below * upper.group + window * upper.window + inside
    return found


def attachment(lower: Stage, upper: Stage, switch: Ints) -> tuple[Ints, Ints]:
    """Return the window above a lower ``switch``, and the place in it of the switch's first port.

    The first ports of the switches of a window go round in turn, so that loads differ by one
    cable at most.
    """
    if len(switch) > lower.count:
        window, first = attachment(lower, upper, np.arange(lower.count))
        return window[switch], first[switch]
    place = rest(switch, upper.below)
    block = place // lower.group
    member = place - block * lower.group
    turn = member // upper.windows
    window = member - turn * upper.windows
    order = block * (lower.group // upper.windows) + turn
    return window, rest(order * lower.up, upper.window)


def rest(number: Ints, count: Ints | int) -> Ints:
    """Return ``number % count``, in two thirds of the time that numpy takes for that."""
    return number - number // count * count


def leaf_of(tree: FatTree, leaves: Stage, nodes: int, node: Ints, card: Ints) -> Ints:
    """Return the first leaf of a card; its further ports go to the leaves after it."""
    size = tree.levels[0].nodes or nodes
    group = node // size
    if tree.rails:
        within = card
    else:
        per_leaf = ceil(size * tree.cards / (leaves.group // tree.tors))
        within = ((node - group * size) * tree.cards + card) // per_leaf
    found: Ints = group * leaves.group + within * tree.tors
    return found


def fat_tree_edges(tree: FatTree, nodes: int) -> tuple[Ints, Ints]:
    """Return the cables above the cards as two arrays, lower end and upper end.

    Vertices: the cards node by node, then the switches of the first tree from the leaves up, then
    those of the second, and so on. Trees are ordered by plane, then by rail. Cables: for each tree
    those of its cards, port by port, then those of its switches from the leaves up. Every cable has
    the rate of one port, card / (planes · tors).
    """
    one, found = tree.one, stages(tree, nodes)
    cards = np.arange(nodes * one.cards, dtype=np.int64)
    node = cards // one.cards
    leaf = leaf_of(one, found[0], nodes, node, cards - node * one.cards)
    tor = np.arange(one.tors, dtype=np.int64)
    lower: list[Ints] = []
    upper: list[Ints] = []
    first = nodes * tree.cards
    for index in range(tree.trees):
        own = node * tree.cards + index % tree.cards if tree.rail_only else cards
        lower.append(np.repeat(own, one.tors))
        upper.append((first + leaf[:, None] + tor).ravel())
        for stage, above in pairwise(found):
            ends = np.arange(stage.count * stage.up, dtype=np.int64)
            switch = ends // stage.up
            lower.append(first + switch)
            first += stage.count
            upper.append(first + upward(stage, above, switch, ends - switch * stage.up))
        first += found[-1].count
    return np.concatenate(lower), np.concatenate(upper)


def crosses(found: tuple[Stage, ...]) -> bool:
    """Whether any two leaves of the tree meet somewhere in it."""
    if len(found) == 1:
        return found[0].count == 1
    if len(found) == 2:
        return found[1].windows == 1
    return all(
        upper.windows <= lower.window or lower.windows == 1 for lower, upper in pairwise(found[1:])
    )
