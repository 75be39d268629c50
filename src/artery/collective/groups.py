"""The groups of a demand on a system: who sits where, and how fast the links between are.

Everything is an array over unique (ranks, stride) pairs; a demand of 100,000 operations has a
few dozen of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from artery.cluster.wiring import Assembly
from artery.collective.grid import around, extents, is_torus, side_rates
from artery.collective.library import Library
from artery.collective.partners import Node
from artery.collective.placement import Placement, Spread
from artery.core.arrays import Flags, Floats, Ints
from artery.core.system import System, Tier
from artery.node.pcie_tree import STAGED

Way = Literal["ring", "exchange", "own_exchange", "onward", "own_onward"]
"""How the members of a group send: round rings, each to all others alike, or each to the next one;
``own``: held back by cables of the tier's own class alone."""

_KNOWN: dict[Way, tuple[Way, ...]] = {
    "ring": ("ring",),
    "exchange": ("exchange", "ring"),
    "own_exchange": ("own_exchange", "exchange", "ring"),
    "onward": ("onward",),
    "own_onward": ("own_onward", "onward"),
}
"""Which of a tier's rates by size of the group count for a way: the first that it has."""

_PASSING: frozenset[Way] = frozenset({"ring", "onward", "own_onward"})
"""Ways on which all data pass every member."""

