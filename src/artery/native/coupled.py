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
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from artery.errors import UsageError
from artery.native.fluid import NO_CHANGES, Flowed, fluid
from artery.native.gates import at_times
from artery.native.work import MAX_RATE, PICOSECONDS, Ints, Links, Longs, Transfers, Work

Number = TypeVar("Number", np.int32, np.int64, np.uint64, np.float64)

CHUNK: Final = 2**18
"""Crossings looked at together: more would take memory, fewer time."""
_BESIDE, _BELOW = 1, 2
"""Roles of a wave beside standing alone (0)."""
_FEW: Final = 4096
"""Crossings up to which it does not pay to look for links that are alike."""
SLACK: Final = 1e-9
"""A link filled to less than 1 - SLACK by all that could ever come is no bottleneck."""


@dataclass(frozen=True, slots=True)
class Pipelines:
    """Pipes p: bytes that flow over edges, in waves.

    Edge e crosses ``link[start[e]:start[e + 1]]``. Wave w is edges ``wave[w]`` to
    ``wave[w + 1] - 1``, pipe p waves ``pipe[p]`` to ``pipe[p + 1] - 1`` one after the other
    (a ring: one; a tree up and down: two). ``toward[e]`` is the next edge to the root of a tree
    (-1: none), in both of its waves.
    A tree whose nodes are alike inside may have one of them for all: of its waves the second then
    continues the first (``role`` 1: edges that lead into it) and the third (2) hangs once below
    every edge of the first; absent, all stand alone (0).
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
    role: Longs | None = None


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
    """How many edges of some pipes cross which links.

    Of pipe ``first + p``, ``count[i]`` edges cross ``link[i]``, for i from ``start[p]`` to
    ``start[p + 1]`` - 1.
    """

    first: int
    start: Longs
    link: Ints
    count: Ints

    @property
    def pipes(self) -> slice:
        """Which pipes these are."""
        return slice(self.first, self.first + self.start.size - 1)

    @property
    def alone(self) -> bool:
        """Whether it is one pipe, so that no link is here twice."""
        return self.start.size == 2

    @property
    def owner(self) -> Longs:
        """To which pipe each entry belongs, from 0."""
        return np.repeat(np.arange(self.start.size - 1), np.diff(self.start))


def coupled(links: Links, pipes: Pipelines) -> Steady:
    """Return how long each pipe takes beside the others.

    O(crossings·log crossings), and little memory beside the paths. A time of -1: never, or not
    in 46 days. Raises ``UsageError`` where the arrays do not fit together.
    """
    _check(links, pipes)
    loads = [_load(pipes, part, links.rate.size) for part in _chunks(pipes)]
    count = pipes.amount.size
    carried: Longs = np.zeros(links.rate.size, np.int64)
    crossings: Longs = np.zeros(count, np.int64)
    fill = np.zeros(count, np.int64)
    for load in loads:
        amount = pipes.amount[load.pipes]
        each: Longs = amount if load.alone else amount[load.owner]
        bytes_: Longs = np.multiply(load.count, each, dtype=np.int64)
        _add(carried, load.link, bytes_, unique=load.alone)
        crossings[load.pipes] = _extreme(np.maximum, load.count, load.start, 0)
        fill[load.pipes] = _fill(links, pipes, load)
    release = np.zeros(count, np.int64) if pipes.release is None else pipes.release
    flowed = _flow(links, pipes, loads, release)
    sent = flowed.played.sent
    flow = np.where(sent < 0, -1, sent - release) if sent is not None else release
    follows = flow * ((pipes.behind - pipes.segment) / np.maximum(pipes.amount, 1))
    time = np.maximum(flow, fill + np.ceil(follows).astype(np.int64))
    time = np.where(flow < 0, -1, np.where(pipes.amount == 0, 0, time))
    return Steady(time, fill, flow, carried, crossings, flowed)


def _chunks(pipes: Pipelines) -> list[slice]:
    """Return the pipes in runs of about ``CHUNK`` crossings, to save memory."""
    ends = pipes.start[pipes.wave[pipes.pipe]]
    cuts = [0]
    while cuts[-1] < ends.size - 1:
        reach = int(np.searchsorted(ends, ends[cuts[-1]] + CHUNK, side="right")) - 1
        cuts.append(max(reach, cuts[-1] + 1))
    return [slice(*pair) for pair in pairwise(cuts)]


def _load(pipes: Pipelines, part: slice, links: int) -> _Load:
    """Count the crossings of each link, by sorting them."""
    ends = pipes.start[pipes.wave[pipes.pipe[part.start : part.stop + 1]]]
    crossed = pipes.link[ends[0] : ends[-1]]
    if ends.size == 2:
        link, count = _counted(crossed)
        start = np.array([0, link.size])
    else:
        owner = np.repeat(np.arange(ends.size - 1), np.diff(ends))
        names, count = _counted(owner * links + crossed)
        owner, link = np.divmod(names, links)
        start = np.searchsorted(owner, np.arange(ends.size)).astype(np.int64)
    return _Load(part.start, start, link.astype(np.int32), count.astype(np.int32))


def _counted(values: NDArray[Number]) -> tuple[NDArray[Number], Longs]:
    """Return the distinct values in order, and how often each is there."""
    ordered = np.sort(values)
    fresh = np.ones(ordered.size, np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=fresh[1:])
    first = np.flatnonzero(fresh)
    return ordered[first], np.diff(first, append=ordered.size)


def _bottlenecks(links: Links, loads: list[_Load]) -> list[NDArray[np.intp]]:
    """Return which links of each pipe can hold it back, as places in the load.

    Alone on its links, pipe p would have rate a_p, the least of rate / count. A link that
    would not be full if every pipe on it had that never is; of those that one pipe has to
    itself only the tightest matters. So the answer stays exact.
    """
    crossers, most = np.zeros(links.rate.size, np.int32), np.zeros(links.rate.size)
    for load in loads:
        ones = np.ones(load.link.size, np.int32)
        _add(crossers, load.link, ones, unique=load.alone)
    shared = [np.flatnonzero(crossers[load.link] > 1) for load in loads]
    tightest = []
    for load, some in zip(loads, shared, strict=True):
        room = links.rate[load.link] / load.count
        least = _extreme(np.minimum, room, load.start, np.inf)
        if load.alone:
            tight, each = np.flatnonzero(room == least)[:1], least
        else:
            owner = load.owner
            tight = np.flatnonzero(room == least[owner])
            tight, each = tight[np.diff(owner[tight], prepend=-1) > 0], least[owner[some]]
        tightest.append(tight)
        _add(most, load.link[some], load.count[some] * each, unique=load.alone)
    kept = []
    for load, some, first in zip(loads, shared, tightest, strict=True):
        link = load.link[some]
        narrow = np.zeros(load.link.size, np.bool_)
        narrow[some] = most[link] >= links.rate[link] * (1 - SLACK)
        narrow[np.array(first, np.intp)] = True
        kept.append(np.flatnonzero(narrow))
    return kept


def _flow(links: Links, pipes: Pipelines, loads: list[_Load], release: Longs) -> Flowed:
    """Let the pipes flow over the links that can hold them back."""
    kept = _distinct(links, loads, _bottlenecks(links, loads))
    both = list(zip(loads, kept, strict=True))
    nothing = np.zeros(0, np.int32)
    link = np.concatenate([nothing, *(load.link[some] for load, some in both)])
    count = np.concatenate([nothing, *(load.count[some] for load, some in both)])
    owner = np.concatenate([nothing, *(load.first + load.owner[some] for load, some in both)])
    start = np.searchsorted(owner, np.arange(pipes.amount.size + 1)).astype(np.int64)
    names, place = np.unique(link, return_inverse=True)
    narrow = Links(links.rate[names], np.zeros(names.size, np.int64))
    transfers = Transfers(
        pipes.amount, np.arange(pipes.amount.size, dtype=np.int32), start, place.astype(np.int32)
    )
    work = Work(narrow, transfers, at_times(release))
    return fluid(work, NO_CHANGES, count.astype(np.float64))


def _distinct(
    links: Links, loads: list[_Load], kept: list[NDArray[np.intp]]
) -> list[NDArray[np.intp]]:
    """Return the places in the loads without links that do what another one does.

    Links of one rate that the same pipes cross as often are full at the same time: one of them is
    enough. They are told apart by a sum of 64 mixed bits for each crossing; that two of a million
    different ones have the same has a chance of 3e-8.
    """
    if sum(some.size for some in kept) < _FEW:
        return kept
    sign = np.zeros(links.rate.size, np.uint64)
    for load, some in zip(loads, kept, strict=True):
        owner = (load.first + load.owner[some]).astype(np.uint64)
        crossing = _mixed(owner << np.uint64(32) | load.count[some].astype(np.uint64))
        _add(sign, load.link[some], crossing, unique=load.alone)
    names = np.flatnonzero(sign)
    mixed = sign[names] + _mixed(links.rate[names].astype(np.uint64))
    kinds = np.sort(mixed)
    kinds = kinds[np.concatenate([[True], kinds[1:] != kinds[:-1]])]
    first = np.zeros(kinds.size, np.int64)
    first[np.searchsorted(kinds, mixed)] = names
    chosen = np.zeros(links.rate.size, np.bool_)
    chosen[first] = True
    return [some[chosen[load.link[some]]] for load, some in zip(loads, kept, strict=True)]


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return 64 mixed bits for each value (the finaliser of SplitMix64; Steele et al., 2014)."""
    mixed = values + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ mixed >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ mixed >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return mixed ^ mixed >> np.uint64(31)


