"""Ways through a fat tree: up to the lowest tier where two leaves meet, and down again.

Every digit of a way is a choice among equal ones: the plane, the leaf of a card with several, the
port upwards at each tier, and the way down where more than one is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from artery.cluster.fat_tree import FatTree
from artery.cluster.paths.choice import Choice
from artery.cluster.stages import Stage, attachment, leaf_of, rest
from artery.core.arrays import Flags, Ints


@dataclass(frozen=True, slots=True)
class Ends:
    """Network cards, as node and number within the node, of both ends of each path."""

    source: Ints
    source_card: Ints
    target: Ints
    target_card: Ints


@dataclass(frozen=True, slots=True)
class Crossing:
    """Ways through a fabric: cables as columns, up or down each, -1 where there is none.

    ``joined`` is false for a way that the choices led astray.
    """

    columns: Sequence[Ints]
    down: Sequence[bool | Flags]
    joined: Flags


def tree_paths(
    tree: FatTree, found: tuple[Stage, ...], nodes: int, ends: Ends, choice: Choice
) -> Crossing:
    """Return the way of every pair of cards through ``tree`` with ``nodes`` nodes.

    ``found`` are its stages. Cables are numbered as in
    :func:`artery.cluster.stages.fat_tree_edges`.
    """
    one = tree.one
    per_tree = nodes * one.cards * one.tors + sum(stage.count * stage.up for stage in found)
    base = np.asarray(choice(tree.planes))
    if tree.rail_only:
        base = base * tree.cards + ends.source_card
        own = Ends(ends.source, 0 * ends.source_card, ends.target, 0 * ends.target_card)
    else:
        own = ends
    base = base * per_tree
    leaf = leaf_of(one, found[0], nodes, own.source, own.source_card)
    goal = leaf_of(one, found[0], nodes, own.target, own.target_card)
    if choice.by_target:
        tor = far = choice.port(one.tors, own.source)
    else:
        tor = choice(one.tors)
        far = np.where(leaf == goal, tor, choice(one.tors)) if one.tors > 1 else tor
    rise = base + (own.source * one.cards + own.source_card) * one.tors + tor
    fall = base + (own.target * one.cards + own.target_card) * one.tors + far
    middle = _over(found, leaf + tor, goal + far, choice)
    first = base + nodes * one.cards * one.tors
    columns = [np.where(column < 0, -1, column + first) for column in middle.columns]
    return Crossing([rise, *columns, fall], [False, *middle.down, True], middle.joined)


def _over(found: tuple[Stage, ...], leaf: Ints, goal: Ints, choice: Choice) -> Crossing:
    """Return the ways between leaves, cables counted from the first above the leaves."""
    size = len(leaf)
    meeting = _meeting(found, leaf, goal)
    highest = int(meeting.max(initial=0))
    if highest == 0:
        return Crossing([], [], np.ones(size, dtype=bool))
    columns = [np.full(size, -1, dtype=np.int64) for _ in range(2 * highest)]
    joined = np.asarray(meeting < len(found))
    for level in range(1, min(highest + 1, len(found))):
        rows = np.flatnonzero(meeting == level)
        if not len(rows):
            continue
        pick = choice if len(rows) == size else choice.part(rows)
        way, fine = _up_and_down(found, level, leaf[rows], goal[rows], pick)
        joined[rows] &= fine
        for index in range(level):
            columns[index][rows] = way[index]
            columns[-1 - index][rows] = way[-1 - index]
    return Crossing(columns, [False] * highest + [True] * highest, joined)


def _meeting(found: tuple[Stage, ...], leaf: Ints, goal: Ints) -> Ints:
    """Return the lowest tier at which each pair of leaves may meet; beyond the top if nowhere."""
    apart = np.asarray(leaf != goal)
    meeting = apart.astype(np.int64)
    block, other = leaf, goal
    for index in range(1, len(found)):
        below = found[index].below if index == 1 else found[index].below // found[index - 1].group
        if index == 1 and found[1].windows > 1:
            window, _ = attachment(found[0], found[1], leaf)
            target, _ = attachment(found[0], found[1], goal)
            astray = window != target
        else:
            astray = np.zeros(1, dtype=bool)
        block, other = block // below, other // below
        apart = apart & ((block != other) | astray)
        meeting += apart
    return meeting


def _up_and_down(
    found: tuple[Stage, ...], level: int, leaf: Ints, goal: Ints, choice: Choice
) -> tuple[list[Ints], Flags]:
    """Return the cables up to tier ``level`` and down from it, and which ways arrive."""
    firsts = np.cumsum([0, *(stage.count * stage.up for stage in found)]).tolist()
    ups: list[Ints] = []
    # Of several cables between two switches a path takes as many further down as up: ways that
    # differ only in the cable up do not meet again on one cable down.
    strand: list[Ints] = []
    switch = leaf
    for index in range(level):
        lower, upper = found[index], found[index + 1]
        port = np.asarray(choice(lower.up))
        window, first = attachment(lower, upper, switch)
        if choice.by_target:  # one switch above for a target, whichever port leads to it
            port = rest(port - first, lower.up)
            if index == 0:  # only leaves of one window share switches above
                choice.among(upper.windows)
        ups.append(firsts[index] + switch * lower.up + port)
        strand.append(port // upper.window)
        inside = rest(first + port, upper.window)
        switch = switch // upper.below * upper.group + window * upper.window + inside
    downs: list[Ints] = []
    fine = np.ones(len(leaf), dtype=bool)
    parents = _parents(found, level, goal)
    for index in range(level - 1, -1, -1):
        lower, upper = found[index], found[index + 1]
        member = rest(switch, upper.group)
        window = member // upper.window
        inside = member - window * upper.window
        child = goal
        if index:
            member, there = _child(found, index, goal, window, choice)
            child = parents[index] * lower.group + member
            fine &= there
        under, first = attachment(lower, upper, child)
        if not index:
            fine &= under == window
        start = rest(inside - first, upper.window)
        port = start
        if lower.up > upper.window:
            strands = _strands(lower, upper, start)
            port = start + upper.window * rest(choice(strands) + strand[index], strands)
        downs.append(firsts[index] + child * lower.up + port)
        switch = child
    return ups + downs, fine


def _strands(lower: Stage, upper: Stage, start: Ints) -> Ints | int:
    """Return how many of the cables of a switch, the first at ``start``, lead to one above."""
    if lower.up % upper.window == 0:
        return lower.up // upper.window
    return np.asarray((lower.up - start + upper.window - 1) // upper.window)


def _parents(found: tuple[Stage, ...], level: int, goal: Ints) -> list[Ints]:
    """Return the group in which the ancestors of each leaf lie, tier by tier below ``level``."""
    group = goal // found[0].group
    groups = [group]
    for index in range(1, level):
        group = group // (found[index].below // found[index - 1].group)
        groups.append(group)
    return groups


def _child(
    found: tuple[Stage, ...], index: int, goal: Ints, window: Ints, choice: Choice
) -> tuple[Ints, Flags]:
    """Return the place of a switch of tier ``index`` under ``window`` and over a leaf, if any."""
    stage, windows = found[index], found[index + 1].windows
    low = np.zeros(1, dtype=np.int64)
    many = stage.group
    if index == 1:
        low = attachment(found[0], stage, goal)[0] * stage.window
        many = stage.window
    start = rest(window - low, windows)
    count = (many - start + windows - 1) // windows
    there = np.asarray(count > 0)
    member = low + start + windows * choice.down(np.maximum(count, 1), windows)
    return np.where(there, member, 0), there
