"""Pipelined collectives as one variable each: what all their edges share is their rate.

All edges of a ring or a tree pass on the same bytes at the same rate r, so that a pipe takes
count·r of a link that count of its edges cross, and the network of a hundred thousand flows
becomes one of a few variables. They flow at their max-min fair rates (``artery.native.fluid``).
With hop = latency + segment / bandwidth of one edge, a pipe of ``amount`` bytes per edge takes

    time = max(amount / r, fill + (behind - segment) / r)

- fill: what the first segment takes from end to end: depth · mean hop round a ring, the
  longest chain of hops up and down a tree;
- behind: the bytes that follow it through the same door: a ring's chunk, all of a tree's.

For a ring in whole chunks c = behind = segment this is depth · max(c / r, mean hop), the greatest
cycle mean of its max-plus recurrence (Baccelli et al., *Synchronization and Linearity*, 1992,
theorem 3.23): all steps of a rank use one port, and the n hops of one round follow each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from artery.errors import UsageError
from artery.native.fluid import NO_CHANGES, Flowed, fluid
from artery.native.gates import at_times
from artery.native.work import PICOSECONDS, Ints, Links, Longs, Transfers, Work

SLACK = 1e-9
"""A link filled to less than 1 - SLACK by all that could ever come is no bottleneck."""


@dataclass(frozen=True, slots=True)
class Pipelines:
    """Pipes p: bytes that flow over edges, in waves.

    Edge e crosses ``link[start[e]:start[e + 1]]``. Wave w is edges ``wave[w]`` to
    ``wave[w + 1] - 1``, pipe p waves ``pipe[p]`` to ``pipe[p + 1] - 1`` one after the other
    (a ring: one; a tree up and down: two). ``toward[e]`` is the next edge to the root of a tree
    (-1: none), in both of its waves.
    By pipe: ``depth`` is how many edges of a ring the first byte crosses in turn (0: no ring but
    a tree); ``amount`` crosses each edge in all, ``behind`` follows the first segment through
    the same door, ``segment`` is what is passed on as one (bytes); ``release`` is when it
    starts (ps, absent: 0).
    """

    start: Longs
    link: Ints
    wave: Longs
    pipe: Longs
    depth: Longs
    amount: Longs
    behind: Longs
    segment: Longs
    toward: Longs | None = None
    release: Longs | None = None


@dataclass(frozen=True, slots=True)
class Steady:
    """What came out, by pipe: ``time`` from release to end and ``fill`` of the first segment, ps.

    ``flow`` is amount / r with what r was on the average (ps), ``bytes`` is what crosses each
    link (int64[links]), ``crossings`` the greatest number of edges of a pipe on one link, and
    ``flowed`` the rates' own account.
    """

    time: Longs
    fill: Longs
    flow: Longs
    bytes: Longs
    crossings: Longs
    flowed: Flowed


@dataclass(frozen=True, slots=True)
class _Load:
    """Which links a pipe crosses, and how many of its edges cross each."""

    link: Longs
    count: Longs


def coupled(links: Links, pipes: Pipelines) -> Steady:
    """Return how long each pipe takes beside the others.

    O(crossings + links of each pipe), and little memory beside the paths. A time of -1: never, or
    not in 46 days. Raises ``UsageError`` where the arrays do not fit together.
    """
    _check(links, pipes)
    loads = [_load(part, links.rate.size) for part in _parts(pipes)]
    carried = np.zeros(links.rate.size, np.int64)
    for load, amount in zip(loads, pipes.amount.tolist(), strict=True):
        carried[load.link] += load.count * amount
    release = pipes.release
    release = np.zeros(pipes.amount.size, np.int64) if release is None else release
    flowed = _flow(links, pipes, loads, release)
    sent = flowed.played.sent
    flow = np.where(sent < 0, -1, sent - release) if sent is not None else release
    fill = _fill(links, pipes, loads)
    follows = flow * ((pipes.behind - pipes.segment) / np.maximum(pipes.amount, 1))
    time = np.maximum(flow, fill + np.ceil(follows).astype(np.int64))
    time = np.where(flow < 0, -1, np.where(pipes.amount == 0, 0, time))
    crossings = np.array([int(load.count.max(initial=0)) for load in loads], np.int64)
    return Steady(time, fill, flow, carried, crossings, flowed)


def _parts(pipes: Pipelines) -> list[Ints]:
    """Return the links that the edges of each pipe cross, with repetitions."""
    ends = pipes.start[pipes.wave[pipes.pipe]]
    return [pipes.link[a:b] for a, b in pairwise(ends)]


def _load(crossed: Ints, links: int) -> _Load:
    """Count the crossings of each link: by a table if they are many, else by sorting."""
    if crossed.size * 16 < links:
        names, count = np.unique(crossed, return_counts=True)
        return _Load(names.astype(np.int64), count.astype(np.int64))
    table = np.bincount(crossed, minlength=links)
    found = np.flatnonzero(table)
    return _Load(found, table[found])


def _bottlenecks(links: Links, loads: list[_Load]) -> list[NDArray[np.intp]]:
    """Return which links of each pipe can hold it back, as places in its load.

    Alone on its links, pipe p would have rate a_p, the least of rate / count. A link that
    would not be full if every pipe on it had that never is; of those that one pipe has to
    itself only the tightest matters. So the answer stays exact.
    """
    crossers = np.zeros(links.rate.size, np.int16)
    for load in loads:
        crossers[load.link] += 1
    shared = [np.flatnonzero(crossers[load.link] > 1) for load in loads]
    most, tightest = np.zeros(links.rate.size), []
    for load, some in zip(loads, shared, strict=True):
        room = links.rate[load.link] / load.count
        tightest.append([room.argmin()] if room.size else [])
        most[load.link[some]] += load.count[some] * room.min(initial=np.inf)
    kept = []
    for load, some, first in zip(loads, shared, tightest, strict=True):
        link = load.link[some]
        kept.append(np.union1d(some[most[link] >= links.rate[link] * (1 - SLACK)], first))
    return kept


def _flow(links: Links, pipes: Pipelines, loads: list[_Load], release: Longs) -> Flowed:
    """Let the pipes flow over the links that can hold them back."""
    kept = _bottlenecks(links, loads)
    link = np.concatenate([load.link[some] for load, some in zip(loads, kept, strict=True)])
    count = np.concatenate([load.count[some] for load, some in zip(loads, kept, strict=True)])
    start = np.cumsum([0, *(some.size for some in kept)])
    names, place = np.unique(link, return_inverse=True)
    narrow = Links(links.rate[names], np.zeros(names.size, np.int64))
    transfers = Transfers(
        pipes.amount, np.arange(pipes.amount.size, dtype=np.int32), start, place.astype(np.int32)
    )
    work = Work(narrow, transfers, at_times(release))
    return fluid(work, NO_CHANGES, count.astype(np.float64))


def _fill(links: Links, pipes: Pipelines, loads: list[_Load]) -> Longs:
    """Return what the first segment of each pipe takes from end to end, ps."""
    fill = np.zeros(pipes.amount.size, np.int64)
    for p, load in enumerate(loads):
        depth = int(pipes.depth[p])
        for w in range(int(pipes.pipe[p]), int(pipes.pipe[p + 1])):
            edges = slice(int(pipes.wave[w]), int(pipes.wave[w + 1]))
            sending = _sending(links, pipes, edges, int(pipes.segment[p]))
            if depth and sending.size:
                total = int(load.count @ links.latency[load.link]) + int(sending.sum())
                fill[p] += -(-total * depth // sending.size)
            elif pipes.toward is not None:
                hop = sending + _latency(links, pipes, edges)
                fill[p] += _longest(hop, pipes.toward[edges] - edges.start)
    return fill


def _crossed(pipes: Pipelines, edges: slice) -> tuple[Ints, Longs]:
    """Return the links that the edges cross and where each edge begins among them."""
    start = pipes.start[edges.start : edges.stop + 1]
    return pipes.link[start[0] : start[-1]], start - start[0]


def _sending(links: Links, pipes: Pipelines, edges: slice, segment: int) -> Longs:
    """Return how long the slowest link of each edge takes for one segment, ps."""
    crossed, start = _crossed(pipes, edges)
    walks = start[1:] > start[:-1]
    taken = np.zeros(walks.size, np.int64)
    if walks.any():
        slowest = np.minimum.reduceat(links.rate[crossed], start[:-1][walks])
        taken[walks] = np.ceil(segment * (PICOSECONDS / slowest))
    return taken


def _latency(links: Links, pipes: Pipelines, edges: slice) -> Longs:
    """Return the latency of each edge, ps."""
    crossed, start = _crossed(pipes, edges)
    total = np.concatenate([[0], np.cumsum(links.latency[crossed])])
    latency: Longs = np.diff(total[start])
    return latency


def _longest(hop: Longs, toward: Longs) -> int:
    """Return the greatest sum of hops on the way to a root, doubling the stride each time."""
    total, ahead = np.append(hop, 0), np.append(np.where(toward < 0, -1, toward), -1)
    while (ahead >= 0).any():
        total, ahead = total + total[ahead], ahead[ahead]
    return int(total.max())


def _check(links: Links, pipes: Pipelines) -> None:
    """Raise ``UsageError`` where the arrays do not fit together."""
    edges, waves, count = pipes.start.size - 1, pipes.wave.size - 1, pipes.amount.size
    for name, rises, end in (
        ("start", pipes.start, pipes.link.size),
        ("wave", pipes.wave, edges),
        ("pipe", pipes.pipe, waves),
    ):
        if not rises.size or rises[0] != 0 or rises[-1] != end or (np.diff(rises) < 0).any():
            raise UsageError(f"{name}: must rise from 0 to {end}")
    if pipes.link.size and not 0 <= pipes.link.min() <= pipes.link.max() < links.rate.size:
        raise UsageError("link: must be a link's number")
    for name, array, length in (
        ("depth", pipes.depth, count),
        ("pipe", pipes.pipe, count + 1),
        ("behind", pipes.behind, count),
        ("segment", pipes.segment, count),
        ("release", pipes.release, count),
        ("toward", pipes.toward, edges),
    ):
        if array is not None and array.size != length:
            raise UsageError(f"{name}: {array.size} entries, must be {length}")
    if ((pipes.depth > 0) & (np.diff(pipes.pipe) != 1)).any():
        raise UsageError("depth: a ring is one wave")
    if ((pipes.depth == 0) & (pipes.amount > 0)).any() and pipes.toward is None:
        raise UsageError("toward: needed for trees")
    if (pipes.segment > pipes.behind).any() or (pipes.segment < 0).any():
        raise UsageError("segment: must be from 0 to what comes behind it")
