"""Which form an algorithm takes on a system: its rings, channels, nodes, dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import lcm
from typing import Final

import numpy as np

from artery.cluster.inside import Inside
from artery.cluster.network import Tree, network, plan_of
from artery.cluster.rings import ring_orders
from artery.cluster.torus import Torus
from artery.cluster.wiring import Assembly
from artery.collective.in_switch import LEAST
from artery.collective.schedules import names, schedule, shapes
from artery.core.arrays import Ints
from artery.core.pricing import Collective
from artery.core.schedule import Schedule
from artery.core.system import System
from artery.errors import InputError, Problem
from artery.node.rings import rings_among, through_all
from artery.simulator.network.switches import by_node, over_fabric
from artery.simulator.placed import Placed

SLICE: Final = 1 << 20
"""Bytes of a slice that a tree passes on, at most ``MOST`` of them; assumed."""
MOST: Final = 32


def algorithms(collective: Collective | None = None) -> tuple[str, ...]:
    """Return the algorithms that can be played, all or those that do ``collective``."""
    return tuple(
        name
        for name in names(collective)
        if name != "collnet" or collective in (None, "all_reduce")
    )


def shaped(
    system: System, collective: Collective, name: str, size: int, chips: Ints
) -> tuple[Placed, ...]:
    """Return the algorithm called ``name`` over ranks on ``chips``, as a library would lay it.

    Rings run as the wiring wants (:func:`artery.cluster.rings.ring_orders`) through the nodes in
    the order of their first rank, each a channel; trees have a channel per network card, their
    ranks turned inside each node; levels are the node and what is above. Raises ``InputError``
    where the algorithm cannot be on so many ranks.
    """
    ranks = len(chips)
    if ranks > 1 and name == "ring":
        rings = _orders(system, chips)
        each = [partial(_ring, collective, row) for row in rings]
        return _channels(each, [chips] * len(rings), size)
    if ranks > 1 and name == "collnet":
        slices = int(np.clip(size // SLICE, 1, MOST))
        return (over_fabric(system, network(system), size, chips, slices),)
    per_node = _per_node(system, ranks)
    if name in ("nvls", "nvls_tree"):
        _added(system, name, chips, per_node)
    if ranks > 1 and {"per_node", "levels"} & {*shapes(name)}:
        chips = _fullest_first(by_node(chips, per_node), per_node)
    orders = np.arange(ranks)[None, :]
    if name == "tree" and collective == "all_reduce":
        orders = _chained(system, ranks, per_node)
    if name == "hierarchical" and ranks > 1:
        orders = _levelled(system, ranks, per_node)
    shape = _shape(system, name, ranks, size // len(orders))
    one = schedule(name, collective, ranks, **shape)
    turned = [chips[order] for order in orders]
    return _channels([lambda: one] * len(turned), turned, size)


def _added(system: System, name: str, chips: Ints, per_node: int) -> None:
    """Refuse switches that add where there are none, or for too few of a node's ranks."""
    members = np.unique(chips // per_node, return_counts=True)[1]
    able = bool(system.tiers) and system.tiers[0].reduction == "nvls"
    filled = (np.sort(members)[1:] == per_node).all()  # one node at most has some of its chips
    if name == "nvls":
        able = able and len(members) == 1 and members[0] == per_node
    elif len(members) > 1:
        able = able and filled and members.min() >= LEAST
    if able:
        return
    raise InputError(
        Problem(
            field="algorithm",
            found=name,
            rule="its switches add inside nodes of NVSwitches from the third generation on"
            + (
                ", and nvls stays in one node, on all its chips"
                if name == "nvls"
                else f", of which one may be part-filled, with {LEAST} ranks or more"
            ),
            fix="--algorithm auto",
        )
    )


def _fullest_first(chips: Ints, per_node: int) -> Ints:
    """Return chips that stand node by node with those of part-filled nodes last."""
    members = np.bincount(chips // per_node)[chips // per_node]
    return chips[np.argsort(members < per_node, kind="stable")]


def _channels(
    schedules: Sequence[Callable[[], Schedule]], chips: list[Ints], size: int
) -> tuple[Placed, ...]:
    """Return the channels, each with an equal share of the bytes."""
    many = len(schedules)
    share = [size * (c + 1) // many - size * c // many for c in range(many)]
    return tuple(
        Placed(make(), part, where)
        for make, part, where in zip(schedules, share, chips, strict=True)
    )


def _ring(collective: Collective, order: Ints) -> Schedule:
    """Return the schedule of one ring through the ranks in ``order``.

    In a chain from a root the ring only says the order; the root is rank 0.
    """
    return schedule("ring", collective, len(order), orders=order[None, :])


def _shape(system: System, name: str, ranks: int, size: int) -> dict[str, object]:
    """Return what the builder of ``name`` is told of the system."""
    takes, shape = shapes(name), dict[str, object]()
    per_node = _per_node(system, ranks)
    if "per_node" in takes:
        shape["per_node"] = per_node
    if "slices" in takes:
        shape["slices"] = int(np.clip(size // SLICE, 1, MOST))
    if "levels" in takes:
        _even(name, ranks, per_node)
        shape["levels"] = (per_node, ranks // per_node)
    plan = plan_of(system)
    if "dims" in takes and isinstance(plan, Torus) and ranks == system.chips:
        shape["dims"] = plan.dims
        shape["closed"] = plan.wrapped
    return shape


def _even(name: str, ranks: int, per_node: int) -> None:
    """Refuse levels where a node is part-filled: its chips would have no counterpart elsewhere."""
    if ranks % per_node:
        raise InputError(
            Problem(
                field="algorithm",
                found=name,
                rule=f"every node has as many ranks, {per_node}, and {ranks} leave one part-filled",
                fix=f"--algorithm ring, or a multiple of {per_node} ranks",
            )
        )


def _chained(system: System, ranks: int, per_node: int) -> Ints:
    """Return the orders in which trees chain ranks, a row for each channel.

    Channels enter nodes at chips that are spread over their cards, on rails where every node has
    one of the ranks (a library takes as many channels on all), and go on along the rings of direct
    links, where there are any, else in rank order; as many channels on each ring and card.
    Where a link joins every two chips they go along ways that use each alike.
    """
    cards = _cards(plan_of(system), per_node)
    rings = _inside(system, np.arange(per_node))
    some = ranks % per_node
    if len(rings) < 2:
        heads = np.arange(cards) * per_node // cards
        heads = heads[heads < (some or per_node)]
        return np.stack([_turned(ranks, per_node, int(head)) for head in heads])
    ways = _ways(rings, cards)
    node = np.arange(ranks // per_node)[:, None] * per_node
    if not some:
        return np.stack([(node + way).ravel() for way in ways])
    ends = _ways(_inside(system, np.arange(some)), some)
    both = [(way, end) for way in ways for end in ends if way[0] == end[0]]
    return np.stack([np.append((node + way).ravel(), ranks - some + end) for way, end in both])


def _ways(rings: Ints, cards: int) -> Ints:
    """Return ways through the chips of a node, headed by chips that are spread over its cards."""
    ways = np.array(through_all(tuple(map(tuple, rings.tolist()))), dtype=np.int64)
    if len(ways):
        return ways
    channels, size = lcm(cards, len(rings)), rings.shape[1]
    heads = [channel * size // channels for channel in range(channels)]
    return np.stack([_headed(rings[c % len(rings)], head) for c, head in enumerate(heads)])


def _levelled(system: System, ranks: int, per_node: int) -> Ints:
    """Return the orders in which levels take ranks: along every ring of a node's direct links."""
    rings = _inside(system, np.arange(per_node))
    if ranks % per_node or len(rings) < 2:
        return np.arange(ranks)[None, :]
    node = np.arange(ranks // per_node)[:, None] * per_node
    return np.stack([(node + ring).ravel() for ring in rings])


def _headed(ring: Ints, head: int) -> Ints:
    """Return the ring from ``head`` on."""
    return np.roll(ring, -int(np.flatnonzero(ring == head)[0]))


def _turned(ranks: int, per_node: int, by: int) -> Ints:
    """Return the ranks, each node's turned by some places; a part-filled node by as many."""
    rank = np.arange(ranks)
    node, place = np.divmod(rank, per_node)
    members = np.minimum(per_node, ranks - node * per_node)
    return np.asarray(node * per_node + (place + by) % members)


def _per_node(system: System, ranks: int) -> int:
    """Return the ranks in one scale-up domain, if nodes are filled one after the other."""
    plan = plan_of(system)
    if isinstance(plan, Torus):
        return 1
    within = plan.within if isinstance(plan, Tree) else plan
    return min(within.whole.domain.chips, ranks)


def _cards(plan: Torus | Inside | Tree, per_node: int) -> int:
    """Return the network cards of one domain, at most one a chip; 1 without a network."""
    if not isinstance(plan, Tree):
        return 1
    domain = plan.within.whole.domain
    return max(1, min(plan.fabric.cards * domain.nodes, per_node))


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
    if len(order) == 1 < per_node:
        return _inside(system, chips - order[0] * per_node)
    if len(order) * per_node != ranks:
        return np.arange(ranks)[None, :]
    rank_of = np.zeros(system.chips, dtype=np.int64)
    rank_of[chips] = np.arange(ranks)
    rings = ring_orders(system, ranks)
    return np.asarray(rank_of[order[rings // per_node] * per_node + rings % per_node])


def _inside(system: System, places: Ints) -> Ints:
    """Return the rings over ranks on some places of one domain, as rows of ranks."""
    structure = system.router.structure
    found: tuple[tuple[int, ...], ...] = ()
    if isinstance(structure, Assembly):
        found = rings_among(structure.domain, tuple(places.tolist()))
    return np.array(found or (tuple(range(len(places))),), dtype=np.int64)
