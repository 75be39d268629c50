"""What first slices of trees wait for inside nodes: slices of all other trees, on the same ports.

A tree over nodes runs as a chain through the chips of each, and every chip passes on for all trees
by the same port. As a first slice comes to a chip, all chains that began before it, or with it,
send there: of a chain that is as far along, or less far, one slice goes before it, as ports serve
who comes first and a rank sends one slice of a tree after the other. So that slice takes as many
times as long as alone. A tree that has sent all its slices is in nobody's way: of n slices, only
chains that are less than n places behind are. In the second half, down again, the last slice is
what counts, and behind it nothing comes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from artery.core.arrays import Floats, Ints, runs
from artery.native.coupled import Steady
from artery.native.pipelines import Pipelines
from artery.native.work import PICOSECONDS, Links

MOST_INSIDE: Final = 2**15
"""Edges inside nodes that are looked at, those of as many nodes: some ten milliseconds."""

FULL: Final = 0.99
"""The part of the time that a pipe flows from which on a link that sends so long holds it back."""


@dataclass(frozen=True, slots=True, eq=False)
class Chains:
    """Crossings of links by edges inside nodes, on the way up, edge by edge.

    ``count`` slices go over ``link`` before that of edge ``edge`` has passed it. By edge: ``pipe``,
    the next edge of its chain (``toward``, -1: it leaves the node) and its ``height``, the edges
    before it. ``home`` is the node of every edge of all pipes, -1 between nodes.
    """

    edge: Ints
    link: NDArray[np.int32]
    count: Ints
    pipe: Ints
    toward: Ints
    height: Ints
    home: Ints

    @classmethod
    def of(cls, pipes: Pipelines, home: Ints) -> Chains:
        """Return the chains of trees that are passed both ways; ``home`` is each edge's node."""
        at, pipe = _upward(pipes, home)
        place = np.full(len(home) + 1, -1)
        place[at] = np.arange(len(at))
        toward = np.zeros(0, np.int64) if pipes.toward is None else place[pipes.toward[at]]
        height = _heights(toward)
        hops = pipes.start[at + 1] - pipes.start[at]
        edge = np.repeat(np.arange(len(at)), hops)
        link = pipes.link[runs(pipes.start[at], hops)]
        slices = -(-pipes.amount // np.maximum(pipes.segment, 1))[pipe]
        span = int(height.max(initial=0)) + 1
        key = link * np.int64(span) + height[edge]
        after = np.maximum(height - slices, -1)[edge] + link * np.int64(span)
        order = np.sort(key)
        count = np.searchsorted(order, key, "right") - np.searchsorted(order, after, "right")
        return cls(edge, link, count, pipe, toward, height, home)

    def late(self, links: Links, pipes: Pipelines) -> Floats:
        """Return by how much later than alone the first slice of each pipe leaves its node, ps."""
        found = np.zeros(len(pipes.depth))
        if not len(self.edge):
            return found
        together, alone = (self._longest(links, pipes, count) for count in (self.count, 1))
        np.maximum.at(found, self.pipe, together)
        least = np.zeros(len(found))
        np.maximum.at(least, self.pipe, alone)
        return found - least

    def outside(self, links: Links, pipes: Pipelines, steady: Steady) -> Floats:
        """Return the flow of each pipe as far as links between nodes hold it back, ps.

        A port inside a node that holds a pipe back sends from the start on: while a first slice
        waits there nothing is lost, but for what comes after it on its way.
        """
        flow = steady.flow.astype(np.float64)
        within = np.zeros(len(flow))
        np.maximum.at(within, self.pipe[self.edge], _busy(links, steady, self.link))
        held = (within >= FULL * flow) & (within > 0)
        if not held.any():
            return flow
        edges = np.flatnonzero(self.home < 0)
        of = np.searchsorted(pipes.wave[pipes.pipe], edges, side="right") - 1
        edges, of = edges[held[of]], of[held[of]]
        hops = pipes.start[edges + 1] - pipes.start[edges]
        link = pipes.link[runs(pipes.start[edges], hops)]
        apart = np.ones(len(links.rate), np.bool_)
        apart[self.link] = False  # these send from the start on
        flow[held] = 0.0
        np.maximum.at(flow, np.repeat(of, hops), _busy(links, steady, link) * apart[link])
        return flow

    def _longest(self, links: Links, pipes: Pipelines, count: Ints | int) -> Floats:
        """Return when the first slice has passed each edge, ps: ``count`` slices take as long."""
        edges = len(self.pipe)
        sending = np.zeros(edges)
        np.maximum.at(sending, self.edge, count * (PICOSECONDS / links.rate[self.link]))
        hop = sending * pipes.segment[self.pipe]
        hop += np.bincount(self.edge, links.latency[self.link], edges)
        passed = hop.copy()
        for height in range(int(self.height.max())):
            now = np.flatnonzero((self.height == height) & (self.toward >= 0))
            after = self.toward[now]
            np.maximum.at(passed, after, passed[now] + hop[after])
        return passed


def _busy(links: Links, steady: Steady, link: NDArray[np.int32]) -> Floats:
    """Return how long links send, ps."""
    return np.asarray(steady.bytes[link] * (PICOSECONDS / links.rate[link]))


def passed_both_ways(pipes: Pipelines) -> NDArray[np.bool_]:
    """Return which pipes are trees up and down again; stars lead nowhere, and are none."""
    waves = np.diff(pipes.pipe)
    found = (pipes.depth == 0) & (waves % 2 == 0) & (waves > 0)
    edge = pipes.wave[pipes.pipe]
    filled = np.diff(edge) > 0
    led = np.zeros(len(found), np.bool_)
    if pipes.toward is not None and filled.any():
        led[filled] = np.maximum.reduceat(pipes.toward, edge[:-1][filled]) >= 0
    return np.asarray(found & led)


def _upward(pipes: Pipelines, home: Ints) -> tuple[Ints, Ints]:
    """Return edges inside nodes on the way up, and their pipes, of as many nodes as are seen."""
    both = np.flatnonzero(passed_both_ways(pipes))
    begin = pipes.wave[pipes.pipe[both]]
    half = (pipes.pipe[both + 1] - pipes.pipe[both]) // 2
    length = pipes.wave[pipes.pipe[both] + half] - begin
    at, pipe = runs(begin, length), np.repeat(both, length)
    inside = home[at] >= 0
    at, pipe = at[inside], pipe[inside]
    if len(at) > MOST_INSIDE:
        seen = home[at] % -(-len(at) // MOST_INSIDE) == 0
        at, pipe = at[seen], pipe[seen]
    return at, pipe


def _heights(toward: Ints) -> Ints:
    """Return how many edges come before each, along the longest chain."""
    height = np.zeros(len(toward), np.int64)
    now = np.arange(len(toward))
    while len(now):
        now = now[toward[now] >= 0]
        after = toward[now]
        higher = height[after] < height[now] + 1
        np.maximum.at(height, after[higher], height[now[higher]] + 1)
        now = np.unique(after[higher])
    return height
