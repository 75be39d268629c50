"""Recursive halving and doubling over the links that each pair of partners has.

Partners differ from step to step, and so do the cables between them: on a DGX-1 one NVLink, two or
none, on PCIe the up-link of a switch that several pairs share. So its steps are walked one by one:
what each cable of a node carries, and what leaves each node.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from artery.collective.schedules import schedule
from artery.collective.schedules.fold import Fold
from artery.collective.schedules.transfers import chosen, together
from artery.core.arrays import Floats, Ints
from artery.core.pricing import Collective
from artery.core.schedule import Step
from artery.node.paths import Paths
from artery.node.scale_up import Layout, ScaleUp


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A node of ``chips``, filled in the order of ranks.

    ``wiring`` joins them, cable by cable; ``None`` where they share switches alone. ``own`` names
    the class of the tier's own cables.
    """

    chips: int
    wiring: ScaleUp | None = None
    own: str = ""

    def ways(self, only: str | None = None) -> Paths:
        """Return the ways over the wiring at what it reaches; with ``only`` others are endless."""
        drawn = self.wiring
        if drawn is None:
            return Paths(Layout(self.chips))
        layout = Layout(drawn.chips)
        for one, other, index in drawn.cables:
            if not {one, other}.intersection(range(self.chips, drawn.chips)):
                layout.join(one, other, drawn.links[index])
        return Paths(layout, efficiency=1.0, only=only)


class Rates(NamedTuple):
    """B/s of a chip to its partner ``inside`` a switched node, and out of it.

    ``share`` is a member's of all links that leave the node, ``most`` what one chip sends there.
    """

    inside: float
    share: float
    most: float


class Chain(NamedTuple):
    """The messages that wait for each other longest, from the first to the last.

    Seconds per byte of size ``inside`` nodes, on cables of the tier's own class alone, and
    ``between`` them; in ``every`` all cables count. ``crossings`` of its steps are between nodes.
    """

    every: Floats
    inside: Floats
    between: Floats
    crossings: Floats

    def then(self, step: Chain) -> Chain:
        """Return this and one step more."""
        return Chain(*(one + other for one, other in zip(self, step, strict=True)))

    def at(self, place: Ints | int) -> Chain:
        """Return the chains at some places."""
        return Chain(*(one[place] for one in self))

    def later(self, other: Chain) -> Chain:
        """Return the one that ends later, place by place."""
        mine = self.every >= other.every
        return Chain(*(np.where(mine, a, b) for a, b in zip(self, other, strict=True)))


class Walk(NamedTuple):
    """The number of steps and the longest chain.

    Per byte of size, ``sent`` by the busiest chip inside its node, ``left`` the busiest node.
    """

    steps: int
    longest: Chain
    sent: float
    left: float


def walked(node: Node, rates: Rates, ranks: int, collective: Collective) -> Walk:
    """Return halving and doubling over ``ranks`` packed into nodes.

    A rank goes on once what it sent has left and what comes in has arrived.
    """
    built = schedule("halving_doubling", collective, ranks)
    ways = () if node.wiring is None else (node.ways(), node.ways(node.own))
    steps = [built.step(k) for k in range(built.steps)]
    ahead = _ahead(steps, Fold.of(ranks))
    here = np.arange(ranks) // node.chips
    done = first = Chain(*np.zeros((4, ranks)))
    sent, left = np.zeros(ranks), np.zeros(ranks)
    for number, (step, early) in enumerate(zip(steps, ahead, strict=True)):
        own = chosen(step, np.setdiff1d(np.arange(len(step.source)), early))
        played = own if number else together(own, *map(chosen, steps, ahead))
        amount, partner = _messages(played, ranks, built.chunks)
        away = here != partner // node.chips
        sent, left = sent + np.where(away, 0.0, amount), left + np.where(away, amount, 0.0)
        gone = done.then(_taken(node, ways, rates, amount, partner))
        first = first if number else gone
        done = _arrived(gone, gone, own.source, own.target)
        done = _arrived(done, first, step.source[early], step.target[early])
    last = int(done.every.argmax())
    return Walk(built.steps, done.at(last), float(sent.max()), float(np.bincount(here, left).max()))