_NETWORKS = frozenset(
    {"infiniband", "ethernet", "roce", "efa", "slingshot", "omni-path", "tcp", "network"}
)


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups of chips and the links that they use.

    ``ranks`` members on ``nodes`` nodes (scale-up domains), ``fullest`` in the fullest of them
    and ``fewest`` in the emptiest. ``inner`` is the index of the tier that joins the members of
    a node, ``inner_rate`` what one of them sends over it round a ring (B/s, what the link reaches),
    ``inner_exchange`` what it sends to all others alike, ``pair_rate`` what it sends to one other
    (endless where ``inner_exchange`` knows every pair's way), ``inner_onward`` what each of them
    sends to the next one; ``own_exchange`` and ``own_onward`` leave out what cables of other
    classes than the tier's own would hold back.
    ``outer`` is the index of the tier between nodes that limits the group (-1 inside one node),
    ``node_rate`` what the group sends out of a node, or of the larger domain that limits it more,
    round a ring, ``apart_rate`` the same to nodes far apart, ``outer_pair`` what one chip sends out
    at most, ``exchange`` the seconds that all-to-all spends between nodes per byte of size,
    ``outer_latency`` one way across the outermost tier. ``in_switch`` and ``sharp`` say that the
    switches inside the node, and all switches between nodes, reduce. ``slots`` members of a node
    send to others and to its cards over one slot (0: over links of their own). ``torus`` flags
    groups on a torus, along whose dimensions they extend by ``dims`` (one row each, 1 where a group
    does not extend), where a chip sends ``sides`` B/s along each, and which data go ``around`` in
    so many steps: half of a side that is closed, all of an open one. ``packed`` flags groups that
    fill one ``node`` after the other, from its first chip.
    """

    ranks: Floats
    nodes: Floats
    fullest: Floats
    fewest: Floats
    inner: Ints
    inner_rate: Floats
    inner_exchange: Floats
    pair_rate: Floats
    inner_onward: Floats
    own_exchange: Floats
    own_onward: Floats
    outer: Ints
    node_rate: Floats
    apart_rate: Floats
    outer_pair: Floats
    exchange: Floats
    outer_latency: Floats
    in_switch: Flags
    sharp: Flags
    slots: Floats
    torus: Flags
    dims: Floats
    sides: Floats
    around: Floats
    packed: Flags
    node: Node


@dataclass(frozen=True, slots=True)
class _Asked:
    """The groups as they were asked for; ``concurrent``: all of them run at once."""

    ranks: Ints
    stride: Ints
    concurrent: bool


def is_network(tier: Tier, system: System) -> bool:
    """Whether ``tier`` lies between nodes: its links are a network's, or it outgrows a node."""
    if tier.link.kind in _NETWORKS:
        return True
    scale_up = tier.link.kind.startswith(("nvlink", "xgmi", "ici", "infinity", "ualink"))
    return tier.chips > system.chips_per_node and not scale_up


def inner_tiers(system: System) -> int:
    """Return how many of the system's tiers, innermost first, lie within a scale-up domain."""
    inside = [not is_network(tier, system) for tier in system.tiers]
    return inside.index(False) if False in inside else len(inside)


def place(
    system: System, placement: Placement, ranks: Ints, stride: Ints, *, concurrent: bool
) -> list[Spread]:
    """Return the spread over the node and then over the domain of every network tier."""
    count = inner_tiers(system)
    node = system.tiers[count - 1].chips if count else 1
    sizes = [node, *(tier.chips for tier in system.tiers[count:])]
    shares = [*(tier.last for tier in system.tiers[count:]), 1.0]
    return [
        placement(ranks, stride, size, concurrent, last)
        for size, last in zip(sizes, shares, strict=True)
    ]


def gather(
    system: System,
    library: Library,
    placement: Placement,
    ranks: Ints,
    stride: Ints,
    *,
    concurrent: bool,
) -> Groups:
    """Return the groups of ``ranks`` chips ``stride`` apart, as arrays of that shape."""
    spreads = place(system, placement, ranks, stride, concurrent=concurrent)
    node = spreads[0]
    inner = _inner_tier(system, node, stride)
    tiers = inner_tiers(system)
    dims = extents(system, ranks, stride)
    sides, drawn = side_rates(system, dims), _node(system)
    asked = _Asked(ranks, stride, concurrent)
    capacity = _capacities(system, library, spreads, asked, "exchange")
    along = _capacities(system, library, spreads, asked, "ring")
    network = system.tiers[tiers:]
    outside = node.domains > 1
    tightest = along.argmin(axis=0) if len(along) else np.zeros(len(ranks), np.int64)
    return Groups(
        ranks=ranks.astype(np.float64),
        nodes=node.domains,
        fullest=node.fullest,
        fewest=node.fewest,
        inner=inner,
        inner_rate=np.where(
            (stride > 1) & (dims.prod(axis=0) == ranks) & (ranks > 1) & is_torus(system),
            sides.sum(axis=0),
            _inner_rate(system, inner, node, asked, "ring"),
        ),
        inner_exchange=_inner_rate(system, inner, node, asked, "exchange"),
        pair_rate=_by_tier(
            system, inner, [np.inf if t.exchange else _pair(t) for t in system.tiers]
        ),
        inner_onward=_onward(system, inner, node, asked, "onward"),
        own_exchange=_inner_rate(system, inner, node, asked, "own_exchange"),
        own_onward=_onward(system, inner, node, asked, "own_onward"),
        outer=np.where(outside, tightest + tiers, -1),
        node_rate=np.where(outside, along.min(axis=0, initial=np.inf), np.inf),
        apart_rate=np.where(outside, capacity.min(axis=0, initial=np.inf), np.inf),
        outer_pair=_outer(spreads, [t.pair * t.link.efficiency for t in network]),
        exchange=_exchange(system, library, spreads, asked),
        outer_latency=_outer(spreads, [t.latency for t in network]),
        in_switch=_by_tier(system, inner, [t.reduction == "nvls" for t in system.tiers]) > 0,
        sharp=_sharp(spreads, network),
        slots=_slots(system, inner, node),
        torus=_by_tier(system, inner, [t.kind == "torus" for t in system.tiers]) > 0,
        dims=dims,
        sides=sides,
        around=around(system, dims),
        packed=_packed(node, ranks, stride, drawn.chips),
        node=drawn,
    )


def _node(system: System) -> Node:
    """Return a node as partners in it see it."""
    inside = inner_tiers(system)
    structure = system.router.structure
    if not inside or not isinstance(structure, Assembly):
        return Node(system.tiers[inside - 1].chips if inside else 1)
    tier = system.tiers[inside - 1]
    drawn = tier.kind not in {"switch", "crossbar"} and tier.link.kind != STAGED
    return Node(tier.chips, structure.domain if drawn else None, tier.link.name)


def _packed(node: Spread, ranks: Ints, stride: Ints, chips: int) -> Flags:
    """Whether groups of neighbours fill nodes of some ``chips`` one after the other."""
    full = node.fullest == np.minimum(ranks, chips)
    return np.asarray((stride == 1) & full & (node.domains == np.ceil(ranks / chips)))


def _by_tier(system: System, index: Ints, values: list[float] | list[bool]) -> Floats:
    """Return ``values`` of the tiers picked by ``index``; zero in a system without tiers."""
    if not system.tiers:
        return np.zeros(len(index))
    return np.asarray(values, dtype=np.float64)[index]


def _inner_tier(system: System, node: Spread, stride: Ints) -> Ints:
    """Return the innermost tier that holds a group's members of one node."""
    extent = (node.fullest - 1) * stride + 1
    index = np.zeros(len(stride), dtype=np.int64)
    for tier in system.tiers[: max(inner_tiers(system) - 1, 0)]:
        # A group whose extent does not divide the domain may straddle two of them.
        straddles = (extent > tier.chips) | (tier.chips % np.maximum(extent, 1) > 0)
        index += straddles & (extent > 1)
    return index


def _inner_rate(system: System, inner: Ints, node: Spread, asked: _Asked, way: Way) -> Floats:
    """Return what one chip sends in its node, one way or the other, in B/s.

    What goes round, or from one to the next, passes the emptiest node as well, which has the
    fewest links; of an exchange it has the least.
    """
    rate = np.full(len(inner), np.inf)
    for index, tier in enumerate(system.tiers[: inner_tiers(system)]):
        here = inner == index
        free = np.full(len(inner), tier.bandwidth if asked.concurrent else tier.burst)
        if _known(tier, way):
            members = np.ceil(node.fullest).astype(np.int64)
            free = _on_wiring(tier, way, members, asked)
            if way in _PASSING:
                fewest = np.ceil(node.fewest).astype(np.int64)
                least = np.minimum(free, _on_wiring(tier, way, fewest, asked))
                free = np.where(fewest > 1, least, free)
        rate = np.where(here & (node.fullest > 1), free * tier.link.efficiency, rate)
    return rate


def _pair(tier: Tier) -> float:
    """Return the B/s that one chip sends to one other over a tier."""
    return tier.pair * tier.link.efficiency


def _onward(system: System, inner: Ints, node: Spread, asked: _Asked, way: Way) -> Floats:
    """Return what each member of a node sends to the next one while all do, in B/s.

    Where a tier does not know its neighbours' ways, the lesser of a pair's rate and a ring's.
    """
    ring = _inner_rate(system, inner, node, asked, "ring")
    rate = np.minimum(_by_tier(system, inner, [_pair(tier) for tier in system.tiers]), ring)
    known = _by_tier(system, inner, [bool(tier.onward) for tier in system.tiers]) > 0
    drawn = _inner_rate(system, inner, node, asked, way)
    return np.asarray(np.where(known & (asked.stride == 1), drawn, rate))


def _known(tier: Tier, way: Way) -> tuple[float, ...]:
    """Return a tier's rates by size of the group, empty where it has none."""
    tables: list[tuple[float, ...]] = [getattr(tier, name) for name in _KNOWN[way]]
    return next(filter(None, tables), ())


def _on_wiring(tier: Tier, way: Way, members: Ints, asked: _Asked) -> Floats:
    """Return what each of the members sends on a tier that knows its wiring, in B/s."""
    known = np.asarray(_known(tier, way))
    rates = known[np.clip(members, 0, len(known) - 1)]
    if not asked.concurrent:
        return rates
    # Rates are known for neighbours; others share the tier with groups of their own.
    whole = known[-1] if way != "ring" and tier.exchange else tier.bandwidth
    return np.where(asked.stride == 1, rates, np.minimum(rates, whole))


def _capacities(
    system: System, library: Library, spreads: list[Spread], asked: _Asked, way: Way
) -> Floats:
    """Return what a group sends out of a domain round a ring, one row per network tier.

    Out of a node its members send over their own share of the cards. The links upwards of a larger
    domain are shared evenly by all groups that leave it at once, be they few because they fill but
    a part of it; the members that a group has there send no more than their cards take. A drawn
    network, whose chips are its nodes, knows what rings and exchanges over it reach. Tiers that a
    group does not cross count as infinite.
    """
    rows = []
    for above, lower, tier in _crossings(system, spreads):
        whole = _whole(system, library, above, asked, way)
        own = lower.fewest * tier.burst * tier.link.efficiency
        if above:
            rate = np.minimum(whole / np.maximum(lower.crossing, 1.0), own)
        else:
            rate = _out_of_node(system, library, whole, lower.fewest, asked)
        rows.append(np.where(lower.domains > 1, rate, np.inf))
    return np.array(rows).reshape(len(rows), len(spreads[0].domains))


def _crossings(system: System, spreads: list[Spread]) -> Iterator[tuple[int, Spread, Tier]]:
    """Yield the network tiers, innermost first, with their number and the spread below each."""
    network = system.tiers[inner_tiers(system) :]
    yield from zip(range(len(network)), spreads, network, strict=False)


def _whole(system: System, library: Library, above: int, asked: _Asked, way: Way) -> Floats:
    """Return the B/s of all links of a full domain into the network tier number ``above``."""
    first = inner_tiers(system)
    place = first + above
    tier = system.tiers[place]
    below = system.tiers[place - 1].chips if place else 1
    free = np.full(len(asked.ranks), tier.bandwidth)
    if tier.exchange:
        free = _on_wiring(tier, way, asked.ranks, asked)
    whole = below * free * tier.link.efficiency
    cap = library.network(tier.link).cap
    if cap is not None:
        whole = np.minimum(whole, cap * below / max(system.chips_per_node, 1))
    return whole


def _out_of_node(
    system: System, library: Library, whole: Floats, members: Floats, asked: _Asked
) -> Floats:
    """Return what ``members`` of a group send out of a node (a scale-up domain), in B/s.

    While all groups run, over their share of its cards; alone over all cards of theirs, of which
    neighbours may share one, up to what the node has.
    """
    first = inner_tiers(system)
    tier = system.tiers[first]
    below = system.tiers[first - 1].chips if first else 1
    share = members / below if asked.concurrent else np.ones_like(members)
    cards = _cards(system)
    reached = np.ceil(((members - 1) * asked.stride + 1) * cards / below - 1e-9)
    alone = np.minimum(members, reached) * tier.burst * tier.link.efficiency
    shared = np.where(members > 1, library.network(tier.link).shared, 1.0)
    return np.asarray(np.minimum(whole * share, alone) * shared)


def _cards(system: System) -> float:
    """Return as many cards' worth of links as a node has, each of which its chips share evenly."""
    first = inner_tiers(system)
    below = system.tiers[first - 1].chips if first else 1
    tier = system.tiers[first]
    return max(below * min(tier.bandwidth / tier.burst, 1.0), 1.0)


def _slots(system: System, inner: Ints, node: Spread) -> Floats:
    """Return how many members send to their node and to its cards over one slot, in turn.

    That is so on PCIe, where cards hang on its switches: one member for each card, none elsewhere.
    """
    kinds = [t.kind == "pcie-tree" and t.link.kind != STAGED for t in system.tiers]
    shared = (_by_tier(system, inner, kinds) > 0) & (node.domains > 1) & (node.fullest > 1)
    if not shared.any():
        return np.zeros(len(inner))
    return np.asarray(np.where(shared, np.minimum(node.fewest, _cards(system)), 0.0))


def _exchange(system: System, library: Library, spreads: list[Spread], asked: _Asked) -> Floats:
    """Return seconds per byte that all-to-all spends between nodes, the most over the tiers.

    The m members in a node send m·(n-m)/n of their size out of it over their cards. Out of a larger
    domain all groups together send what leaves it over all of its links upwards.
    """
    n = asked.ranks
    worst = np.zeros(len(n))
    for above, lower, tier in _crossings(system, spreads):
        whole = _whole(system, library, above, asked, "exchange")
        if above:
            own = (n - lower.fewest) / n / (tier.burst * tier.link.efficiency)
            spent = np.maximum(lower.leaving / whole, own)
        else:
            spent = np.zeros(len(n))
            for members in (lower.fewest, lower.fullest):
                rate = _out_of_node(system, library, whole, members, asked)
                spent = np.maximum(spent, members * (n - members) / n / rate)
        worst = np.maximum(worst, np.where(lower.domains > 1, spent, 0.0))
    return worst


def _outer(spreads: list[Spread], values: list[float]) -> Floats:
    """Return the value of the outermost network tier that a group crosses; zero if none."""
    picked = np.zeros(len(spreads[0].domains))
    for lower, value in zip(spreads, values, strict=False):
        picked = np.where(lower.domains > 1, value, picked)
    return picked


def _sharp(spreads: list[Spread], network: tuple[Tier, ...]) -> Flags:
    """Whether every network tier that a group crosses reduces in its switches."""
    able = np.asarray(spreads[0].domains > 1)
    for lower, tier in zip(spreads, network, strict=False):
        able = able & ((lower.domains == 1) | (tier.reduction == "sharp"))
    return able
