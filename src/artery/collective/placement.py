"""Placement: how the members of a group are spread over the domains of one tier.

A system is cut into groups of ``ranks`` members that lie ``stride`` apart in rank order:
group ``g`` of block ``q`` holds the ranks ``q·ranks·stride + g + j·stride`` for j below
``ranks``. A placement puts rank r on a chip; a tier cuts the chips into domains. What a
collective costs follows from three counts of the worst group: the members in its fullest
domain, those in its emptiest, and the domains that it touches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import gcd

import numpy as np

from artery.collective.arrays import Floats, Ints


@dataclass(frozen=True, slots=True)
class Spread:
    """Members per domain of the worst group: ``fullest``, ``fewest``, and ``domains`` touched.

    A group that lies in one domain counts ``ranks``, ``ranks`` and 1. Expected values under a
    random placement are not whole numbers, so all three are floats.
    """

    fullest: Floats
    fewest: Floats
    domains: Floats


Placement = Callable[[Ints, Ints, int, bool], Spread]
"""From (ranks, stride, chips per domain, every group or only the first) to the spread."""


def packed(chips: int) -> Placement:
    """Return the placement that puts rank r on chip r."""

    def place(ranks: Ints, stride: Ints, domain: int, every: bool) -> Spread:
        span = ranks * stride
        inside = (domain % span == 0) | (domain >= chips)
        apart = stride >= domain
        even = ~inside & ~apart & (domain % np.minimum(stride, domain) == 0) & (span % domain == 0)
        per_domain = np.where(apart, 1, np.maximum(domain // stride, 1))
        fullest = np.where(inside, ranks, np.minimum(per_domain, ranks)).astype(np.float64)
        fewest = fullest.copy()
        domains = np.where(inside, 1, ranks // np.minimum(per_domain, ranks)).astype(np.float64)
        for i in np.flatnonzero(~(inside | apart | even)):
            key = int(ranks[i]), int(stride[i])
            fullest[i], fewest[i], domains[i] = _straddling(*key, domain, chips, every)
        return Spread(fullest, fewest, domains)

    return place


@lru_cache(maxsize=1 << 16)
def _straddling(
    ranks: int, stride: int, domain: int, chips: int, every: bool
) -> tuple[float, float, float]:
    """Count for a group whose size does not divide the domain, over all its offsets."""
    offsets = _offsets(ranks, stride, domain, chips, every)
    end = offsets + (ranks - 1) * stride
    domains = end // domain + 1
    first = np.minimum(-(-(domain - offsets) // stride), ranks)
    last = np.minimum(end % domain // stride + 1, ranks)
    through = domains > 2
    fullest = np.maximum(np.maximum(first, last), np.where(through, -(-domain // stride), 0))
    fewest = np.minimum(np.minimum(first, last), np.where(through, domain // stride, ranks))
    split = domains > 1
    emptiest = fewest[split].min() if split.any() else ranks
    return float(np.minimum(fullest, ranks).max()), float(emptiest), float(domains.max())


def _offsets(ranks: int, stride: int, domain: int, chips: int, every: bool) -> Ints:
    """Return the places within a domain at which groups begin (the first chip of each)."""
    span = ranks * stride
    blocks = max(chips // span, 1) if every else 1
    starts = np.arange(min(blocks, domain // gcd(span, domain))) * span % domain
    width = stride if every else 1
    marks = np.zeros(domain + width + 1, dtype=np.int64)
    np.add.at(marks, starts, 1)
    np.add.at(marks, starts + width, -1)
    covered = np.cumsum(marks)[:-1] > 0
    offsets = np.unique(np.flatnonzero(covered) % domain)
    return np.asarray(offsets, dtype=np.int64)


def listed(order: Ints) -> Placement:
    """Return the placement that puts rank r on chip ``order[r]``, counted group by group."""
    places = np.asarray(order, dtype=np.int64)

    def place(ranks: Ints, stride: Ints, domain: int, every: bool) -> Spread:
        counts = [
            _counted(places // domain, int(n), int(s), every)
            for n, s in zip(ranks, stride, strict=True)
        ]
        fullest, fewest, domains = np.array(counts, dtype=np.float64).reshape(-1, 3).T
        return Spread(fullest, fewest, domains)

    return place


def _counted(domain_of: Ints, ranks: int, stride: int, every: bool) -> tuple[int, int, int]:
    """Count members per (group, domain) and return those of the worst group."""
    span = ranks * stride
    blocks = max(len(domain_of) // span, 1) if every else 1
    rank = np.arange(min(blocks * span, len(domain_of)))
    group = rank // span * stride + rank % stride
    if not every:
        rank = rank[group == 0]
        group = group[group == 0]
    many = int(domain_of.max()) + 1
    pairs, members = np.unique(group * many + domain_of[rank], return_counts=True)
    touched = np.bincount(pairs // many)
    split = touched[pairs // many] > 1
    emptiest = members[split].min() if split.any() else ranks
    return int(members.max()), int(emptiest), int(touched.max())


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

    def place(ranks: Ints, stride: Ints, domain: int, every: bool) -> Spread:  # noqa: ARG001
        n = ranks.astype(np.float64)
        share = min(domain / chips, 1.0)
        touched = np.ones_like(n) if share == 1.0 else (1.0 - (1.0 - share) ** n) / share
        touched = np.clip(touched, 1.0, n)
        # A group that needs all chips fills every domain, whatever the order.
        touched = np.where(n >= chips, np.ceil(n / domain), touched)
        members = n / touched
        return Spread(members, members.copy(), touched)

    return place
