"""The whole system as vertices and edges: domains copied side by side, the fabric on top.

Vertices are numbered chips first, then the other vertices of the domains (group by group, domain
by domain), then network cards node by node, then the switches of the fabric.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from artery.cluster.fabric import Fabric, cable_links, cables, switches
from artery.core.arrays import Flags, Ints
from artery.core.link import Link
from artery.core.system import Edges, VertexGroup
from artery.node.scale_up import ScaleUp


@dataclass(frozen=True, slots=True)
class Assembly:
    """``chips`` chips in copies of ``domain``, joined by ``fabric`` if there is more than one node.

    A last domain that is not full keeps its switches and hosts, a last node its cards; only the
    missing chips are left out with their cables.
    """

    chips: int
    domain: ScaleUp
    fabric: Fabric | None

    @property
    def domains(self) -> int:
        """Domains, the last perhaps part-filled."""
        return ceil(self.chips / self.domain.chips)

    @property
    def nodes(self) -> int:
        """Nodes, the last perhaps part-filled."""
        return ceil(self.chips / (self.domain.chips // self.domain.nodes))

    @property
    def links(self) -> tuple[Link, ...]:
        """The classes of link that the edges point to: the domain's, a card's slot, the fabric's.

        The latency of a slot is part of that of the port.
        """
        if self.fabric is None:
            return self.domain.links
        slot = replace(self.fabric.card, latency=0.0)
        return (*self.domain.links, slot, *cable_links(self.fabric))

    @property
    def groups(self) -> tuple[VertexGroup, ...]:
        """All vertices by kind, in the order of their numbers."""
        found = [VertexGroup("chip", "chip", self.chips)]
        found += [
            VertexGroup(group.kind, group.name, self.domains * group.count)
            for group in self.domain.groups
        ]
        if self.fabric is not None:
            found.append(VertexGroup("nic", self.fabric.card.name, self.nodes * self.fabric.cards))
            found += switches(self.fabric, self.nodes)
        return tuple(found)

    def edges(self) -> Edges:
        """Return the edge arrays, two entries per cable."""
        parts = [self.domain_cables()]
        if self.fabric is not None:
            parts += [self.seat_cables(self.fabric), self.fabric_cables(self.fabric)]
        one = np.concatenate([part[0] for part in parts])
        other = np.concatenate([part[1] for part in parts])
        link = np.concatenate([part[2] for part in parts])
        return Edges(
            source=np.concatenate([one, other]),
            target=np.concatenate([other, one]),
            link=np.concatenate([link, link]),
        )

    def domain_cables(self) -> tuple[Ints, Ints, Ints]:
        """Return the cables inside all domains, without those of missing chips."""
        cables = np.array(self.domain.cables, dtype=np.int64).reshape(-1, 3)
        copies = np.arange(self.domains, dtype=np.int64)[:, None]
        one = self._place(cables[None, :, 0], copies).ravel()
        other = self._place(cables[None, :, 1], copies).ravel()
        link = np.tile(cables[:, 2], self.domains)
        there = (one >= 0) & (other >= 0)
        return one[there], other[there], link[there]

    def _place(self, local: Ints, copy: Ints) -> Ints:
        """Return the system's number of each domain vertex; -1 for a chip that is missing."""
        size = self.domain.chips
        chip = copy * size + local
        placed = np.where((local < size) & (chip < self.chips), chip, -1)
        first, base = size, self.chips
        for group in self.domain.groups:
            inside = (local >= first) & (local < first + group.count)
            placed = np.where(inside, base + copy * group.count + local - first, placed)
            first += group.count
            base += group.count * self.domains
        return placed

    def missing_cables(self) -> Flags:
        """Return which cables of the last domain are not there, for a chip of theirs is not."""
        cables = np.array(self.domain.cables, dtype=np.int64).reshape(-1, 3)
        last = np.full(1, self.domains - 1, dtype=np.int64)
        ends = (self._place(cables[:, 0], last), self._place(cables[:, 1], last))
        return np.asarray((ends[0] < 0) | (ends[1] < 0))

    def seat_of(self, fabric: Fabric) -> Ints:
        """Return the vertex of the domain that each card of each of its nodes plugs into."""
        return np.array(
            [
                [row[card * len(row) // fabric.cards] for card in range(fabric.cards)]
                for row in self.domain.seats
            ],
            dtype=np.int64,
        )

    def missing_slots(self, fabric: Fabric) -> int:
        """Return how many cards plug into no chip, for it is missing."""
        return self.nodes * fabric.cards - len(self.seat_cables(fabric)[0])

    def seat_cables(self, fabric: Fabric) -> tuple[Ints, Ints, Ints]:
        """Return the cables between every card and the vertex that it plugs into."""
        per_domain = self.domain.nodes
        seats = self.seat_of(fabric)
        node = np.repeat(np.arange(self.nodes, dtype=np.int64), fabric.cards)
        card = np.tile(np.arange(fabric.cards, dtype=np.int64), self.nodes)
        seat = self._place(seats[node % per_domain, card], node // per_domain)
        number = self.first_card + np.arange(self.nodes * fabric.cards, dtype=np.int64)
        there = seat >= 0
        link = np.full(int(there.sum()), len(self.domain.links), dtype=np.int64)
        return seat[there], number[there], link

    def fabric_cables(self, fabric: Fabric) -> tuple[Ints, Ints, Ints]:
        """Return the cables from the cards upwards."""
        lower, upper, kind = cables(fabric, self.nodes)
        link = kind + len(self.domain.links) + 1
        return lower + self.first_card, upper + self.first_card, link

    @property
    def first_card(self) -> int:
        """Number of the first network card."""
        return self.chips + self.domains * sum(group.count for group in self.domain.groups)
