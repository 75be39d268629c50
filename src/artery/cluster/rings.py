"""The rings that a communication library builds over a packed group on the real wiring.

Inside one domain: on point-to-point links every cycle that has links of its own, both ways round
(DGX-1: six rings), else one ring in rank order. Over several nodes: one ring per network card that
a node's members own. Ring ``c`` enters the first node at its ``c``-th member and leaves it at the
one before; the next node is passed the other way round, so that every change of node stays on one
rail (NCCL alternates rings for the same reason, ``src/graph/connect.cc``).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from artery.cluster.wiring import Assembly
from artery.core.system import System
from artery.node.rings import domain_rings

Ints = NDArray[np.int64]


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
    rings = [_through(ring, ranks) for ring in _entered(inside, min(cards, domain.chips))]
    return np.stack(rings)


def _entered(inside: Ints, channels: int) -> list[Ints]:
    """Return one way through a full domain per channel, entered at chips spread over its cards."""
    size = inside.shape[1]
    entries = np.arange(channels) * size // channels
    found = []
    for channel, entry in enumerate(entries.tolist()):
        ring = inside[channel % len(inside)]
        found.append(np.roll(ring, -int(np.flatnonzero(ring == entry)[0])))
    return found


def _through(ring: Ints, ranks: int) -> Ints:
    """Return the ring through all domains, every second one the other way round."""
    size = len(ring)
    rank = np.arange(-(-ranks // size) * size, dtype=np.int64)
    domain, place = rank // size, rank % size
    order = domain * size + ring[np.where(domain % 2 == 0, place, size - 1 - place)]
    return order[order < ranks]
