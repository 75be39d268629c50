"""The twin of coupled.c: what pipes cross, how long they fill, and what can hold them back."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from artery.errors import UsageError
from artery.native.pipelines import ALONE, BELOW, BESIDE, Pipelines
from artery.native.work import MAX_RATE, PICOSECONDS, Ints, Links, Longs

Number = TypeVar("Number", np.int32, np.int64, np.uint64, np.float64)

CHUNK: Final = 2**18
"""Crossings looked at together: more would take memory, fewer time."""
LONGEST: Final = 2.0**62
"""ps: nothing takes longer."""
NO_TREE: Final = "toward: must lead to a root within its wave"


@dataclass(frozen=True, slots=True)
class Crossed:
    """How many edges of each pipe cross which links.

    Of pipe p, ``count[i]`` edges cross ``link[i]``, for i from ``first[p]`` to ``first[p + 1]`` -
    1, in no order. ``carried`` is bytes by link; by pipe, ``crossings`` is the greatest count and
    ``fill`` what the first segment takes from end to end, ps.
    """

    first: Longs
    link: Ints
    count: Ints
    carried: Longs
    crossings: Longs
    fill: Longs

    @property
    def owner(self) -> Longs:
        """To which pipe each entry belongs."""
        return np.repeat(np.arange(self.first.size - 1), np.diff(self.first))


def crossed(links: Links, pipes: Pipelines) -> Crossed:
    """Return what the pipes cross. Raises ``UsageError`` for a tree that leads nowhere."""
    parts = [_counted(pipes, part, links.rate.size) for part in _chunks(pipes)]
    none = np.zeros(0, np.int32)
    link = np.concatenate([none, *(one for _, one, _ in parts)])
    count = np.concatenate([none, *(one for _, _, one in parts)])
    sizes = np.concatenate([none, *(one for one, _, _ in parts)])
    first = np.concatenate([[0], np.cumsum(sizes)])
    carried = np.zeros(links.rate.size, np.int64)
    np.add.at(carried, link, count * np.repeat(pipes.amount, sizes))
    crossings = _extreme(np.maximum, count, first, 0).astype(np.int64)
    fills = [_fill(links, pipes, part) for part in _chunks(pipes)]
    fill: Longs = np.concatenate([np.zeros(0, np.int64), *fills])
    return Crossed(first, link, count, carried, crossings, fill)


def narrow(links: Links, found: Crossed, full: float, few: int) -> NDArray[np.bool_]:
    """Return which entries can hold their pipe back (see ``coupled``)."""
    link, count, owner = found.link, found.count, found.owner
    shared = np.bincount(link, minlength=links.rate.size)[link] > 1
    room = links.rate[link] / count
    least = _extreme(np.minimum, room, found.first, np.inf)
    tight = np.flatnonzero(room == least[owner])
    tight = tight[np.lexsort((link[tight], owner[tight]))]
    keep = np.zeros(link.size, np.bool_)
    keep[tight[np.diff(owner[tight], prepend=-1) > 0]] = True
    most = np.zeros(links.rate.size)
    np.add.at(most, link[shared], count[shared] * least[owner[shared]])
    keep |= shared & (most[link] >= links.rate[link] * full)
    if np.count_nonzero(keep) >= few:
        keep &= _distinct(links, found, keep)[link]
    return keep


def _chunks(pipes: Pipelines) -> list[slice]:
    """Return the pipes in runs of about ``CHUNK`` crossings."""
    ends = pipes.start[pipes.wave[pipes.pipe]]
    cuts = [0]
    while cuts[-1] < ends.size - 1:
        reach = int(np.searchsorted(ends, ends[cuts[-1]] + CHUNK, side="right")) - 1
        cuts.append(max(reach, cuts[-1] + 1))
    return [slice(*pair) for pair in pairwise(cuts)]


def _counted(pipes: Pipelines, part: slice, links: int) -> tuple[Longs, Ints, Ints]:
    """Return by pipe how many links it crosses, which, and how often."""
    ends = pipes.start[pipes.wave[pipes.pipe[part.start : part.stop + 1]]]
    owner = np.repeat(np.arange(ends.size - 1), np.diff(ends))
    crossing = owner * links + pipes.link[ends[0] : ends[-1]]
    names, count = np.unique(crossing, return_counts=True)
    owner, link = np.divmod(names, links)
    sizes = np.bincount(owner, minlength=ends.size - 1)
    return sizes, link.astype(np.int32), count.astype(np.int32)


def _distinct(links: Links, found: Crossed, keep: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return one link for each kind: those that the same pipes cross as often, at one rate."""
    sign = np.zeros(links.rate.size, np.uint64)
    owner = found.owner[keep].astype(np.uint64)
    crossing = _mixed(owner << np.uint64(32) | found.count[keep].astype(np.uint64))
    np.add.at(sign, found.link[keep], crossing)
    names = np.flatnonzero(sign)
    kinds = sign[names] + _mixed(links.rate[names].astype(np.uint64))
    _, last = np.unique(kinds[::-1], return_index=True)
    chosen = np.zeros(links.rate.size, np.bool_)
    chosen[names[::-1][last]] = True
    return chosen


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return 64 mixed bits for each value (the finaliser of SplitMix64; Steele et al., 2014)."""
    mixed = values + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ mixed >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ mixed >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return mixed ^ mixed >> np.uint64(31)


def _fill(links: Links, pipes: Pipelines, part: slice) -> Longs:
    """Return what the first segment of each pipe takes from end to end, ps."""
    wave = pipes.pipe[part.start : part.stop + 1]
    edge = pipes.wave[wave]
    depth = pipes.depth[part]
    hop = _hops(links, pipes, slice(int(edge[0]), int(edge[-1])), part)
    count = np.maximum(np.diff(edge), 1)
    whole, rest = np.divmod(_sums(hop, edge - edge[0]), count)
    fill: Longs = whole * depth - (-rest * depth // count)
    if pipes.toward is not None and not depth.all():
        fill = np.where(depth == 0, _chains(pipes, wave, hop), fill)
    return fill


def _hops(links: Links, pipes: Pipelines, edges: slice, part: slice) -> Longs:
    """Return what each edge takes for the first segment: the slowest link sends, all delay."""
    start = pipes.start[edges.start : edges.stop + 1]
    across = pipes.link[start[0] : start[-1]]
    start = start - start[0]
    of = pipes.wave[pipes.pipe[part.start : part.stop + 1]]
    segment = np.repeat(pipes.segment[part], np.diff(of))
    slowest = np.maximum(_extreme(np.minimum, links.rate[across], start, MAX_RATE), 1)
    sending = np.minimum(np.ceil(segment * (PICOSECONDS / slowest)), LONGEST).astype(np.int64)
    hop: Longs = np.where(np.diff(start) > 0, sending, 0) + _sums(links.latency[across], start)
    return hop


def _chains(pipes: Pipelines, wave: Longs, hop: Longs) -> Longs:
    """Return by pipe the longest chains of its waves, one after the other."""
    begin = pipes.wave[wave[0] : wave[-1] + 1]
    role = None if pipes.role is None else pipes.role[wave[0] : wave[-1]]
    total = _to_the_root(hop, _within(pipes, begin, role))
    longest = _extreme(np.maximum, total, begin - begin[0], 0)
    if role is not None:
        longest = _hung(longest, role)
    return _sums(longest, wave - wave[0])


def _within(pipes: Pipelines, begin: Longs, role: Longs | None) -> Longs:
    """Return ``toward`` counted from the first edge; a wave leads to the one that it continues."""
    if pipes.toward is None:
        raise UsageError("toward: needed for trees")
    toward = np.maximum(pipes.toward[begin[0] : begin[-1]], -1)
    back = 0 if role is None else (role == BESIDE).astype(np.int64)
    least = begin[np.arange(begin.size - 1) - back]
    least, end = np.repeat(least, np.diff(begin)), np.repeat(begin[1:], np.diff(begin))
    if ((toward >= 0) & ((toward < least) | (toward >= end))).any():
        raise UsageError(NO_TREE)
    return np.where(toward < 0, -1, toward - begin[0])


def _hung(longest: Longs, role: Longs) -> Longs:
    """Return what each wave adds, that of a folded tree being all of it.

    Each edge of its first wave has the third below it, and some the second.
    """
    added = np.where(role == ALONE, longest, 0)
    first = np.flatnonzero(role == BELOW) - 2
    added[first] = np.maximum(longest[first] + longest[first + 2], longest[first + 1])
    return added


def _to_the_root(hop: Longs, toward: Longs) -> Longs:
    """Return the sum of hops from each edge to the root, doubling the stride each time."""
    total, ahead = np.append(hop, 0), np.append(toward, -1)
    for _ in range(hop.size.bit_length()):
        if not (ahead >= 0).any():
            return total[:-1]
        total, ahead = total + total[ahead], ahead[ahead]
    if (ahead >= 0).any():
        raise UsageError(NO_TREE)
    return total[:-1]


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
