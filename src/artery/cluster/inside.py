"""From the arcs of one domain to the links of the whole system, for all its copies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from artery.cluster.paths.choice import Choice
from artery.cluster.wiring import Assembly
from artery.core.arrays import Ints
from artery.node.next_hops import NextHops, next_hops

MISSING = -1


@dataclass(frozen=True, slots=True)
class Inside:
    """The ways inside the domains of ``whole``, whose network has ``total`` cables.

    ``offset`` is the link of every arc of the first domain; that of copy ``c`` lies ``c`` times
    ``cables`` further, but for the last copy, if it is not full, they are in ``rest``. ``exits``
    are the arcs from a chip to the seat of each of its own cards, ``slots`` the first card that it
    has and how many, and ``seat`` the vertex that each card of each node plugs into (all three
    empty without a fabric).
    """

    whole: Assembly
    hops: NextHops
    total: int
    cables: int
    offset: Ints
    rest: Ints
    exits: Ints
    slots: Ints
    seat: Ints

    def links(self, copy: Ints, arc: Ints) -> Ints:
        """Return the link of an arc in a copy of the domain, -1 where there is no arc."""
        link = copy * self.cables + self.offset[arc]
        if len(self.rest):
            last = copy == self.whole.domains - 1
            if last.any():
                link = np.where(last, self.rest[arc], link)
        return np.where(arc < 0, MISSING, link)

    def walk(self, copy: Ints, source: Ints, target: Ints, choice: Choice) -> list[Ints]:
        """Return the links between two vertices of a copy, both numbered within the domain."""
        arcs = self.hops.walk(source, target, choice)
        return [self.links(copy, column) for column in arcs]

    def way_out(self, copy: Ints, chip: Ints, slot: Ints) -> list[Ints]:
        """Return the links from a chip to the seat of its own card number ``slot``."""
        arcs = self.exits[chip, np.broadcast_to(slot, chip.shape)]
        return [self.links(copy, arcs[:, index]) for index in range(arcs.shape[1])]

    def way_in(self, copy: Ints, chip: Ints, slot: Ints) -> list[Ints]:
        """Return the links from the seat of a chip's own card number ``slot`` to the chip."""
        arcs = self.exits
        back = np.where(arcs < self.cables, arcs + self.cables, arcs - self.cables)
        back = np.where(arcs < 0, MISSING, back)[chip, np.broadcast_to(slot, chip.shape)]
        return [self.links(copy, back[:, index]) for index in reversed(range(back.shape[1]))]


def inside(whole: Assembly, total: int) -> Inside:
    """Return the ways inside the domains of ``whole``; its network has ``total`` cables."""
    hops = next_hops(whole.domain)
    cables = len(whole.domain.cables)
    number = np.arange(cables, dtype=np.int64)
    missing = whole.missing_cables()
    rest = np.zeros(0, dtype=np.int64)
    if missing.any():
        first = (whole.domains - 1) * cables
        there = first + np.cumsum(~missing) - 1
        rest = np.where(missing, MISSING, there)
        rest = np.concatenate([rest, np.where(missing, MISSING, there + total)])
    exits, slots = _exits(whole, hops)
    return Inside(
        whole=whole,
        hops=hops,
        total=total,
        cables=cables,
        offset=np.concatenate([number, number + total]),
        rest=rest,
        exits=exits,
        slots=slots,
        seat=_seats(whole),
    )


def _seats(whole: Assembly) -> Ints:
    """Return the vertex of the domain that each card of each of its nodes plugs into."""
    if whole.fabric is None:
        return np.zeros((whole.domain.nodes, 0), dtype=np.int64)
    return whole.seat_of(whole.fabric)


def _exits(whole: Assembly, hops: NextHops) -> tuple[Ints, Ints]:
    """Return arcs (chip, slot, step) to the seats, and the first own card and number of a chip."""
    fabric, domain = whole.fabric, whole.domain
    if fabric is None:
        return np.zeros((domain.chips, 1, 0), dtype=np.int64), np.zeros((0, 2), dtype=np.int64)
    per_node = domain.chips // domain.nodes
    place = np.arange(per_node, dtype=np.int64)
    first = place * fabric.cards // per_node
    many = np.maximum((place + 1) * fabric.cards // per_node - first, 1)
    seat = whole.seat_of(fabric)
    chip = np.repeat(np.arange(domain.chips, dtype=np.int64), int(many.max()))
    slot = np.tile(np.arange(int(many.max()), dtype=np.int64), domain.chips)
    node, own = chip // per_node, chip % per_node
    card = first[own] + np.minimum(slot, many[own] - 1)
    arcs = hops.walk(chip, seat[node, card], _first_one)
    shape = (domain.chips, int(many.max()), len(arcs))
    stacked = np.stack(arcs, axis=1) if arcs else np.zeros((len(chip), 0), dtype=np.int64)
    return stacked.reshape(shape), np.stack([first, many], axis=1)


def _first_one(count: Ints) -> Ints:
    """Pick the first of all choices."""
    return np.zeros_like(count)
