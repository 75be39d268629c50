"""Sums as timed steps: whoever adds what it receives has a link more at the end of its paths.

A chip that adds at R bytes per second takes b / R for b bytes, one message after the other, while
they come in: that is a link of R bytes per second and no latency, which only messages that are
added cross. So the engines need to know nothing of sums, and messages, coupled pipes and fluid
agree on them. Chips add what chips send; with ``card_adding`` what comes from another node is
added by the network card that it comes in by, and switches that add take no time here (their
rate is that of their links).

As long as nobody says a rate, nothing is added to the time: the shares of the links that a library
reaches (``artery.collective.overheads``) were fitted to sweeps whose kernels added too, so that a
chip's own rate is in them. A rate that is given counts beside them and not on top: it bounds, and
shows only where it is lower than the links.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from artery.cluster.network import Network, Tree
from artery.core.arrays import Flags, Ints
from artery.native.coupled import coupled
from artery.native.work import PICOSECONDS, Links, Transfers
from artery.simulator.coupled.pipes import Coupled
from artery.simulator.network.routes import DOWN, UP, Ends, Routes
from artery.simulator.placed import Placed
from artery.simulator.scenario import Scenario

PASSES: Final = 3
"""Bytes that pass a chip's memory for each that is added: two are read, one is written."""

SUMMING: Final = frozenset({"all_reduce", "reduce_scatter", "reduce"})


@dataclass(frozen=True, slots=True)
class Adding:
    """Who adds most: ``rate`` in B/s, by a network ``card`` or a chip, for ``seconds``."""

    rate: int
    card: bool
    seconds: float


