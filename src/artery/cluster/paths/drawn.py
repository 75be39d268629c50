"""Ways through a network drawn cable by cable: shortest ones, a choice at every switch.

Routers of any wiring work so: a table of distances to every leaf, and at each switch all cables
that lead one nearer (OpenSM's min-hop and every ECMP fabric). In a tree this is up and down.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from artery.cluster.drawn import Drawn
from artery.cluster.paths.choice import Choice
from artery.cluster.paths.tree import Crossing, Ends
from artery.core.arrays import Flags, Ints

FAR = np.int16(32_000)
"""The distance of switches that do not meet."""

ROWS = 256
"""Leaves whose distances are searched together: few enough for the arrays to stay small."""


@dataclass(frozen=True, slots=True, eq=False)
class Ways:
    """Where every card hangs, and how far every switch is from every leaf.

    ``leaf`` and ``cable`` are by card, -1 where a card has no cable. ``row`` is the row of a leaf
    in ``distance`` (leaf, switch). ``near``, ``by`` and ``back`` are by switch and place: the
    neighbour, the cable, whether it is passed from its upper end to its lower, and its number among
    the cables of the same two switches; a place that is not used leads to a switch beyond the last,
    which is far from everywhere.
    """

    leaf: Ints
    cable: Ints
    row: Ints
    distance: NDArray[np.int16]
    near: Ints
    by: Ints
    back: Flags
    strand: Ints
    joined: bool


def ways(fabric: Drawn) -> Ways:
    """Return the tables of a drawn network."""
    first, many = fabric.endpoints, len(fabric.switches)
    of_card = fabric.lower < first
    leaf = np.full(first, -1, dtype=np.int64)
    cable = np.full(first, -1, dtype=np.int64)
    number = np.flatnonzero(of_card)
    leaf[fabric.lower[number]] = fabric.upper[number] - first
    cable[fabric.lower[number]] = number
    number = np.flatnonzero(~of_card)
    one, other = fabric.lower[number] - first, fabric.upper[number] - first
    tail, head = np.concatenate([one, other]), np.concatenate([other, one])
    near, by, back, strand = _places(many, tail, head, np.tile(number, 2))
    leaves = np.unique(leaf[leaf >= 0])
    row = np.full(many, -1, dtype=np.int64)
    row[leaves] = np.arange(len(leaves))
    distance = _distances(many, leaves, tail, head)
    joined = bool((distance[:, leaves] < FAR).all())
    return Ways(leaf, cable, row, distance, near, by, back, strand, joined)


def _places(many: int, tail: Ints, head: Ints, cable: Ints) -> tuple[Ints, Ints, Flags, Ints]:
    """Return neighbour, cable, direction and strand by switch and place."""
    degree = np.bincount(tail, minlength=many)
    width = max(int(degree.max(initial=0)), 1)
    order = np.argsort(tail, kind="stable")
    firsts = np.concatenate([[0], np.cumsum(degree)])
    place = np.arange(len(tail)) - firsts[tail[order]]
    near = np.full((many, width), many, dtype=np.int64)
    by = np.full((many, width), -1, dtype=np.int64)
    back = np.zeros((many, width), dtype=bool)
    near[tail[order], place] = head[order]
    by[tail[order], place] = cable[order]
    back[tail[order], place] = order >= len(cable) // 2
    strand = np.zeros((many, width), dtype=np.int64)
    pair = tail * many + head
    alike = np.argsort(pair, kind="stable")
    first = np.concatenate([[True], np.diff(pair[alike]) != 0]) if len(pair) else np.zeros(0, bool)
    start = np.maximum.accumulate(np.where(first, np.arange(len(pair)), 0))
    number = np.empty(len(pair), dtype=np.int64)
    number[alike] = np.arange(len(pair)) - start
    strand[tail[order], place] = number[order]
    return near, by, back, strand


def _distances(many: int, leaves: Ints, tail: Ints, head: Ints) -> NDArray[np.int16]:
    """Return the cables from every switch to every leaf; one column more, far from all."""
    found = np.full((len(leaves), many + 1), FAR, dtype=np.int16)
    for start in range(0, len(leaves), ROWS):
        part = found[start : start + ROWS]
        part[np.arange(len(part)), leaves[start : start + ROWS]] = 0
        level = 0
        while True:
            row, arc = np.nonzero((part[:, head] == level) & (part[:, tail] == FAR))
            if not len(row):
                break
            level += 1
            part[row, tail[arc]] = level
    return found


def drawn_paths(fabric: Drawn, table: Ways, ends: Ends, choice: Choice) -> Crossing:
    """Return the way of every pair of cards; cables are numbered as the fabric lists them."""
    start = ends.source * fabric.cards + ends.source_card
    stop = ends.target * fabric.cards + ends.target_card
    rise, fall = table.cable[start], table.cable[stop]
    here, goal = np.maximum(table.leaf[start], 0), np.maximum(table.leaf[stop], 0)
    row = table.row[goal]
    joined = (rise >= 0) & (fall >= 0) & (table.distance[row, here] < FAR)
    here = np.where(joined, here, goal)
    columns: list[Ints] = [np.where(joined, rise, -1)]
    down: list[bool | Flags] = [False]
    length = table.distance[row, here].astype(np.int64)
    # Of several cables between two switches a path takes as many further down as up: ways that
    # differ only in the cable up do not meet again on one cable down.
    strands: list[Ints] = []
    for step in range(int(length.max(initial=0))):
        mirror = length - 1 - step
        carry = np.zeros_like(here)
        for taken, strand in enumerate(strands):
            carry = np.where(mirror == taken, strand, carry)
        cable, back, strand, here = _step(table, row, here, (here != goal, carry), choice)
        strands.append(strand)
        columns.append(cable)
        down.append(back)
    return Crossing([*columns, np.where(joined, fall, -1)], [*down, True], joined)


def _step(
    table: Ways, row: Ints, here: Ints, state: tuple[Flags, Ints], choice: Choice
) -> tuple[Ints, Flags, Ints, Ints]:
    """Return the cable that leads one nearer, its direction and strand, and where it ends.

    ``state`` says which are still on the way, and by how many cables to turn the choice.
    """
    moving, carry = state
    near = table.near[here]
    nearer = table.distance[row[:, None], near] == table.distance[row, here][:, None] - 1
    count = np.maximum(nearer.sum(axis=1), 1)
    pick = (choice(count) + carry) % count
    place = np.argmax(np.cumsum(nearer, axis=1) > pick[:, None], axis=1)
    cable = np.where(moving, table.by[here, place], -1)
    strand = table.strand[here, place]
    there = near[np.arange(len(here)), place]
    return cable, table.back[here, place], strand, np.where(moving, there, here)