def _fill(links: Links, pipes: Pipelines, load: _Load) -> Longs:
    """Return what the first segment of each pipe takes from end to end, ps."""
    wave = pipes.pipe[load.first : load.pipes.stop + 1]
    edge = pipes.wave[wave]
    edges, depth = slice(int(edge[0]), int(edge[-1])), pipes.depth[load.pipes]
    segment = np.repeat(pipes.segment[load.pipes], np.diff(edge))
    sending = _sending(links, pipes, edges, segment)
    latency = _sums(load.count * links.latency[load.link], load.start)
    count = np.maximum(np.diff(edge), 1)
    whole, rest = np.divmod(latency + _sums(sending, edge - edge[0]), count)
    fill: Longs = whole * depth - (-rest * depth // count)
    if pipes.toward is not None and not depth.all():
        hop = sending + _latency(links, pipes, edges)
        toward = pipes.toward[edges]
        total = _to_the_root(hop, np.where(toward < 0, -1, toward - edges.start))
        begin = pipes.wave[wave[0] : wave[-1] + 1] - edges.start
        longest = _extreme(np.maximum, total, begin, 0)
        if pipes.role is not None:
            longest = _hung(longest, pipes.role[wave[0] : wave[-1]])
        fill = np.where(depth == 0, _sums(longest, wave - wave[0]), fill)
    return fill


def _hung(longest: Longs, role: Longs) -> Longs:
    """Return what each wave adds, that of a folded tree being all of it.

    Each edge of its first wave has the third below it, and some the second.
    """
    added = np.where(role == 0, longest, 0)
    first = np.flatnonzero(role == _BELOW) - 2
    added[first] = np.maximum(longest[first] + longest[first + 2], longest[first + 1])
    return added


def _crossed(pipes: Pipelines, edges: slice) -> tuple[Ints, Longs]:
    """Return the links that the edges cross and where each edge begins among them."""
    start = pipes.start[edges.start : edges.stop + 1]
    return pipes.link[start[0] : start[-1]], start - start[0]


def _sending(links: Links, pipes: Pipelines, edges: slice, segment: Longs) -> Longs:
    """Return how long the slowest link of each edge takes for one segment, ps."""
    crossed, start = _crossed(pipes, edges)
    slowest = _extreme(np.minimum, links.rate[crossed], start, MAX_RATE)
    sending: Longs = np.ceil(segment * (PICOSECONDS / slowest)).astype(np.int64)
    return np.where(np.diff(start) > 0, sending, 0)


def _latency(links: Links, pipes: Pipelines, edges: slice) -> Longs:
    """Return the latency of each edge, ps."""
    crossed, start = _crossed(pipes, edges)
    return _sums(links.latency[crossed], start)


def _to_the_root(hop: Longs, toward: Longs) -> Longs:
    """Return the sum of hops from each edge to the root, doubling the stride each time."""
    total, ahead = np.append(hop, 0), np.append(toward, -1)
    while (ahead >= 0).any():
        total, ahead = total + total[ahead], ahead[ahead]
    return total[:-1]


def _add(table: NDArray[Number], place: Ints, values: NDArray[Number], *, unique: bool) -> None:
    """Add ``values`` to the places of ``table``; faster where no place is there twice."""
    if unique:
        table[place] += values
    else:
        np.add.at(table, place, values)


def _sums(values: Longs, start: Longs) -> Longs:
    """Return the sum of each run of values, 0 for an empty one."""
    total = np.concatenate([[0], np.cumsum(values)])
    sums: Longs = np.diff(total[start])
    return sums


def _extreme(of: np.ufunc, values: NDArray[Number], start: Longs, empty: float) -> NDArray[Number]:
    """Return the extreme of each run of values, ``empty`` for an empty one."""
    runs = np.diff(start) > 0
    result = np.full(runs.size, empty, values.dtype)
    if runs.any():
        result[runs] = of.reduceat(values, start[:-1][runs])
    return result


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
        ("role", pipes.role, waves),
    ):
        if array is not None and array.size != length:
            raise UsageError(f"{name}: {array.size} entries, must be {length}")
    if ((pipes.depth > 0) & (np.diff(pipes.pipe) != 1)).any():
        raise UsageError("depth: a ring is one wave")
    if ((pipes.depth == 0) & (pipes.amount > 0)).any() and pipes.toward is None:
        raise UsageError("toward: needed for trees")
    if pipes.role is not None and not _threes(pipes.role):
        raise UsageError("role: 1 and 2 must follow a 0 in this order")
    if (pipes.segment > pipes.behind).any() or (pipes.segment < 0).any():
        raise UsageError("segment: must be from 0 to what comes behind it")


def _threes(role: Longs) -> bool:
    """Whether each wave that continues another and each that hangs are where they must be."""
    beside, below = np.flatnonzero(role == _BESIDE), np.flatnonzero(role == _BELOW)
    if not np.array_equal(beside + 1, below) or (beside < 1).any():
        return False
    return bool((role[beside - 1] == 0).all())
