"""The rings that a communication library builds over a packed group on the real wiring.

Inside one domain: on point-to-point links every cycle that has links of its own, both ways round
(DGX-1: six rings), else one ring in rank order. Over several nodes: one ring per network card that
a node's members own. Ring ``c`` enters the first node at its ``c``-th member and leaves it at the
one before; the next node is passed the other way round, so that every change of node stays on one
rail (NCCL alternates rings for the same reason, ``src/graph/connect.cc``). Where a link joins every
two chips, ways through a node may end wherever they should, and an odd number of nodes stays on its
rails too: otherwise the last change would take a second link of the mesh that the ring has in use.
"""

from __future__ import annotations

import numpy as np

from artery.cluster.wiring import Assembly
from artery.core.arrays import Ints
from artery.core.system import System
from artery.node.full_rings import full_ways
from artery.node.rings import domain_rings, through_all
from artery.node.scale_up import ScaleUp

TRIES = 20_000
"""Steps of the search for ways that end apart, before any will do."""


def ring_orders(system: System, ranks: int) -> Ints:
    """Return the rings over chips 0 … ranks-1, one row each, every row a permutation of them.

    A torus has one ring in rank order: its collectives go dimension by dimension.
    """
    structure = system.router.structure
    if ranks < 3 or not isinstance(structure, Assembly):
        return np.arange(ranks, dtype=np.int64)[None, :]
    domain = structure.domain
    if ranks <= domain.chips:
        return np.array(domain_rings(domain, ranks), dtype=np.int64)
    inside = np.array(domain_rings(domain, domain.chips), dtype=np.int64)
    cards = 1 if structure.fabric is None else structure.fabric.cards * domain.nodes
    whole = ranks - ranks % domain.chips
    if through_all(tuple(map(tuple, inside.tolist()))) and cards >= domain.chips:
        left = ranks - whole
        if left % 2 == 0:
            return _on_rails(domain.chips, -(-ranks // domain.chips), left)
    ways = _entered(inside, min(cards, domain.chips))
    ends = _partly(domain, ranks - whole, len(ways))
    return np.stack(
        [np.append(_through(way, whole), whole + end) for way, end in zip(ways, ends, strict=False)]
    )


def _on_rails(size: int, domains: int, left: int) -> Ints:
    """Return a ring for each card of the emptiest domain that never changes its rail between two.

    Chips of a domain are all joined; ``left`` of the last are there (0: all). Each way leaves by
    the card whose number is that of the one where it came in, xor the domain's mask. Masks that
    give zero together lead back: 1 twice, or 1, 2 and 3 where there is an odd domain.
    """
    masks = [1] * domains
    if domains % 2 and size % 4 == 0:
        masks[-3:-1] = 2, 3
    rings = []
    for entry in range(left or size):
        ring = [entry]
        for number, mask in enumerate(masks):
            last = number == domains - 1
            way = full_ways(left if left and last else size, mask)[ring[-1] % size]
            ring += [number * size + chip for chip in way]
        rings.append(ring[1:])
    return np.array(rings, dtype=np.int64)


def _partly(domain: ScaleUp, left: int, channels: int) -> list[Ints]:
    """Return a way through the ``left`` chips of a last domain for as many channels as these bear.

    A library has as many channels as the domain with the fewest cards bears; of ``channels`` to
    as many chips, ``left`` chips have their part.
    """
    if not left:
        return [np.zeros(0, dtype=np.int64)] * channels
    inside = np.array(domain_rings(domain, left), dtype=np.int64)
    return _entered(inside, max(1, channels * left // domain.chips))


def _entered(inside: Ints, channels: int) -> list[Ints]:
    """Return one way through a full domain per channel, entered at chips spread over its cards.

    The ways end at chips of different cards too, and use the domain's rings evenly, as far as
    these allow it: an edge between nodes that two rings share would halve both.
    """
    size = inside.shape[1]
    entries = (np.arange(channels) * size // channels).tolist()
    ways = [
        [np.roll(ring, -int(np.flatnonzero(ring == entry)[0])) for ring in inside]
        for entry in entries
    ]
    for most in range(-(-channels // len(inside)), channels + 1):
        chosen = _apart(ways, size, most)
        if chosen is not None:
            return [ways[channel][ring] for channel, ring in enumerate(chosen)]
    return [one[channel % len(inside)] for channel, one in enumerate(ways)]


def _apart(ways: list[list[Ints]], size: int, most: int) -> list[int] | None:
    """Return a ring for every channel so that all leave by cards of their own, if there is one.

    No ring is taken more than ``most`` times. The search goes back where it is stuck, at most
    ``TRIES`` times.
    """
    channels, many = len(ways), len(ways[0])
    chosen: list[int] = []
    first = [0]
    for _ in range(TRIES):
        channel = len(chosen)
        if channel == channels:
            return chosen
        left = {_card(ways[c][ring], size, channels) for c, ring in enumerate(chosen)}
        turn = next(
            (
                turn
                for turn in range(first[channel], many)
                if chosen.count((channel + turn) % many) < most
                and _card(ways[channel][(channel + turn) % many], size, channels) not in left
            ),
            many,
        )
        if turn < many:
            chosen.append((channel + turn) % many)
            first[channel] = turn + 1
            first.append(0)
        elif channel:
            first.pop()
            chosen.pop()
        else:
            return None
    return None


def _card(way: Ints, size: int, cards: int) -> int:
    """Return the card of the last chip of a way."""
    return int(way[-1]) * cards // size


def _through(ring: Ints, ranks: int) -> Ints:
    """Return the ring through all domains, every second one the other way round."""
    size = len(ring)
    domains = -(-ranks // size)
    order = np.empty((domains, size), dtype=np.int64)
    order[::2], order[1::2] = ring, ring[::-1]
    order += np.arange(domains)[:, None] * size
    return order.ravel()
