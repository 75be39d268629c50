"""Which form an algorithm takes on a system: its rings, channels, nodes, dimensions."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from artery.cluster.network import Tree
from artery.cluster.rings import ring_orders
from artery.cluster.routing import Network, network
from artery.cluster.torus import Torus
from artery.collective.schedules import names, schedule, shapes
from artery.core.pricing import Collective
from artery.core.schedule import Schedule
from artery.core.system import System
from artery.simulator.channels import on_channels

Ints = NDArray[np.int64]

SLICE: Final = 1 << 20
"""Bytes of a slice that a tree passes on, at most ``MOST`` of them; assumed."""
MOST: Final = 32


def algorithms(collective: Collective) -> tuple[str, ...]:
    """Return the algorithms that can be played for ``collective``."""
    return tuple(name for name in names(collective) if name != "collnet")


def shaped(system: System, collective: Collective, name: str, size: int, chips: Ints) -> Schedule:
    """Return the schedule called ``name`` over ranks on ``chips``, as a library would lay it.

    Rings run as the wiring wants (:func:`artery.cluster.rings.ring_orders`) through the nodes in
    the order of their first rank; trees have one channel per network card; levels are the node
    and what is above. Raises ``InputError`` where the algorithm cannot be on so many ranks.
    """
    ranks = len(chips)
    wires = network(system)
    takes = shapes(name)
    shape: dict[str, object] = {}
    per_node = _per_node(system, ranks)
    if "orders" in takes and ranks > 1:
        shape["orders"] = _orders(system, chips)
    elif "per_node" in takes:
        shape["per_node"] = per_node
    channels = _cards(wires, per_node) if name == "tree" and collective == "all_reduce" else 1
    if "slices" in takes:
        share = size // (2 * channels)
        shape["slices"] = int(np.clip(share // SLICE, 1, MOST))
    if "levels" in takes and ranks % per_node == 0:
        shape["levels"] = (per_node, ranks // per_node)
    if "dims" in takes and isinstance(wires.plan, Torus) and ranks == system.chips:
        shape["dims"] = wires.plan.dims
    return on_channels(schedule(name, collective, ranks, **shape), channels, per_node)


def _per_node(system: System, ranks: int) -> int:
    """Return the ranks in one scale-up domain, if nodes are filled one after the other."""
    plan = network(system).plan
    if isinstance(plan, Torus):
        return 1
    within = plan.within if isinstance(plan, Tree) else plan
    return min(within.whole.domain.chips, ranks)


def _cards(wires: Network, per_node: int) -> int:
    """Return the network cards of one domain, at most one a chip; 1 without a network."""
    if not isinstance(wires.plan, Tree):
        return 1
    domain = wires.plan.within.whole.domain
    return max(1, min(wires.plan.fabric.cards * domain.nodes, per_node))


def _orders(system: System, chips: Ints) -> Ints:
    """Return the rings as rows of ranks.

    A library groups the ranks of a node, whatever their order, and takes nodes in the order of
    their first rank. Ranks on part of the nodes' chips go round in their own order.
    """
    ranks = len(chips)
    if (chips == np.arange(ranks)).all():
        return ring_orders(system, ranks)
    per_node = _per_node(system, system.chips)
    node, first = np.unique(chips // per_node, return_index=True)
    order = node[np.argsort(first)]
    if len(order) * per_node != ranks:
        return np.arange(ranks)[None, :]
    rank_of = np.zeros(system.chips, dtype=np.int64)
    rank_of[chips] = np.arange(ranks)
    rings = ring_orders(system, ranks)
    return np.asarray(rank_of[order[rings // per_node] * per_node + rings % per_node])
