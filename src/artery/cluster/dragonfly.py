"""Dragonfly and dragonfly+: groups of routers, every group joined to every other.

In a dragonfly the routers of a group are joined all to all and each has cables to other groups
(Kim, Dally, Scott, Abts, ISCA 2008). In a dragonfly+ a group is a leaf-spine fabric whose spines
have the cables to other groups (Shpiner et al., HiPINEB 2017). A shortest way passes at most one
cable between groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np

from artery.core.arrays import Ints
from artery.core.link import Link
from artery.core.system import Tier

CHOOSING = ("group", "dragonfly")
"""Tiers with several ways across them: parallel cables, spines, cables between two groups."""


class RouterPortsError(ValueError):
    """A router would need more ports than it has."""


@dataclass(frozen=True, slots=True)
class Dragonfly:
    """Groups of ``nodes`` nodes with ``cards`` network cards each.

    ``routers`` of a group carry the cards, in order and alike many each; ``spines`` join them (0:
    they are joined all to all), by ``local`` cables to a pair. ``between`` cables join any two
    groups, dealt round robin to the spines (routers). ``radix`` are the ports of a router, each at
    the rate of a card. ``latency`` is one way through one router, ``hop`` that of one more with its
    cable in the group, ``long`` across to another group, in seconds.
    """

    card: Link
    cards: int
    nodes: int
    routers: int
    latency: float
    hop: float
    long: float
    spines: int = 0
    local: int = 1
    between: int = 1
    radix: int = 64
    routing: str = "hash"
    reduction: str | None = None

    @property
    def endpoints(self) -> int:
        """Cards on one router."""
        return ceil(self.nodes * self.cards / self.routers)

    @property
    def switches(self) -> int:
        """Routers of a group, spines included."""
        return self.routers + self.spines

    @property
    def inside(self) -> int:
        """Cables inside a group, those of the cards not counted."""
        pairs = self.routers * (self.spines or (self.routers - 1) / 2)
        return int(pairs) * self.local

    def groups(self, nodes: int) -> int:
        """Return the groups that ``nodes`` nodes need."""
        return ceil(nodes / self.nodes)


def check_ports(fabric: Dragonfly, nodes: int) -> None:
    """Raise :class:`RouterPortsError` if a router needs more ports than it has."""
    across = (fabric.groups(nodes) - 1) * fabric.between
    ends = ceil(across / (fabric.spines or fabric.routers))
    if fabric.spines:
        needs = {
            "leaf": fabric.endpoints + fabric.spines * fabric.local,
            "spine": fabric.routers * fabric.local + ends,
        }
    else:
        needs = {"router": fabric.endpoints + (fabric.routers - 1) * fabric.local + ends}
    for name, ports in needs.items():
        if ports > fabric.radix:
            raise RouterPortsError(f"a {name} that needs {ports} ports and has {fabric.radix}")


def dragonfly_tiers(fabric: Dragonfly, chips_per_node: int, chips: int) -> tuple[Tier, ...]:
    """Return router (if it takes all cards of its nodes), group and system as tiers.

    One chip's share of its node's cards is what it sends; in the group no more than its share of a
    router's cables there under uniform traffic (one in ``routers`` goes to each), beyond it no more
    than its share of the cables that leave the group, all of which it uses.
    """
    share = fabric.cards * fabric.card.bandwidth / chips_per_node
    burst = ceil(fabric.cards / chips_per_node) * fabric.card.bandwidth
    reach = fabric.spines or fabric.routers
    inside = share * min(1.0, fabric.local * reach / fabric.endpoints)
    nodes = ceil(chips / chips_per_node)
    rate = fabric.card.bandwidth
    across = (fabric.groups(nodes) - 1) * fabric.between * rate / (fabric.nodes * chips_per_node)
    way = fabric.hop if not fabric.spines else 2 * fabric.hop
    sizes = [
        ("group", fabric.nodes, inside, fabric.latency + way),
        ("dragonfly", nodes, min(inside, across), fabric.latency + 2 * fabric.hop + fabric.long),
    ]
    if fabric.endpoints % fabric.cards == 0:
        sizes.insert(0, ("router", fabric.endpoints // fabric.cards, share, fabric.latency))
    below = [0, *(size for _, size, _, _ in sizes)]
    return tuple(
        Tier(
            name=name,
            chips=chips if name == "dragonfly" else size * chips_per_node,
            kind="switch",
            link=fabric.card,
            bandwidth=bandwidth,
            burst=burst,
            pair=burst,
            latency=latency,
            reduction=fabric.reduction,
        )
        for inner, (name, size, bandwidth, latency) in zip(below, sizes, strict=False)
        if nodes > inner
    )


def dragonfly_edges(fabric: Dragonfly, nodes: int) -> tuple[Ints, Ints, Ints]:
    """Return the cables: lower end, upper end, and 0 card, 1 inside a group, 2 between groups.

    Vertices: the cards node by node, then group by group its routers and its spines.
    """
    first, groups = nodes * fabric.cards, fabric.groups(nodes)
    cards = np.arange(first, dtype=np.int64)
    start = first + np.arange(groups, dtype=np.int64)[:, None] * fabric.switches
    one, other = _inside(fabric)
    near, far, bundle = between(fabric, groups)
    parts = (
        (cards, first + router_of(fabric, cards)),
        ((start + one).ravel(), (start + other).ravel()),
        (
            first + gateway(fabric, near, far, bundle, groups),
            first + gateway(fabric, far, near, bundle, groups),
        ),
    )
    kinds = [np.full(len(lower), kind, dtype=np.int64) for kind, (lower, _) in enumerate(parts)]
    lower, upper = (np.concatenate(ends) for ends in zip(*parts, strict=True))
    return lower, upper, np.concatenate(kinds)


def router_of(fabric: Dragonfly, card: Ints) -> Ints:
    """Return the router of each card, counted over all groups with their spines."""
    per_group = fabric.nodes * fabric.cards
    group = card // per_group
    found: Ints = group * fabric.switches + (card - group * per_group) // fabric.endpoints
    return found


def _inside(fabric: Dragonfly) -> tuple[Ints, Ints]:
    """Return the two ends of every cable inside a group, counted from the group's first router."""
    if fabric.spines:
        leaf, spine = np.divmod(np.arange(fabric.routers * fabric.spines), fabric.spines)
        one, other = leaf, fabric.routers + spine
    else:
        one, other = np.triu_indices(fabric.routers, 1)
    return (
        np.repeat(one, fabric.local).astype(np.int64),
        np.repeat(other, fabric.local).astype(np.int64),
    )