@dataclass(frozen=True, slots=True, eq=False)
class Adders:
    """Chips, and cards by the directed links that come in by them (``port``), that add.

    Their links are numbered from those of ``network`` on: chips, then cards, and once more for
    coupled rings that add every other byte.
    """

    network: Network
    chip: int
    card: int
    port: Ints

    @classmethod
    def of(cls, network: Network, scenario: Scenario) -> Adders | None:
        """Return who adds under ``scenario``, ``None`` where no rate was given."""
        chip, card = round(scenario.adding), round(scenario.card_adding)
        if not chip and not card:
            return None
        port = np.zeros(0, dtype=np.int64)
        if card and isinstance(network.plan, Tree):
            inward = np.arange(network.cables, 2 * network.cables)
            port = inward[_ports(network, inward)]
            cards = sum(group.count for group in network.groups if group.kind == "nic")
            card = max(card * cards // max(len(port), 1), 1)  # a card's ports share it
        return cls(network, chip, card, port)

    @property
    def many(self) -> int:
        """Chips and cards."""
        return self.network.groups[0].count + len(self.port)

    def links(self, links: Links) -> Links:
        """Return the network's links and those of all that add."""
        chips = self.network.groups[0].count
        one = np.concatenate(
            [np.full(chips, max(self.chip, 1)), np.full(len(self.port), self.card)]
        )
        rate = np.concatenate([links.rate, one, 2 * one]).astype(np.int64)
        latency = np.concatenate([links.latency, np.zeros(2 * self.many, dtype=np.int64)])
        fails = links.fails
        if fails is not None:
            never = np.full(2 * self.many, np.iinfo(np.int64).max)
            fails = np.concatenate([fails, never])
        return Links(rate, latency, fails)

    def ends(self, pairs: Ends, path_pair: Ints, start: Ints, link: NDArray[np.int32]) -> Ints:
        """Return the link of whoever adds at the end of each path; -1: nobody, or a switch."""
        chips = self.network.groups[0].count
        target = np.asarray(pairs.target)[path_pair].astype(np.int64)
        source = np.asarray(pairs.source)[path_pair]
        found = np.where((target < chips) & (source < chips), target, -1)
        if pairs.cut is not None:
            cut = pairs.cut[path_pair]
            found[(cut == UP) | (cut == DOWN)] = -1
        if not self.chip:
            found[:] = -1
        if len(self.port):
            card = np.full(len(self.network.rate), -1, dtype=np.int32)
            card[self.port] = np.arange(len(self.port))
            place = np.flatnonzero(card[link] >= 0)
            path = np.searchsorted(start, place, side="right") - 1
            found[path] = chips + card[link[place]]
        return np.where(found < 0, -1, found + len(self.network.rate))

    def busiest(self, carried: Ints) -> Adding:
        """Return who adds longest, by the bytes that all links carried."""
        extra = carried[len(self.network.rate) :].reshape(2, -1)
        added = extra[0] + extra[1] // 2
        rate = np.full(self.many, max(self.chip, 1))
        rate[self.network.groups[0].count :] = self.card
        seconds = added / rate
        who = int(seconds.argmax())
        return Adding(int(rate[who]), who >= self.network.groups[0].count, float(seconds[who]))


def busiest(network: Network, scenario: Scenario, carried: Ints) -> Adding | None:
    """Return who adds longest by the bytes on all links, ``None`` where adding takes no time."""
    adders = Adders.of(network, scenario)
    return None if adders is None else adders.busiest(carried)


def _ports(network: Network, links: Ints) -> Flags:
    """Return which links are a card's port."""
    if not isinstance(network.plan, Tree):
        return np.zeros(len(links), dtype=bool)
    kind = network.kind[links]
    return np.asarray((kind >= network.plan.port) & (kind < network.plan.core))


def adding_transfers(
    adders: Adders, moved: Transfers, pairs: Ends, routed: Routes, adds: Flags
) -> Transfers:
    """Return the transfers, those that are added over paths that end with who adds."""
    own = routed.start
    pair = np.repeat(np.arange(len(pairs.source)), np.diff(routed.first))
    paths, hops = len(moved.start) - 1, len(moved.link)
    more = paths // max(len(own) - 1, 1)  # where links fail later every path has another
    ends = adders.ends(pairs, np.tile(pair, more), moved.start, moved.link)
    start, link = _longer(moved.start, moved.link, ends)
    shift = np.where(adds, paths, 0).astype(np.int32)
    return replace(
        moved,
        path=moved.path + shift,
        start=np.concatenate([moved.start, start[1:] + hops]),
        link=np.concatenate([moved.link, link]),
        other=None if moved.other is None else moved.other + shift,
    )


def adding_pipes(
    adders: Adders, links: Links, pipes: Coupled, jobs: tuple[Placed, ...]
) -> tuple[Links, Coupled]:
    """Return the links and pipes, their edges that add ending with who adds.

    Round a ring every edge carries what is added and, in an all-reduce, then as much that is
    copied. The two halves come one after the other, so that where adding b bytes takes longer
    than the links do for as many, the whole takes b / R and half of what it takes without adding.
    Up a tree all is added, down nothing.
    """
    pipelines = pipes.pipelines
    collective = {one.job: one.schedule.collective for one in jobs}
    edges = np.arange(len(pipelines.start) - 1)
    wave = np.searchsorted(pipelines.wave, edges, side="right") - 1
    pipe = np.searchsorted(pipelines.pipe, wave, side="right") - 1
    waves = np.diff(pipelines.pipe)[pipe]
    upward = wave - pipelines.pipe[pipe] < np.where(waves % 2 == 0, waves // 2, waves)
    sums = np.array([collective[int(job)] in SUMMING for job in pipes.job])[pipe]
    whole = np.array([collective[int(job)] != "all_reduce" for job in pipes.job])[pipe]
    ring = pipelines.depth[pipe] > 0
    ways = len(edges) // max(len(pipes.pairs.source), 1)
    ends = adders.ends(pipes.pairs, edges // ways, pipelines.start, pipelines.link)
    ends[~(sums & (ring | upward))] = -1
    half = np.flatnonzero((ends >= 0) & ring & ~whole)
    every = adders.links(links)
    without = coupled(links, pipelines).flow[pipe[half]] / PICOSECONDS
    carried = np.bincount(ends[half], pipelines.amount[pipe[half]], len(every.rate))
    copying = np.zeros(len(every.rate))
    np.maximum.at(copying, ends[half], without / 2)
    seen = np.flatnonzero(carried)
    adds = carried[seen] / 2 / every.rate[seen]
    rate = every.rate.copy()
    rate[seen + adders.many] = np.maximum(
        carried[seen] / (adds + np.minimum(copying[seen], adds)), 1
    )
    ends[half] += adders.many
    start, link = _longer(pipelines.start, pipelines.link, ends)
    longer = replace(pipelines, start=start, link=link)
    return replace(every, rate=rate), replace(pipes, pipelines=longer)


def _longer(start: Ints, link: NDArray[np.int32], ends: Ints) -> tuple[Ints, NDArray[np.int32]]:
    """Return the paths with one more link each at their end, but for those of -1."""
    has = ends >= 0
    longer = np.insert(link, start[1:][has], ends[has].astype(np.int32))
    return start + np.concatenate([[0], np.cumsum(has)]), longer
