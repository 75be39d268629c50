"""From the cables of a file to a network that can be routed: which hosts are nodes, in which order.

Hosts are numbered so that those under the same switches are neighbours, as a scheduler that knows
the network places a job. What the file does not say (a rate, how many cables a line of Slurm's tree
stands for) is filled in by :class:`Meant` and told in the notes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from artery.cluster.cabling import NO_TIER, Network
from artery.cluster.cabling.hosts import Card, Nodes, nodes_of
from artery.cluster.cabling.natural import natural
from artery.cluster.drawn import Drawn, Meeting
from artery.core.arrays import Floats, Ints
from artery.core.link import Link

_LEVELS = ("leaf", "spine", "core")


@dataclass(frozen=True, slots=True)
class Meant:
    """What a cabling does not tell.

    ``link`` returns the class of link of a rate in B/s (``None``: the node's own). ``cards`` are
    those of a node, ``taper`` the bandwidth below a switch over that above it, where a file says
    no ports. ``latency`` is one way through one switch, ``hop`` one more, in seconds.
    """

    link: Callable[[float | None], Link]
    cards: int
    taper: float
    latency: float
    hop: float
    routing: str = "hash"
    reduction: str | None = None


Trunk = tuple[str, str, float]
"""A cable between two switches, by identity, with its rate in B/s."""


@dataclass(frozen=True)
class AsBuilt:
    """The nodes of a cabling, in their order, and the network above any number of them."""

    network: Network
    meant: Meant

    @cached_property
    def nodes(self) -> Nodes:
        """The hosts that are nodes, with their cards."""
        return nodes_of(self.network, self.meant.cards, self._rate(hosts=True))

    @cached_property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that are nodes: those under the same switches are neighbours."""
        chosen = self.nodes.cards
        keys: dict[str, list[tuple[object, ...]]] = {one: [] for one in chosen}
        for level in reversed(self._parts):
            for part in level:
                first = min(natural(self.network.name(one)) for one in part)
                for one in part:
                    keys[one].append(first)
        return tuple(sorted(chosen, key=lambda one: (*keys[one], natural(self.network.name(one)))))

    @cached_property
    def _parts(self) -> list[list[list[str]]]:
        """By tier: the nodes that meet in it; a tier that joins no more than the last is out."""
        found: list[list[list[str]]] = []
        for tier in range(1, self.network.tiers + 1):
            joined = self.network.joined(tier)
            parts = [[one for one in part if one in self.nodes.cards] for part in joined]
            parts = [part for part in parts if part]
            if not found or len(parts) < len(found[-1]):
                found.append(parts)
        return found

    @cached_property
    def trunks(self) -> list[Trunk]:
        """The cables between switches that hosts reach."""
        net, usual = self.network, self._rate(hosts=False)
        reached = {one for one, tier in net.tier.items() if tier != NO_TIER}
        pairs = [
            (one.one.device, one.other.device, one.rate or usual)
            for one in net.cabling.cables
            if {one.one.device, one.other.device} <= reached and one.one.device != one.other.device
        ]
        if not self.nodes.plain:
            return pairs
        return [pair for one in pairs for pair in [one] * self._bundle(one)]

    def _bundle(self, trunk: Trunk) -> int:
        """Return how many cables one line of a logical tree stands for: all below, over taper."""
        net = self.network
        low = min(trunk[:2], key=lambda one: net.tier[one])
        below = self._below(low)
        return max(1, round(below * self.nodes.per_node / self.meant.taper))

    def _below(self, switch: str) -> int:
        """Return the nodes under a switch of a tree."""
        seen, queue = {switch}, [switch]
        hosts = 0
        while queue:
            here = queue.pop()
            for near in self.network.links[here]:
                if near in self.nodes.cards:
                    hosts += 1
                elif (
                    near not in seen
                    and self.network.tier.get(near, NO_TIER) < self.network.tier[here]
                ):
                    seen.add(near)
                    queue.append(near)
        return hosts

    def _rate(self, *, hosts: bool) -> float:
        """Return the usual rate of cables of hosts, or of those between switches."""
        net = self.network
        said = Counter(
            one.rate
            for one in net.cabling.cables
            if one.rate is not None
            and hosts == (net.is_host(one.one.device) or net.is_host(one.other.device))
        )
        if said:
            return said.most_common(1)[0][0]
        return self.meant.link(None).bandwidth if hosts else self._rate(hosts=True)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What was left out or taken for granted."""
        return (*self.nodes.notes, *self._assumed(), *self._slower())

    def _assumed(self) -> Iterable[str]:
        if self.nodes.plain and self.network.tiers > 1:
            yield (
                f"the file says no ports: taken as {self.nodes.per_node} cables a node and "
                f"{self.meant.taper:g}:1 below over above at every switch: --set fabric.taper=..."
            )
        cables = self.network.cabling.cables
        silent = sum(one.rate is None for one in cables)
        if silent:
            rate = self._rate(hosts=True) / 1e9 * 8
            like = "the node's cards" if silent == len(cables) else "most others"
            yield f"{silent} cables have no rate in the file: taken as {rate:g} Gb/s, as {like}"

    def _slower(self) -> Iterable[str]:
        rates = [rate for _, _, rate in self.trunks]
        cards = [one.rate for row in self.nodes.cards.values() for one in row if one is not None]
        for what, found in (("cables between switches", rates), ("cables of hosts", cards)):
            usual = max(found, default=0.0)
            slow = [rate for rate in found if rate < usual]
            if slow:
                yield (
                    f"{len(slow)} of {len(found)} {what} are slower than the fastest: played at "
                    f"their own rate, {min(slow) / 1e9 * 8:g} instead of {usual / 1e9 * 8:g} Gb/s"
                )

    def fabric(self, nodes: int) -> Drawn:
        """Return the network above the first ``nodes`` nodes, with all its switches."""
        hosts = self.hosts[:nodes]
        rows = [self.nodes.cards[one] for one in hosts]
        island = self._switches()
        place = {one: index for index, one in enumerate(island)}
        cards = self.nodes.per_node
        lower, upper, rate = _cables(rows, cards, place, self.trunks)
        of_card = lower < nodes * cards
        port = sorted(set(rate[of_card].tolist()), reverse=True)
        core = sorted(set(rate[~of_card].tolist()), reverse=True)
        kind = np.where(
            of_card,
            _index(port, rate),
            len(port) + _index(core, rate),
        )
        order = np.argsort(kind, kind="stable")
        meant = self.meant
        classes = [_class(meant, one, meant.latency / 2) for one in port]
        classes += [_class(meant, one, meant.hop) for one in core]
        return Drawn(
            card=meant.link(port[0]),
            cards=cards,
            nodes=nodes,
            switches=tuple(self.network.name(one) for one in island),
            lower=lower[order],
            upper=upper[order],
            kind=kind[order],
            classes=tuple(classes),
            ports=len(port),
            meetings=self._meetings(hosts, rows),
            latency=meant.latency,
            hop=meant.hop,
            rails=any(len({one.leaf for one in row if one is not None}) > 1 for row in rows),
            routing=meant.routing,
            reduction=meant.reduction,
        )

    def _switches(self) -> list[str]:
        """Return the switches of the nodes' island, from the leaves up, by name."""
        island = self.nodes.island
        here = [one for one, tier in self.network.tier.items() if tier != NO_TIER and one in island]
        return sorted(
            here, key=lambda one: (self.network.tier[one], natural(self.network.name(one)))
        )

    def _meetings(
        self, hosts: Sequence[str], rows: Sequence[Sequence[Card | None]]
    ) -> tuple[Meeting, ...]:
        """Return the tiers that the nodes meet in, up to the one that joins them all."""
        there = set(hosts)
        slowest = min(sum(one.rate for one in row if one is not None) for row in rows)
        found: list[Meeting] = []
        below: list[list[str]] = []
        last = 1.0
        for index, level in enumerate(self._parts):
            parts = [part for part in level if there & set(part)]
            if below:
                slowest = min(slowest, *(self._leaving(part) / len(part) for part in below))
                final = next(part for part in below if hosts[-1] in part)
                last = min(1.0, len(final) / found[-1].nodes)
            sizes = Counter(len(part) for part in parts)
            usual = max(sizes, key=lambda size: (sizes[size], size))
            name = _LEVELS[index] if index < len(_LEVELS) else f"tier{index + 1}"
            found.append(Meeting(name, usual, slowest, last))
            if len(parts) == 1:
                break
            below = parts
        return tuple(found)

    def _leaving(self, part: list[str]) -> float:
        """Return the B/s of the cables that leave the switches around some nodes, upwards."""
        return self._above.get(frozenset(part), 0.0)

    @cached_property
    def _above(self) -> Mapping[frozenset[str], float]:
        """B/s that leave each part of each tier, by its nodes."""
        found: dict[frozenset[str], float] = {}
        for tier in range(1, self.network.tiers + 1):
            owner: dict[str, int] = {}
            joined = self.network.joined(tier)
            for index, part in enumerate(joined):
                owner |= dict.fromkeys(part, index)
            out = [0.0] * (len(joined) + 1)
            for one, other, rate in self.trunks:
                ends = owner.get(one, -1), owner.get(other, -1)
                if ends[0] != ends[1]:
                    for end in ends:
                        out[end] += rate
            for index, part in enumerate(joined):
                nodes = frozenset(one for one in part if one in self.nodes.cards)
                if nodes:
                    found.setdefault(nodes, out[index])
        return found


def _class(meant: Meant, rate: float, latency: float) -> Link:
    return replace(meant.link(rate), latency=latency)


def _index(rates: list[float], rate: Floats) -> Ints:
    """Return the place of every rate in the list, fastest first; 0 where it is not there."""
    place = np.searchsorted(-np.array(rates or [0.0]), -rate)
    return np.minimum(place, max(len(rates) - 1, 0))


def _cables(
    rows: Sequence[Sequence[Card | None]],
    cards: int,
    place: Mapping[str, int],
    trunks: Iterable[Trunk],
) -> tuple[Ints, Ints, Floats]:
    """Return lower end, upper end and rate of every cable; switches follow the cards."""
    first = len(rows) * cards
    found: list[tuple[int, int, float]] = [
        (node * cards + number, first + place[card.leaf], card.rate)
        for node, row in enumerate(rows)
        for number, card in enumerate(row)
        if card is not None
    ]
    for one, other, rate in trunks:
        if one in place and other in place:
            low, high = sorted((place[one], place[other]))
            found.append((first + low, first + high, rate))
    lower, upper, rates = zip(*found, strict=True)
    return (
        np.array(lower, dtype=np.int64),
        np.array(upper, dtype=np.int64),
        np.array(rates, dtype=np.float64),
    )