def _messages(step: Step, ranks: int, chunks: int) -> tuple[Floats, Ints]:
    """Return what each rank sends, per byte of size, and to whom; itself where it is silent."""
    amount: Floats = np.zeros(ranks)
    np.add.at(amount, step.source, step.count / chunks)
    partner = np.arange(ranks)
    partner[step.source] = step.target
    return amount, partner


def _ahead(steps: list[Step], fold: Fold) -> list[Ints]:
    """Return which transfers of each step are sent while others are handed what they fold.

    Who stands in for nobody does not wait for that: what it sends to one who does, once its
    partners so far stood in for nobody either, shares the port with what is handed there.
    """
    free = np.arange(fold.core + fold.rest) >= 2 * fold.rest
    found = [np.zeros(0, np.int64) for _ in steps]
    if fold.rest:
        for number, step in enumerate(steps[1:], start=1):
            found[number] = np.flatnonzero(free[step.source] & ~free[step.target])
            free[step.source[~free[step.target]]] = False
    return found


def _arrived(done: Chain, sent: Chain, source: Ints, target: Ints) -> Chain:
    """Return the ranks done once what was sent to them has arrived, the last of it counting."""
    order = np.argsort(sent.every[source], kind="stable")
    latest = np.arange(len(done.every))
    latest[target[order]] = source[order]
    return done.later(sent.at(latest))


def _taken(
    node: Node, ways: tuple[Paths, ...], rates: Rates, amount: Floats, partner: Ints
) -> Chain:
    """Return how long what each rank sends to its partner in one step takes, all at once."""
    here = np.arange(len(partner)) // node.chips
    away = (here != partner // node.chips) & (amount > 0)
    within = np.where(away, 0.0, amount)
    out = np.where(away, amount, 0.0)
    if ways:
        every, own = _on_cables(node, ways, partner, within)
    else:
        every = own = _port(within, np.arange(len(partner)), partner) / rates.inside
    share = rates.share * np.bincount(here)
    leaves = np.bincount(here, out, len(share)) / share
    enters = np.bincount(here[partner], out, len(share)) / share
    with np.errstate(invalid="ignore"):
        most = _port(out, np.arange(len(partner)), partner) / rates.most
    between = np.maximum(np.maximum(leaves[here], enters[here[partner]]), most)
    between = np.where(away, between, 0.0)
    return Chain(
        np.where(away, between, every), np.where(away, 0.0, own), between, away.astype(np.float64)
    )


def _port(amount: Floats, source: Ints, target: Ints) -> Floats:
    """Return the bytes over the busier of the two ports of each message, 0 where none is sent."""
    into = np.bincount(target, amount, len(amount))
    return np.where(amount > 0, np.maximum(amount[source], into[target]), 0.0)


def _on_cables(
    node: Node, ways: tuple[Paths, ...], partner: Ints, amount: Floats
) -> tuple[Floats, ...]:
    """Return the seconds of each message over the busiest of its cables, for each of the ways."""
    rows = np.zeros((-(-len(partner) // node.chips), node.chips, 2))
    rows.reshape(-1, 2)[: len(partner)] = np.stack([partner % node.chips, amount], axis=1)
    kinds, which = np.unique(rows, axis=0, return_inverse=True)  # most nodes do alike
    spent = np.zeros((len(ways), len(kinds), node.chips))
    for kind, sent in enumerate(kinds):
        hops = {
            chip: list(pairwise(ways[0].between(chip, int(sent[chip, 0]))))
            for chip in np.flatnonzero(sent[:, 1]).tolist()
        }
        load: Counter[tuple[int, int]] = Counter()
        for chip, own in hops.items():
            for hop in own:
                load[hop] += sent[chip, 1]
        for place, way in enumerate(ways):
            for chip, own in hops.items():
                spent[place, kind, chip] = max(load[hop] / way.bandwidth(*hop) for hop in own)
    return tuple(each[which.ravel()].ravel()[: len(partner)] for each in spent)
