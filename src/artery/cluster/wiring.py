"""The whole system as vertices and edges: domains copied side by side, the fabric on top.

Vertices are numbered chips first, then the other vertices of the domains (group by group, domain
by domain), then network cards node by node, then the switches of the fabric.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from artery.cluster.fat_tree import FatTree, Stage, fat_tree_edges, stages
from artery.core.link import Link
from artery.core.system import Edges, VertexGroup
from artery.node.scale_up import ScaleUp, bundle

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Assembly:
    """``chips`` chips in copies of ``domain``, joined by ``fabric`` if there is more than one node.

    A last domain that is not full keeps its switches and hosts, a last node its cards; only the
    missing chips are left out with their cables.
    """

    chips: int
    domain: ScaleUp
    fabric: FatTree | None

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
        """The classes of link that the edges point to: the domain's, then a card's port."""
        if self.fabric is None:
            return self.domain.links
        port = bundle(self.fabric.card, self.fabric.card.bandwidth / self.fabric.planes)
        return (*self.domain.links, self.fabric.card, port)

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
            found += self._switches(self.fabric)
        return tuple(found)

    def _switches(self, fabric: FatTree) -> list[VertexGroup]:
        tiers: tuple[Stage, ...] = stages(fabric, self.nodes)
        planes = range(fabric.planes)
        return [
            VertexGroup(
                "switch", level.name if fabric.planes == 1 else f"{level.name}-{plane}", tier.count
            )
            for plane in planes
            for level, tier in zip(fabric.levels, tiers, strict=True)
        ]

    def edges(self) -> Edges:
        """Return the edge arrays, two entries per cable."""
        parts = [self._domain_cables()]
        if self.fabric is not None:
            parts += [self._seat_cables(self.fabric), self._fabric_cables(self.fabric)]
        one = np.concatenate([part[0] for part in parts])
        other = np.concatenate([part[1] for part in parts])
        link = np.concatenate([part[2] for part in parts])
        return Edges(
            source=np.concatenate([one, other]),
            target=np.concatenate([other, one]),
            link=np.concatenate([link, link]),
        )

    def _domain_cables(self) -> tuple[Ints, Ints, Ints]:
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

    def _seat_cables(self, fabric: FatTree) -> tuple[Ints, Ints, Ints]:
        """Return the cables between every card and the vertex that it plugs into."""
        per_domain = self.domain.nodes
        seats = np.array(
            [
                [row[card * len(row) // fabric.cards] for card in range(fabric.cards)]
                for row in self.domain.seats
            ],
            dtype=np.int64,
        )
        node = np.repeat(np.arange(self.nodes, dtype=np.int64), fabric.cards)
        card = np.tile(np.arange(fabric.cards, dtype=np.int64), self.nodes)
        seat = self._place(seats[node % per_domain, card], node // per_domain)
        number = self._first_card + np.arange(self.nodes * fabric.cards, dtype=np.int64)
        there = seat >= 0
        link = np.full(int(there.sum()), len(self.domain.links), dtype=np.int64)
        return seat[there], number[there], link

    def _fabric_cables(self, fabric: FatTree) -> tuple[Ints, Ints, Ints]:
        """Return the cables from the cards upwards."""
        lower, upper = fat_tree_edges(fabric, self.nodes)
        link = np.full(len(lower), len(self.domain.links) + 1, dtype=np.int64)
        return lower + self._first_card, upper + self._first_card, link

    @property
    def _first_card(self) -> int:
        """Number of the first network card."""
        return self.chips + self.domains * sum(group.count for group in self.domain.groups)
