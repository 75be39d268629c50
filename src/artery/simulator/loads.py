"""The hottest links: their names, their load, who crosses them, and what relief would gain."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from artery.core.arrays import Floats
from artery.core.system import VertexGroup
from artery.native.work import PICOSECONDS, Longs
from artery.simulator.simulation import Simulation

MOST_REPLAYED = 1_000_000
"""Events, or links crossed by all paths, up to which a run is played again for single links."""

MOST_AGAIN = 3_000_000
"""The same for whole classes of links, of which there are few: half a second each."""


@dataclass(frozen=True, slots=True)
class LinkLoad:
    """One directed link.

    Its ends and class, bytes carried, seconds it was sending at its rate and the share of the run
    that this is, how many pairs of chips cross it and a few of them. ``gain`` is how many times
    faster all would be with that link doubled (``None``: not tried).
    """

    link: int
    name: str
    kind: str
    carried: int
    busy: float
    load: float
    crossers: int
    pairs: tuple[tuple[int, int], ...]
    gain: float | None = None


@dataclass(frozen=True, slots=True)
class HeldUp:
    """One directed link that full buffers behind it kept from sending what waited.

    For how many seconds, and the share of the run that this is.
    """

    link: int
    name: str
    kind: str
    seconds: float
    share: float


@dataclass(frozen=True, slots=True)
class Relief:
    """How many times faster all would be with every link of a class doubled."""

    kind: str
    gain: float


def hottest(
    simulation: Simulation, count: int = 10, pairs: int = 4, *, relieved: int = 0
) -> tuple[LinkLoad, ...]:
    """Return the ``count`` links that send longest, hottest first.

    For the first ``relieved`` of them the run is played again with the link doubled.
    """
    wires = simulation.network
    busy = busy_seconds(simulation)
    many = min(count, int(np.count_nonzero(busy)))
    if not many:
        return ()
    order = _longest(busy, many)
    ends = wires.edges()
    tried = relieved if _size(simulation) <= MOST_REPLAYED else 0
    usual = simulation.replay(wires.rate) if tried else 0.0
    found = []
    for rank, link in enumerate(order.tolist()):
        who = _crossers(simulation, link)
        near, far = int(ends.source[link]), int(ends.target[link])
        found.append(
            LinkLoad(
                link=link,
                name=_named(wires.groups, near, far),
                kind=wires.links[int(wires.kind[link])].name,
                carried=int(simulation.carried[link]),
                busy=float(busy[link]),
                load=float(busy[link] / simulation.seconds) if simulation.seconds else 0.0,
                crossers=len(who),
                pairs=tuple((int(a), int(b)) for a, b in who[:pairs]),
                gain=_gain(simulation, usual, np.array([link])) if rank < tried else None,
            )
        )
    return tuple(found)


def _longest(busy: Floats, many: int) -> Longs:
    """Return the ``many`` links that send longest, longest first, of equal ones the first.

    Of a symmetric network's links half a million may be equal: to choose among them by
    ``argpartition`` would take long, and end with others on each kind of processor.
    """
    place = len(busy) - many
    least = np.partition(busy, place)[place]
    above, equal = np.flatnonzero(busy > least), np.flatnonzero(busy == least)
    top = np.concatenate([above, equal[: many - len(above)]])
    return top[np.lexsort((top, -busy[top]))]


def held_up(simulation: Simulation, count: int = 5) -> tuple[HeldUp, ...]:
    """Return the ``count`` links that flow control held up longest, longest first."""
    if simulation.idle is None or not simulation.seconds:
        return ()
    wires, ends = simulation.network, simulation.network.edges()
    order = np.argsort(-simulation.idle, kind="stable")[:count]
    return tuple(
        HeldUp(
            link=link,
            name=_named(wires.groups, int(ends.source[link]), int(ends.target[link])),
            kind=wires.links[int(wires.kind[link])].name,
            seconds=float(simulation.idle[link]) / PICOSECONDS,
            share=float(simulation.idle[link]) / PICOSECONDS / simulation.seconds,
        )
        for link in order.tolist()
        if simulation.idle[link]
    )


def _named(groups: tuple[VertexGroup, ...], near: int, far: int) -> str:
    """Return a link by its two ends."""
    return f"{vertex(groups, near)} -> {vertex(groups, far)}"


def relief(simulation: Simulation) -> tuple[Relief, ...]:
    """Return what doubling each class of link that carries anything would gain, best first.

    Nothing where playing it again would take long.
    """
    wires = simulation.network
    used = np.unique(wires.kind[simulation.carried > 0]).tolist()
    kinds: dict[str, list[int]] = {}
    for kind in used:
        kinds.setdefault(wires.links[kind].name, []).append(kind)
    if _size(simulation) > MOST_AGAIN:
        return ()
    usual = simulation.replay(wires.rate)
    found = [
        Relief(name, _gain(simulation, usual, np.flatnonzero(np.isin(wires.kind, alike))))
        for name, alike in kinds.items()
    ]
    return tuple(sorted(found, key=lambda one: -one.gain))


def busy_seconds(simulation: Simulation) -> Floats:
    """Return how long each link was sending, in seconds."""
    return np.asarray(simulation.carried / np.maximum(simulation.network.rate, 1))


def _size(simulation: Simulation) -> int:
    """Return what playing again costs: events, or links crossed."""
    if simulation.between is not None:
        return simulation.replayed
    return max(simulation.events, len(simulation.routed.link))


def _gain(simulation: Simulation, usual: float, links: NDArray[np.int64]) -> float:
    """Return how many times faster all is with some links doubled."""
    rate = simulation.network.rate.copy()
    rate[links] *= 2
    after = simulation.replay(rate)
    return usual / after if after > 0 else 1.0


def _crossers(simulation: Simulation, link: int) -> NDArray[np.int64]:
    """Return the pairs of chips whose paths cross a link, each once; sums of switches have none."""
    routed, pairs = simulation.routed, simulation.pairs
    link, shift = (link, 0) if simulation.alike is None else simulation.alike.played(link)
    place = np.flatnonzero(routed.link == link)
    path = np.searchsorted(routed.start, place, side="right") - 1
    pair = np.searchsorted(routed.first, path, side="right") - 1
    both = np.stack([pairs.source[pair], pairs.target[pair]], axis=1)
    both = both[(both < simulation.network.groups[0].count).all(axis=1)]
    return np.asarray(np.unique(both, axis=0) + shift)


def vertex(groups: tuple[VertexGroup, ...], number: int) -> str:
    """Return a vertex by its group and its place in it: ``leaf 3``, ``chip 17``."""
    firsts = [0, *accumulate(group.count for group in groups)]
    index = bisect_right(firsts, number) - 1
    return groups[index].called(number - firsts[index])