def inside_cable(fabric: Dragonfly, one: Ints, other: Ints, strand: Ints) -> Ints:
    """Return the cable inside a group between two of its switches: number within the group.

    ``one`` is below ``other``; ``strand`` is the number among their parallel cables.
    """
    if fabric.spines:
        pair = one * fabric.spines + other - fabric.routers
    else:
        pair = one * (2 * fabric.routers - one - 1) // 2 + other - one - 1
    found: Ints = pair * fabric.local + strand
    return found


def between(fabric: Dragonfly, groups: int) -> tuple[Ints, Ints, Ints]:
    """Return near group, far group and number in its bundle of every cable between groups."""
    near, far = np.triu_indices(groups, 1)
    strand = np.tile(np.arange(fabric.between, dtype=np.int64), len(near))
    near, far = np.repeat(near, fabric.between), np.repeat(far, fabric.between)
    return near.astype(np.int64), far.astype(np.int64), strand


def between_cable(fabric: Dragonfly, near: Ints, far: Ints, strand: Ints, groups: int) -> Ints:
    """Return the number of a cable between two groups, ``near`` below ``far``."""
    pair = near * (2 * groups - near - 1) // 2 + far - near - 1
    found: Ints = pair * fabric.between + strand
    return found


def gateway(fabric: Dragonfly, group: Ints, peer: Ints, strand: Ints, groups: int) -> Ints:
    """Return the switch of ``group``, counted over all, with the cable to ``peer``.

    A group's cables are dealt to its spines (routers) in the order of the peers, counted from the
    group on, so that all groups look alike.
    """
    ahead = (peer - group - 1) % groups
    place = (ahead * fabric.between + strand) % (fabric.spines or fabric.routers)
    found: Ints = group * fabric.switches + place + (fabric.routers if fabric.spines else 0)
    return found
