"""What a cabling among the files adds to a case: which leaf every node is on, what it has lost.

Only a network of two tiers is taken apart here: leaves with hosts, and spines that join them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from artery.cluster.cabling import Network
from artery.cluster.cabling.uplinks import spines
from artery.diagnoser.case import Fact
from artery.errors import InputError
from artery.formats.cabling.cablings import read_cabling
from artery.formats.reading import Reading

CABLINGS: Final = frozenset({"ibnetdiscover", "iblinkinfo", "lldp", "cable-plan"})
"""Formats that name every cable."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A leaf by name: cables of hosts, cables to the spines, and those that were meant."""

    name: str
    down: int
    up: int
    meant: int

    @property
    def lost(self) -> int:
        """Cables to the spines that are not there."""
        return max(self.meant - self.up, 0)


@dataclass(frozen=True, slots=True)
class Fabric:
    """Leaves and spines as the file at ``source`` shows them.

    ``hosts`` gives the leaf of each host, by its place in ``leaves``; empty where the cards of
    hosts are spread over several leaves (``rails``). ``rate`` is that of most hosts' cards, B/s.
    """

    source: str
    leaves: tuple[Leaf, ...]
    hosts: Mapping[str, int]
    nodes: int
    cards: int
    rate: float | None
    rails: bool

    @property
    def worst(self) -> Leaf | None:
        """The leaf that lost the largest share of its uplinks, if any lost one."""
        lossy = [one for one in self.leaves if one.lost and one.meant]
        return min(lossy, key=lambda one: one.up / one.meant, default=None)

    def facts(self) -> Iterator[tuple[str, Fact]]:
        """Yield what rules and systems ask for."""
        yield "nics_per_node", float(self.cards)
        if self.rate is not None:
            yield "nic_rate", self.rate
        yield "nodes_per_leaf", float(self.nodes)
        yield "rails", self.rails
        whole = max(self.leaves, key=lambda one: one.meant)
        if whole.meant:
            yield "leaf_taper", whole.down / whole.meant
        if self.worst is not None and self.worst.up:
            yield "leaf_uplinks_left", self.worst.up / self.worst.meant
            yield (
                "worst_leaf",
                f"{self.worst.name} has {self.worst.up} of {self.worst.meant} uplinks",
            )


def fabric_of(readings: Sequence[tuple[str, Reading]]) -> Fabric | None:
    """Return the first two-tier network among the files; ``None`` if there is none."""
    for path, reading in readings:
        if reading.format not in CABLINGS or path == "-":
            continue
        try:
            found = _fabric(Network(read_cabling(path)), path)
        except InputError:
            continue  # read before, and refused there if it must be
        if found is not None:
            return found
    return None


def _fabric(network: Network, path: str) -> Fabric | None:
    if network.tiers != 2:
        return None
    names = sorted(network.switches(1), key=lambda one: _natural(network.name(one)))
    meant = sum(one.expected or 0 for one in spines(network)) // len(names)
    leaves = tuple(
        Leaf(network.name(one), len(network.cards_of(one)), network.above(one).total(), meant)
        for one in names
    )
    places: dict[str, set[int]] = {}
    cards: Counter[str] = Counter()
    rates: Counter[float] = Counter()
    for place, one in enumerate(names):
        for host, cable in network.hosts_of(one):
            places.setdefault(host, set()).add(place)
            cards[host] += 1
            if cable.rate is not None:
                rates[cable.rate] += 1
    if not places:
        return None
    rails = any(len(one) > 1 for one in places.values())
    under = Counter(place for one in places.values() for place in one)
    single = {network.name(host): min(one) for host, one in places.items()}
    return Fabric(
        path,
        leaves,
        {} if rails else single,
        max(under.values()),
        max(cards.values()),
        rates.most_common(1)[0][0] if rates else None,
        rails,
    )


def _natural(name: str) -> tuple[str, int]:
    """Return a key that sorts ``leaf10`` after ``leaf9``."""
    last = re.search(r"(\d{1,9})\D*$", name)
    return (name[: last.start()], int(last[1])) if last else (name, 0)
