"""A network drawn cable by cable, as a fabric file tells it: any switches, any cables, any rates.

Network cards hang on switches by one cable each, or by none where theirs is missing. Nothing is
assumed of the shape; what the closed forms need of it (who meets in which tier, and how much leaves
the parts of one) is counted by whoever draws it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from artery.core.arrays import Ints
from artery.core.link import Link
from artery.core.system import Tier, VertexGroup


@dataclass(frozen=True, slots=True)
class Meeting:
    """One tier: ``nodes`` that usually meet in a part of it; B/s that a ``node`` sends into it.

    ``last`` is the share of the links into it that the last part of the tier below has, which may
    be smaller than others.
    """

    name: str
    nodes: int
    node: float
    last: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """Switches by name and the cables between cards and switches, and between switches.

    ``cards`` of class ``card`` per node. Vertex ``n`` below ``nodes * cards`` is a card, node by
    node; then the switches. A cable joins ``lower`` (the card, where one end is a card) and
    ``upper`` and is of class ``kind`` among ``classes``, of which the first ``ports`` are those of
    cards; cables are sorted by class. ``latency`` is one way through one switch, ``hop`` that of
    one more with its cable, in seconds. ``rails``: the cards of a node hang on several switches.
    """

    card: Link
    cards: int
    nodes: int
    switches: tuple[str, ...]
    lower: Ints
    upper: Ints
    kind: Ints
    classes: tuple[Link, ...]
    ports: int
    meetings: tuple[Meeting, ...]
    latency: float
    hop: float
    rails: bool = False
    routing: str = "hash"
    reduction: str | None = None

    @property
    def endpoints(self) -> int:
        """Cards of all nodes: the vertices below the switches."""
        return self.nodes * self.cards

    def groups(self) -> list[VertexGroup]:
        """Return every switch under its own name."""
        return [VertexGroup("switch", name, 1, own=True) for name in self.switches]

    def counts(self) -> list[tuple[int, int]]:
        """Return the cables as runs of one class: class and length."""
        many = np.bincount(self.kind, minlength=len(self.classes)).tolist()
        return [(kind, count) for kind, count in enumerate(many) if count]

    def links(self) -> tuple[Link, ...]:
        """Return the classes of the cables."""
        return self.classes


def drawn_tiers(fabric: Drawn, chips_per_node: int, chips: int) -> tuple[Tier, ...]:
    """Return the tiers that ``chips`` chips meet, innermost first.

    A chip's share is that of a node whose part of the tier below has the least to go up with,
    while all send; one whose neighbours are silent uses whole cards.
    """
    burst = -(-fabric.cards // chips_per_node) * fabric.card.bandwidth
    last = len(fabric.meetings) - 1
    return tuple(
        Tier(
            name=meeting.name,
            chips=chips if index == last else meeting.nodes * chips_per_node,
            kind="switch",
            link=fabric.card,
            bandwidth=meeting.node / chips_per_node,
            burst=burst,
            pair=burst,
            latency=fabric.latency + 2 * index * fabric.hop,
            reduction=fabric.reduction,
            last=meeting.last,
        )
        for index, meeting in enumerate(fabric.meetings)
    )
