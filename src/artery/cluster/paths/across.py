"""Ways between nodes: out by a card of the source's node, through the fabric, in by a card."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from artery.cluster.dragonfly import Dragonfly
from artery.cluster.drawn import Drawn
from artery.cluster.inside import Inside
from artery.cluster.network import Tree
from artery.cluster.paths.choice import Choice
from artery.cluster.paths.dragonfly import dragonfly_paths
from artery.cluster.paths.drawn import drawn_paths
from artery.cluster.paths.tree import Crossing, Ends, tree_paths
from artery.core.arrays import Flags, Ints


@dataclass(frozen=True, slots=True)
class Seats:
    """Where chips sit: copy of the domain, place in it, node of the domain, place in the node."""

    copy: Ints
    local: Ints
    inner: Ints
    place: Ints

    @classmethod
    def of(cls, within: Inside, chip: Ints) -> Seats:
        """Return where each chip sits."""
        domain = within.whole.domain
        per_node = domain.chips // domain.nodes
        copy = chip // domain.chips
        local = chip - copy * domain.chips
        inner = local // per_node
        return cls(copy, local, inner, local - inner * per_node)


def across(
    tree: Tree, ends: tuple[Ints, Ints], choice: Choice, shift: int
) -> tuple[list[Ints], Flags]:
    """Return the links from chip to chip of different domains as columns, and which ways arrive.

    ``shift`` takes both ends to a card that many further on in their nodes: with 0 a chip uses its
    own card, otherwise it goes through the chip that the card belongs to.
    """
    within, cards = tree.within, tree.fabric.cards
    source, target = (Seats.of(within, chip) for chip in ends)
    near, far = _own(within, source, choice), _own(within, target, choice)
    leave, enter = near[0], far[0]
    if shift:
        leave, enter = (leave + shift) % cards, (enter + shift) % cards
    if tree.relay and len(within.rest):
        # A part-filled node may lack the chip of that card, and with it who passes on to it (or
        # the card's seat): then the other end changes rail.
        lacks = ~_there(within, source, enter)[1] | (_slot(tree, source, enter) < 0)
        enter = np.where(lacks, leave, enter)
    if tree.relay:
        leave = enter
    nodes = within.whole.domain.nodes
    ports = Ends(
        source.copy * nodes + source.inner, leave, target.copy * nodes + target.inner, enter
    )
    middle = _crossing(tree, ports, choice)
    total = within.total
    columns = _out(within, source, near, leave, choice)
    slots = _slot(tree, source, leave), _slot(tree, target, enter)
    columns.append(slots[0])
    for column, down in zip(middle.columns, middle.down, strict=True):
        first = tree.first + total * down
        columns.append(np.where(column < 0, -1, column + first))
    columns.append(slots[1] + total)
    columns += _in(within, target, far, enter, choice)
    return columns, middle.joined & (slots[0] >= 0) & (slots[1] >= 0)


def _own(within: Inside, seats: Seats, choice: Choice) -> tuple[Ints, Ints]:
    """Return the chip's own card that is taken, as number in the node and among its own."""
    first, many = within.slots[:, 0], within.slots[:, 1]
    most = int(many.max())
    slot = choice(most) if most == int(many.min()) else choice(many[seats.place])
    return first[seats.place] + slot, np.broadcast_to(slot, seats.place.shape)


def _crossing(tree: Tree, ports: Ends, choice: Choice) -> Crossing:
    if isinstance(tree.fabric, Dragonfly):
        return dragonfly_paths(tree.fabric, tree.nodes, ports, choice)
    if isinstance(tree.fabric, Drawn):
        if tree.ways is None:
            raise ValueError("a drawn network needs its tables")
        return drawn_paths(tree.fabric, tree.ways, ports, choice)
    return tree_paths(tree.fabric, tree.stages, tree.nodes, ports, choice)


def _slot(tree: Tree, seats: Seats, card: Ints) -> Ints:
    """Return the cable between a card of a chip's node and its seat, -1 if that is missing."""
    within, cards = tree.within, tree.fabric.cards
    whole = within.whole
    node = seats.copy * whole.domain.nodes + seats.inner
    cable = tree.slots + node * cards + card
    if not len(within.rest):
        return np.asarray(cable)
    seat = within.seat.ravel()
    missing = (seat < whole.domain.chips) & (
        (whole.domains - 1) * whole.domain.chips + seat >= whole.chips
    )
    before: Ints = np.cumsum(missing) - missing
    row = seats.inner * cards + card
    last = seats.copy == whole.domains - 1
    return np.where(last, np.where(missing[row], -1, cable - before[row]), cable)


def _out(
    within: Inside,
    seats: Seats,
    own: tuple[Ints, Ints],
    card: Ints,
    choice: Choice,
) -> list[Ints]:
    """Return the links from the chips to the seats of their cards."""
    if (own[0] == card).all():
        return within.way_out(seats.copy, seats.local, own[1])
    peer = _peer(within, seats, own[0], card)
    return [
        *within.walk(seats.copy, seats.local, peer, choice),
        *within.walk(seats.copy, peer, within.seat[seats.inner, card], choice),
    ]


def _in(
    within: Inside,
    seats: Seats,
    own: tuple[Ints, Ints],
    card: Ints,
    choice: Choice,
) -> list[Ints]:
    """Return the links from the seats of the cards to the chips."""
    if (own[0] == card).all():
        return within.way_in(seats.copy, seats.local, own[1])
    peer = _peer(within, seats, own[0], card)
    return [
        *within.walk(seats.copy, within.seat[seats.inner, card], peer, choice),
        *within.walk(seats.copy, peer, seats.local, choice),
    ]


def _peer(within: Inside, seats: Seats, own: Ints, card: Ints) -> Ints:
    """Return the chip of the node that a card belongs to; the chip itself if that is missing."""
    peer, there = _there(within, seats, card)
    return np.where((own != card) & there, peer, seats.local)


def _there(within: Inside, seats: Seats, card: Ints) -> tuple[Ints, Flags]:
    """Return whose card it is, as place in the domain, and whether that chip is there."""
    first, many = within.slots[:, 0], within.slots[:, 1]
    domain = within.whole.domain
    owner = np.searchsorted(first + many, card, side="right")
    peer = seats.inner * (domain.chips // domain.nodes) + owner
    return peer, seats.copy * domain.chips + peer < within.whole.chips
