"""Placement: how the members of a group are spread over the domains of one tier.

A system is cut into groups of ``ranks`` members that lie ``stride`` apart in rank order:
group ``g`` of block ``q`` holds the ranks ``q·ranks·stride + g + j·stride`` for j below
``ranks``. A placement puts rank r on a chip; a tier cuts the chips into domains, of which the last
may be part-filled. What a collective costs follows from the members of a group in its fullest and
its emptiest domain, the domains that it touches, and from how many groups leave one domain at once:
these share its links upwards, of which a domain has as many whether all its chips are the job's or
only a few.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import gcd, lcm

import numpy as np

from artery.core.arrays import Floats, Ints


@dataclass(frozen=True, slots=True)
class Spread:
    """Members per domain of the worst group: ``fullest``, ``fewest``, and ``domains`` touched.

    ``crossing`` are the groups that leave one domain, at most, and ``leaving`` the chips' worth of
    a buffer that their all-to-alls send out of it: the sum of m·(n - m)/n over its groups of n with
    m members there. Both count for 1/r as much in a last domain that has r of the links upwards.

    A group that lies in one domain counts ``ranks``, ``ranks``, 1, 0 and 0. Expected values under a
    random placement are not whole numbers, so all are floats.
    """

    fullest: Floats
    fewest: Floats
    domains: Floats
    crossing: Floats
    leaving: Floats


Placement = Callable[[Ints, Ints, int, bool, float], Spread]
"""From (ranks, stride, chips per domain, every group or only the first, share of the links upwards
that the last domain has) to the spread."""


def packed(chips: int) -> Placement:
    """Return the placement that puts rank r on chip r.

    The last domain has at least that share of the links upwards that it has of the chips.
    """

    def place(ranks: Ints, stride: Ints, domain: int, every: bool, last: float) -> Spread:
        span = ranks * stride
        inside = (domain % span == 0) | (domain >= chips)
        apart = stride >= domain
        even = apart | ((domain % np.minimum(stride, domain) == 0) & (span % domain == 0))
        even &= ~inside & (span <= chips)
        members = np.where(inside, ranks, np.maximum(domain // stride, 1)).astype(np.float64)
        domains = ranks / members
        leave = np.minimum(stride, domain) if every else np.ones_like(stride)
        crossing = np.where(domains > 1, leave, 0).astype(np.float64)
        leaving = crossing * members * (ranks - members) / ranks
        spread = Spread(members, members.copy(), domains, crossing, leaving)
        for i in np.flatnonzero(~(inside | even)):
            key = int(ranks[i]), int(stride[i])
            _put(spread, i, _straddling(*key, domain, chips, every, last))
        return spread

    return place


Counts = tuple[float, float, float, float, float]
"""The fields of a spread for one kind of group."""


def _put(spread: Spread, place: int | np.intp, found: Counts) -> None:
    """Write the counts of one kind of group into the arrays of a spread."""
    names = ("fullest", "fewest", "domains", "crossing", "leaving")
    for name, value in zip(names, found, strict=True):
        getattr(spread, name)[place] = value


@lru_cache(maxsize=1 << 16)
def _straddling(  # noqa: PLR0917 - all of one question
    ranks: int, stride: int, domain: int, chips: int, every: bool, last: float
) -> Counts:
    """Count for groups that do not fill domains evenly, from the cuts of blocks by domains.

    A stretch of ``l`` chips of one block in one domain holds l mod s of the block's s groups with
    floor(l/s) + 1 members, and the others with one less.
    """
    span = ranks * stride
    blocks = chips // span
    if not every or not blocks:
        return _counted(np.arange(chips) // domain, ranks, stride, every, last)
    # What repeats is counted once, with what is left at the end.
    period = lcm(span, domain)
    end = min(blocks * span, period + blocks * span % period)
    final = (chips - 1) // domain - (blocks * span - end) // domain
    cuts = np.union1d(np.arange(0, end + 1, span), np.arange(0, end, domain))
    length = np.diff(cuts)
    members, longer = np.divmod(length, stride)
    most = members + (longer > 0)
    shorter = np.where(members > 0, stride - longer, 0)  # groups that have ``members`` there
    parted = np.where(members + 1 < ranks, longer, 0)  # groups with one more, not all of theirs
    shorter = np.where(members < ranks, shorter, 0)
    leaving = parted * (members + 1) * (ranks - members - 1) + shorter * members * (ranks - members)
    home = cuts[:-1] // domain
    share = np.where(home == final, last, 1.0)
    emptiest = np.where(members > 0, members, 1)[(parted + shorter) > 0]
    return (
        float(most.max()),
        float(emptiest.min(initial=ranks)),
        _touched(ranks, stride, domain, end // span),
        float(np.bincount(home, (parted + shorter) / share).max()),
        float(np.bincount(home, leaving / ranks / share).max()),
    )


def _touched(ranks: int, stride: int, domain: int, blocks: int) -> float:
    """Return the domains that a group touches at most, over all groups of some blocks."""
    if stride >= domain:
        return float(ranks)
    span = ranks * stride
    base = np.arange(min(blocks, domain // gcd(span, domain))) * span % domain
    # Groups that begin as far back in a domain as they can: the last one, or the last before a cut.
    offset = np.stack([np.full_like(base, stride - 1), np.minimum(domain - 1 - base, stride - 1)])
    first = base + offset
    return float(((first + span - stride) // domain - first // domain).max() + 1)


def listed(order: Ints) -> Placement:
    """Return the placement that puts rank r on chip ``order[r]``, counted group by group."""
    places = np.asarray(order, dtype=np.int64)

    def place(ranks: Ints, stride: Ints, domain: int, every: bool, last: float) -> Spread:
        counts = [
            _counted(places // domain, int(n), int(s), every, last)
            for n, s in zip(ranks, stride, strict=True)
        ]
        return Spread(*np.array(counts, dtype=np.float64).reshape(-1, 5).T)

    return place


def _counted(domain_of: Ints, ranks: int, stride: int, every: bool, last: float) -> Counts:
    """Count members per (group, domain) and return those of the worst group.

    Ranks that fill no block are in no group. Where there is no whole block (first and last stage of
    a pipeline), the groups are those that there are.
    """
    span = ranks * stride
    blocks = len(domain_of) // span
    rank = np.arange(blocks * span if blocks and every else min(span, len(domain_of)))
    group = rank // span * stride + rank % stride
    whole = len(domain_of) - (ranks - 1) * stride  # groups of the first block, if it is not full
    kept = group < (1 if not every else whole if not blocks and whole > 0 else len(rank))
    rank, group = rank[kept], group[kept]
    many = int(domain_of.max()) + 1
    pairs, members = np.unique(group * many + domain_of[rank], return_counts=True)
    touched = np.bincount(pairs // many)
    split = touched[pairs // many] > 1
    home, there = pairs[split] % many, members[split]
    share = np.where(home == many - 1, last, 1.0)
    return (
        float(members.max()),
        float(there.min(initial=ranks)),
        float(touched.max()),
        float(np.bincount(home, 1.0 / share).max(initial=0)),
        float(np.bincount(home, there * (ranks - there) / ranks / share).max(initial=0)),
    )


def interleaved(chips: int, chips_per_node: int) -> Placement:
    """Return the placement that deals ranks round robin over the nodes.

    Nodes are filled evenly, so the chips of a part-filled last node are taken in their turn.
    """
    chip = np.arange(chips)
    turn = chip % chips_per_node
    order = np.lexsort((chip // chips_per_node, turn))
    return listed(order.astype(np.int64))


def random(chips: int) -> Placement:
    """Return the expectation over placements that draw chips at random.

    A domain of D of N chips is missed by a group of n with probability C(N-D, n)/C(N, n),
    taken as (1 - D/N)^n; the members are then n over the expected number of domains touched.
    """

    def place(ranks: Ints, stride: Ints, domain: int, every: bool, last: float) -> Spread:  # noqa: ARG001
        n = ranks.astype(np.float64)
        share = min(domain / chips, 1.0)
        touched = np.ones_like(n) if share == 1.0 else (1.0 - (1.0 - share) ** n) / share
        touched = np.clip(touched, 1.0, n)
        # A group that needs all chips fills every domain, whatever the order.
        touched = np.where(n >= chips, np.ceil(n / domain), touched)
        members = n / touched
        groups = np.where(touched > 1.0, domain / members if every else 1.0, 0.0)
        leaving = groups * members * (n - members) / n
        return Spread(members, members.copy(), touched, groups, leaving)

    return place
