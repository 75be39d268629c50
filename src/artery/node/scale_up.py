"""``ScaleUp``: one scale-up domain, and ``Layout``, with which a builder draws it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from artery.core.link import Link
from artery.core.system import Tier, VertexGroup

Cable = tuple[int, int, int]
"""Vertex, vertex, index of the link class; a cable carries its bandwidth in both directions."""


@dataclass(frozen=True, slots=True)
class ScaleUp:
    """The chips that reach each other without a network card, and how.

    ``chips`` in one domain, spread evenly over ``nodes``; ``tiers`` innermost first. Vertices of
    the domain are its chips, then ``groups`` in order. ``seats`` are, for each node, the vertices
    that network cards plug into.
    """

    chips: int
    tiers: tuple[Tier, ...]
    groups: tuple[VertexGroup, ...]
    links: tuple[Link, ...]
    cables: tuple[Cable, ...]
    seats: tuple[tuple[int, ...], ...]

    @property
    def nodes(self) -> int:
        """Nodes (hosts, trays) that the domain spans."""
        return len(self.seats)


class Layout:
    """The vertices and cables of a domain while it is drawn; its chips are there from the start."""

    def __init__(self, chips: int) -> None:
        self.chips = chips
        self.groups: list[VertexGroup] = []
        self.links: list[Link] = []
        self.cables: list[Cable] = []
        self._vertices = chips

    def add(self, kind: str, name: str, count: int) -> range:
        """Add ``count`` vertices of one kind and return their numbers."""
        first = self._vertices
        self._vertices += count
        if count:
            self.groups.append(VertexGroup(kind, name, count))
        return range(first, self._vertices)

    def vertices(self, kind: str) -> set[int]:
        """Return the numbers of all vertices of one kind, apart from chips."""
        found: set[int] = set()
        first = self.chips
        for group in self.groups:
            if group.kind == kind:
                found.update(range(first, first + group.count))
            first += group.count
        return found

    def join(self, one: int, other: int, link: Link) -> None:
        """Lay one cable of the class ``link`` between two vertices."""
        if link not in self.links:
            self.links.append(link)
        self.cables.append((one, other, self.links.index(link)))

    def build(self, tiers: tuple[Tier, ...], seats: tuple[tuple[int, ...], ...] = ()) -> ScaleUp:
        """Return the finished domain; without ``seats`` network cards plug into the chips."""
        return ScaleUp(
            chips=self.chips,
            tiers=tiers,
            groups=tuple(self.groups),
            links=tuple(self.links),
            cables=tuple(self.cables),
            seats=seats or (tuple(range(self.chips)),),
        )


def bundle(link: Link, bandwidth: float) -> Link:
    """Return ``link`` as a cable of ``bandwidth`` B/s per direction: some of its lanes, or more."""
    return replace(link, bandwidth=bandwidth)
