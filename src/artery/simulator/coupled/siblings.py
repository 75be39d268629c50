"""What the first slice of a tree waits for: those of its siblings, on the links that they share.

Two children of one parent have their first slices there at once, and these enter by one card: each
takes twice as long as alone. So do any edges of one tree that are as far from its root and cross
a link together. ``artery.native.coupled`` has every first slice alone on its links; what is
missing is added here, along the chain to the root on which it is most.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from artery.core.arrays import Floats, Ints, runs
from artery.native.coupled import Steady
from artery.native.pipelines import Pipelines
from artery.native.work import PICOSECONDS, Links
from artery.simulator.coupled.chains import Chains

MOST_CROSSINGS: Final = 2**18
"""Crossings that are looked at, those of the slowest trees: ten milliseconds. All other trees are
taken to wait for as large a share of their fill."""


@dataclass(frozen=True, slots=True, eq=False)
class Siblings:
    """``count`` edges of one tree, as far from the root as ``edge``, cross ``link``.

    Listed are all links of an edge that has siblings on one, edge by edge; edges are places in
    those that were looked at, as are ``toward`` (the next to the root, -1: none) and ``wave``,
    the number of each edge's wave. ``seen`` are the pipes looked at. ``chains`` are those inside
    nodes.
    """

    edge: Ints
    link: NDArray[np.int32]
    count: Ints
    toward: Ints
    wave: Ints
    seen: Ints
    chains: Chains

    @classmethod
    def of(cls, pipes: Pipelines, steady: Steady, links: int, home: Ints) -> Siblings:
        """Return the siblings of the slowest trees over as many links.

        ``home`` is the node in which each edge lies, -1 for those from node to node: these may
        have siblings.
        """
        seen, wave = _slowest(pipes, steady)
        edges = pipes.wave[wave + 1] - pipes.wave[wave]
        begin = np.cumsum(edges) - edges
        at = runs(pipes.wave[wave], edges)
        toward = np.zeros(0, np.int64) if pipes.toward is None else pipes.toward[at]
        toward = np.where(toward < 0, -1, toward - np.repeat(pipes.wave[wave] - begin, edges))
        hops = pipes.start[at + 1] - pipes.start[at]
        hops = np.where(home[at] < 0, hops, 0)
        link = pipes.link[runs(pipes.start[at], hops)]
        edge = np.repeat(np.arange(len(at)), hops)
        level = _to_the_root(np.ones(len(at)), toward).astype(np.int64)
        group = np.repeat(np.arange(len(wave)), edges) * (1 + level.max(initial=0)) + level
        key = group[edge] * links + link
        order = np.argsort(key)
        cuts = np.flatnonzero(np.diff(key[order], prepend=-1, append=-1))
        count = np.empty(len(key), np.int64)
        count[order] = np.repeat(np.diff(cuts), np.diff(cuts))
        several = np.zeros(len(at), np.bool_)
        several[edge[count > 1]] = True
        kept = np.flatnonzero(several[edge])
        number, chains = np.repeat(wave, edges), Chains.of(pipes, home)
        return cls(edge[kept], link[kept], count[kept], toward, number, seen, chains)

    def waited(self, links: Links, pipes: Pipelines, steady: Steady) -> Steady:
        """Return the run with the time that first slices wait for their siblings and in chains."""
        tree = (pipes.depth == 0) & (pipes.amount > 0) & (steady.time >= 0)
        fill, late = steady.fill.astype(np.float64), self.chains.late(links, pipes)
        if len(self.edge):
            fill += self._for_siblings(links, pipes, steady, tree)
        behind = (pipes.behind - pipes.segment) / np.maximum(pipes.amount, 1)
        outside = self.chains.outside(links, pipes, steady)
        least = fill + np.maximum(steady.flow * behind, late + outside * behind)
        least = np.where(tree, np.ceil(least), 0).astype(np.int64)
        time = np.maximum(steady.time, least)
        return replace(steady, time=time, fill=(fill + late).astype(np.int64))

    def _for_siblings(
        self, links: Links, pipes: Pipelines, steady: Steady, tree: NDArray[np.bool_]
    ) -> Floats:
        """Return how long the first slices of each pipe wait for their siblings, ps."""
        first = np.flatnonzero(np.diff(self.edge, prepend=-1))
        each = PICOSECONDS / links.rate[self.link]
        late = np.maximum.reduceat(self.count * each, first) - np.maximum.reduceat(each, first)
        more = np.zeros(len(self.toward))
        edge = self.edge[first]
        of = np.searchsorted(pipes.pipe, self.wave, side="right") - 1
        more[edge] = late * pipes.segment[of[edge]]
        total = _to_the_root(more, self.toward)
        begin = np.flatnonzero(np.diff(self.wave, prepend=-1))
        most = np.maximum.reduceat(total, begin)
        wait: Floats = np.bincount(of[begin], most, len(steady.fill)).astype(np.float64)
        share = float(wait.sum() / max(int(steady.fill[self.seen].sum()), 1))
        other = tree.copy()
        other[self.seen] = False
        wait[other] = steady.fill[other] * share
        return wait


def _slowest(pipes: Pipelines, steady: Steady) -> tuple[Ints, Ints]:
    """Return the slowest trees, and their waves: of folded ones the edges between nodes."""
    if pipes.toward is None:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    role = np.zeros(len(pipes.wave) - 1, np.int64) if pipes.role is None else pipes.role
    of = np.repeat(np.arange(len(pipes.depth)), np.diff(pipes.pipe))
    crossings = np.diff(pipes.start[pipes.wave]) * (role == 0)
    mine = np.bincount(of, crossings, len(pipes.depth))
    tree = np.flatnonzero(pipes.depth == 0)
    order = tree[np.argsort(-steady.time[tree], kind="stable")]
    many = int(np.searchsorted(np.cumsum(mine[order]), MOST_CROSSINGS))
    seen = np.sort(order[: max(many, 1)])
    wave = np.flatnonzero(np.isin(of, seen) & (role == 0) & (crossings > 0))
    return seen, wave


def _to_the_root(values: Floats, toward: Ints) -> Floats:
    """Return the sum of values from each edge to the root, doubling the stride each time."""
    total, ahead = np.append(values, 0.0), np.append(toward, -1)
    while (ahead >= 0).any():
        total, ahead = total + total[ahead], ahead[ahead]
    return total[:-1]
