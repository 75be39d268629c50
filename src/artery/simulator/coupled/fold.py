"""Trees whose nodes are alike: one node's inside stands for all.

A tree over many nodes is the same chain in every node and a tree between them. Chains load the
links of their own node only, as many times in each, so that one node's are enough: the slowest
of equal links decides for all of them. Kept beside it are the chains of nodes that are not like
it, or that paths from elsewhere lead through. The answer is that of all edges, not an estimate.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from artery.cluster.network import Network
from artery.core.arrays import Ints
from artery.core.schedule import Pipe
from artery.simulator.network.routes import Ends, Ranks, Routes, taken

Small = NDArray[np.int32]

FOLDED_FROM: Final = 20_000
"""Edges of a pipe from which it is worth it."""


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """A tree in two: edges ``between`` nodes, and those ``inside`` them, alike in all nodes.

    Inside edges go in the node ``home`` from place a to place b of its chips: ``key`` is
    a·chips + b.
    """

    between: Pipe
    inside: Pipe
    home: Ints
    key: Small

    def kept(self, nodes: Ints) -> Split:
        """Return the edges inside some nodes only."""
        keep = np.flatnonzero(np.isin(self.home, nodes))
        source, target = self.inside.source[keep], self.inside.target[keep]
        inside = replace(self.inside, source=source, target=target)
        return replace(self, inside=inside, home=self.home[keep], key=self.key[keep])


@dataclass(frozen=True, slots=True, eq=False)
class Alike:
    """Links of nodes that are loaded alike: row n of ``link`` is node ``node[n]``, row 0 is played.

    ``chips`` is how many chips a node has.
    """

    link: NDArray[np.int32]
    node: Ints
    chips: int

    def narrowest(self, rate: Ints) -> Ints:
        """Return the rates, those of the node that is played being the least of all alike."""
        found = rate.copy()
        found[self.link[0]] = rate[self.link].min(axis=0)
        return found

    def everywhere(self, carried: Ints) -> Ints:
        """Return the bytes, those of the node that is played in all alike."""
        found = carried.copy()
        found[self.link] = carried[self.link[0]]
        return found

    def played(self, link: int) -> tuple[int, int]:
        """Return the link that was played for ``link``, and by how many chips pairs are moved."""
        place = np.argwhere(self.link == link)
        if not len(place):
            return link, 0
        row, column = place[0]
        shift = int(self.node[row] - self.node[0]) * self.chips
        return int(self.link[0, column]), shift


@dataclass(eq=False)
class Splitter:
    """Splits the trees of works whose ranks are on the same nodes, of ``size`` chips each.

    ``node`` is the node of each rank; ``known`` are the two parts of the trees seen before, and
    the nodes of the second's edges.
    """

    size: int
    node: Ints | None = None
    known: dict[int, tuple[Pipe, Pipe, Pipe, Ints]] = field(default_factory=dict)

    def split(self, pipe: Pipe, chips: Ints) -> Split | None:
        """Return the tree in two, rank r being on ``chips[r]``.

        ``None`` where it has few edges, or where the nodes are not entered at one place each, or
        where their insides are not alike.
        """
        if pipe.kind != "tree" or len(pipe.source) < FOLDED_FROM or self.size < 2:
            return None
        if max(int(pipe.source.max()), int(pipe.target.max())) >= len(chips):
            return None  # it leads through switches
        node = chips // self.size
        self.node = node if self.node is None else self.node
        if not np.array_equal(node, self.node):
            return None
        if id(pipe) not in self.known:
            self.known[id(pipe)] = _parts(pipe, node)
        _, between, inside, home = self.known[id(pipe)]
        place = (chips - node * self.size).astype(np.int32)
        key = place[inside.source] * np.int32(self.size) + place[inside.target]
        ends = np.concatenate([place[between.source], place[between.target]])
        if not _alike(key, ends, self.size, len(self.nodes)):
            return None
        return Split(between, inside, home, key)

    @cached_property
    def nodes(self) -> Ints:
        """The nodes, in order."""
        return np.unique(self.node) if self.node is not None else np.zeros(0, np.int64)


def _parts(pipe: Pipe, node: Ints) -> tuple[Pipe, Pipe, Pipe, Ints]:
    """Return the tree, its edges that leave their node and those that do not, and whose these are.

    The tree is kept so that its identity stays its own.
    """
    leaves = node[pipe.source] != node[pipe.target]
    far, near = (
        replace(pipe, source=pipe.source[some], target=pipe.target[some])
        for some in (leaves, ~leaves)
    )
    return pipe, far, near, node[near.source]


def _alike(key: Small, ends: Small, size: int, nodes: int) -> bool:
    """Whether all nodes have the same inside, a tree whose top is the only way out."""
    counts = np.bincount(key, minlength=size * size)
    kinds = np.flatnonzero(counts)
    if not len(ends) or not len(kinds) or (counts[kinds] != nodes).any():
        return False
    heads = np.setdiff1d(kinds % size, kinds // size)
    return len(heads) == 1 and bool((ends == heads[0]).all())


def alike(network: Network, nodes: Splitter, inner: Routes, outer: Routes) -> Alike | None:
    """Return which nodes are alike: same places of links, same rates, crossed by no other path.

    ``inner`` are the paths inside the ``nodes``, as many for each; ``outer`` those of all other
    edges. ``None`` where fewer than two are.
    """
    length = np.diff(inner.start).reshape(len(nodes.nodes), -1)
    usual = np.flatnonzero((length == np.median(length, axis=0)).all(axis=1))
    hops = np.arange(length[usual[:1]].sum())
    link = inner.link[inner.start[usual * length.shape[1]][:, None] + hops]
    for known in (network.rate, network.latency):
        same = (known[link] == np.median(known[link], axis=0)).all(axis=1)
        usual, link = usual[same], link[same]
    if not len(link):
        return None
    place = link - link[0]
    same = (place == place[:, :1]).all(axis=1)
    crossed = np.zeros(len(network.rate), dtype=bool)
    crossed[outer.link] = True
    same &= ~crossed[link].any(axis=1)
    if same.sum() < 2:
        return None
    columns = np.unique(link[0], return_index=True)[1]
    return Alike(link[np.flatnonzero(same)[:, None], columns], nodes.nodes[usual[same]], nodes.size)


@dataclass(frozen=True, slots=True, eq=False)
class Insides:
    """The pairs of chips inside all nodes that trees use: of each node those of ``kinds``."""

    pairs: Ends
    row: Ints
    column: Ints
    size: int

    @classmethod
    def of(cls, nodes: Splitter, kinds: Ints) -> Insides:
        """Return the pairs of these kinds in every node."""
        size, many = nodes.size, len(nodes.nodes)
        base = np.repeat(nodes.nodes * size, len(kinds))
        pairs = Ends(base + np.tile(kinds // size, many), base + np.tile(kinds % size, many))
        row = np.zeros(int(nodes.nodes[-1]) + 1, dtype=np.int64)
        row[nodes.nodes] = np.arange(many) * len(kinds)
        column = np.zeros(size * size, dtype=np.int64)
        column[kinds] = np.arange(len(kinds))
        return cls(pairs, row, column, size)

    def places(self, one: Split, *, turned: bool) -> Ints:
        """Return which pairs the inside edges of a tree are, ``turned`` the other way round."""
        key = one.key % self.size * self.size + one.key // self.size if turned else one.key
        return np.asarray(self.row[one.home] + self.column[key])


class Mixed:
    """Edges in their order: the next ones of those outside, and any of those inside."""

    def __init__(self, inside: tuple[Ends, Routes], outside: tuple[Ends, Routes]) -> None:
        self.inner, self.outer = inside, outside
        self.passed = 0
        self.source: list[Ranks] = []
        self.target: list[Ranks] = []
        self.length: list[Ints] = []
        self.link: list[Small] = []

    def outside(self, many: int) -> None:
        """Add the next ``many`` edges outside."""
        pairs, routed = self.outer
        part = slice(self.passed, self.passed + many)
        start = routed.start[part.start : part.stop + 1]
        self.passed += many
        self._add(pairs, part, np.diff(start), routed.link[start[0] : start[-1]])

    def inside(self, which: Ints) -> None:
        """Add some edges inside."""
        pairs, routed = self.inner
        start, link = taken(routed.start, routed.link, which)
        self._add(pairs, which, np.diff(start), link)

    def _add(self, pairs: Ends, part: Ints | slice, length: Ints, link: Small) -> None:
        self.source.append(pairs.source[part])
        self.target.append(pairs.target[part])
        self.length.append(length)
        self.link.append(link)

    @property
    def ends(self) -> Ends:
        """The pairs of all edges."""
        return Ends(np.concatenate(self.source), np.concatenate(self.target))

    @property
    def routes(self) -> Routes:
        """The paths of all edges."""
        start = np.cumsum(np.concatenate([np.zeros(1, np.int64), *self.length]))
        return Routes(np.arange(len(start)), start, np.concatenate(self.link))


def both_ways(splits: list[Split | None], size: int) -> Ints:
    """Return the keys of all inside edges, and those of the edges back."""
    seen = np.zeros(size * size, dtype=bool)
    for one in splits:
        if one is not None:
            seen[one.key] = True
    kinds = np.flatnonzero(seen)
    return np.unique(np.concatenate([kinds, kinds % size * size + kinds // size]))
