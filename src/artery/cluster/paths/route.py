"""One path for each pair of chips, over links that are up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from artery.cluster.drawn import Drawn
from artery.cluster.fat_tree import FatTree
from artery.cluster.inside import Inside
from artery.cluster.network import Network, Tree
from artery.cluster.paths.across import across
from artery.cluster.paths.choice import Choice, Words, mix
from artery.cluster.paths.detour import detour
from artery.cluster.paths.torus import torus_paths
from artery.cluster.torus import Torus
from artery.core.arrays import Flags, Ints

Rows = NDArray[np.int32]

CHUNK = 1 << 14
"""Pairs routed together: few enough for their arrays to stay in the cache."""

FEW = 8
"""Where at most one pair in so many stays in its domain, another pair is routed in its place, which
is cheaper than to take all others out and to put them back. Assumed."""

TRIES = 16
"""Paths that a pair tries by its own card, and by each other one of its node, before the whole
network is searched. Assumed; with one link in ten down a path of six links fails so often with
probability 1e-5."""


@dataclass(frozen=True, slots=True)
class Paths:
    """Path ``p`` takes the links ``link[start[p] : start[p + 1]]``, from source to target.

    ``start`` is int64, ``link`` int32. Path ``p`` carries the share ``weight[p]`` of pair
    ``pair[p]``; both are empty where every pair has one path.
    """

    start: Ints
    link: Rows
    pair: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    weight: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))


def chunks(pairs: int) -> Iterator[slice]:
    """Yield the parts in which pairs are routed."""
    for first in range(0, pairs, CHUNK):
        yield slice(first, first + CHUNK)


def packed(parts: Iterable[Rows], pairs: int) -> Paths:
    """Return rows of links, -1 where there is none, as paths; parts are taken one at a time.

    ``pairs`` is how many rows there will be. The links are gathered in one array with room for
    rows as long as the longest so far: what is not written to takes no memory.
    """
    start = np.zeros(pairs + 1, dtype=np.int64)
    link = np.empty(0, dtype=np.int32)
    many = first = 0
    for rows in parts:
        last = first + len(rows)
        there = rows >= 0
        np.sum(there, axis=1, dtype=np.int64, out=start[first + 1 : last + 1])
        new = np.ascontiguousarray(rows)[np.ascontiguousarray(there)]
        if many + len(new) > len(link):
            kept, link = link[:many], np.empty(many + (pairs - first) * rows.shape[1], np.int32)
            link[:many] = kept
        link[many : many + len(new)] = new
        many, first = many + len(new), last
    link.resize(many, refcheck=False)
    return Paths(np.cumsum(start, out=start), link)


def digits_of(network: Network, target: Ints) -> Ints:
    """Return what static routes count by: the target's card in the order of the leaves.

    So the lowest digit is its place under its leaf, and those above tell the leaves apart, of
    different rails too, which share the switches above them. On a torus there is nothing to
    count: the dimensions are passed in their order.
    """
    if not isinstance(network.plan, Tree):
        return np.zeros_like(target)
    within, fabric = network.plan.within, network.plan.fabric
    domain = within.whole.domain
    per_node = domain.chips // domain.nodes
    node: Ints = target // per_node
    if isinstance(fabric, FatTree) and fabric.rail_only:
        return node
    if isinstance(fabric, Drawn) and fabric.rails:
        return node
    card: Ints = within.slots[target - node * per_node, 0]
    if isinstance(fabric, FatTree) and fabric.rails:
        whole = fabric.levels[0].nodes or network.plan.nodes
        return (node // whole * fabric.cards + card) * whole + node % whole
    return node * fabric.cards + card


def candidate(
    network: Network, source: Ints, target: Ints, choice: Choice, shift: int = 0
) -> tuple[Rows, Flags]:
    """Return one path per pair as rows of links, and which of them arrive over links that are up.

    ``shift`` is as in :func:`artery.cluster.paths.across.across`.
    """
    rows, fine = _rows(network, source, target, choice, shift)
    if not network.whole:
        fine &= (network.up[rows] | (rows < 0)).all(axis=1)
    return rows, fine


def one_each(
    network: Network, source: Ints, target: Ints, words: Words, digits: Ints | None
) -> Rows:
    """Return one path per pair; with ``digits`` these choose, else ``words`` are the hashes."""
    rows, fine = candidate(network, source, target, _choice(words, digits, 0))
    left = np.flatnonzero(~fine)
    cards = network.plan.fabric.cards if isinstance(network.plan, Tree) else 1
    for attempt in range(1, TRIES * cards):
        if not len(left):
            return rows
        choice = _choice(words[left], None if digits is None else digits[left], attempt)
        shift = attempt // TRIES
        again, fine = candidate(network, source[left], target[left], choice, shift)
        rows = put(rows, left[fine], again[fine])
        left = left[~fine]
    if len(left):
        ways = detour(network, source[left], target[left], words[left])
        longest = max(map(len, ways))
        found = np.full((len(left), longest), -1, dtype=np.int32)
        for row, way in zip(found, ways, strict=True):
            row[: len(way)] = way
        rows = put(rows, left, found)
    return rows


def _choice(words: Words, digits: Ints | None, attempt: int) -> Choice:
    """Return the choices of one attempt: hashed anew, or counted on; later ones of longer ways."""
    longer = attempt % TRIES >= TRIES // 2
    if digits is not None:
        return Choice(None, digits + attempt, longer=longer)
    return Choice(mix(words + np.uint64(attempt)) if attempt else words, None, longer=longer)


def put(rows: Rows, where: Ints, new: Rows) -> Rows:
    """Return ``rows`` with some replaced, widened if the new ones are longer."""
    if new.shape[1] > rows.shape[1]:
        more = new.shape[1] - rows.shape[1]
        rows = np.pad(rows, ((0, 0), (0, more)), constant_values=-1)
    rows[where] = -1
    rows[where, : new.shape[1]] = new
    return rows


def _rows(
    network: Network, source: Ints, target: Ints, choice: Choice, shift: int
) -> tuple[Rows, Flags]:
    """Return one path per pair, whether or not its links are up, and which arrive."""
    every = np.ones(len(source), dtype=bool)
    plan = network.plan
    if isinstance(plan, Torus):
        return _stacked(torus_paths(plan, source, target, choice), len(source)), every
    if isinstance(plan, Inside):
        return _inner(plan, source, target, choice), every
    size = plan.within.whole.domain.chips
    same = source // size == target // size
    if same.all():
        return _inner(plan.within, source, target, choice), every
    if not same.any():
        columns, fine = across(plan, (source, target), choice, shift)
        return _stacked(columns, len(source)), fine
    near, far = np.flatnonzero(same), np.flatnonzero(~same)
    inner = _inner(plan.within, source[near], target[near], choice.part(near))
    if len(near) > len(source) // FEW:
        columns, joined = across(plan, (source[far], target[far]), choice.part(far), shift)
        rows = np.full((len(source), len(columns)), -1, np.int32, order="F")
        rows[far] = _stacked(columns, len(far))
        every[far] = joined
        return put(rows, near, inner), every
    like = np.arange(len(source))
    like[near] = far[0]
    columns, every = across(plan, (source[like], target[like]), choice.part(like), shift)
    every[near] = True
    return put(_stacked(columns, len(source)), near, inner), every


def _inner(within: Inside, source: Ints, target: Ints, choice: Choice) -> Rows:
    """Return the paths of pairs that share a domain."""
    size = within.whole.domain.chips
    copy = source // size
    start = copy * size
    return _stacked(within.walk(copy, source - start, target - start, choice), len(source))


def _stacked(columns: list[Ints], pairs: int) -> Rows:
    """Return columns as rows of 32-bit links; columns stay together, as most work goes along."""
    rows = np.empty((pairs, len(columns)), dtype=np.int32, order="F")
    for index, column in enumerate(columns):
        rows[:, index] = column
    return rows
