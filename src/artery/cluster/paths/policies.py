"""Policies that look at several paths of a pair: adaptive routing and packet spraying."""

from __future__ import annotations

import numpy as np

from artery.cluster.dragonfly import Dragonfly
from artery.cluster.network import Network, Tree
from artery.cluster.paths.choice import Choice, Words
from artery.cluster.paths.route import Paths, Rows, candidate, chunks, one_each, packed, put
from artery.core.arrays import Flags, Floats, Ints

BATCHES = 512
"""Adaptive routing looks at the loads anew this many times, at every pair if there are fewer."""


def spray(network: Network, source: Ints, target: Ints, words: Words, ways: int) -> Paths:
    """Return up to ``ways`` paths per pair with equal weights, those with links down left out.

    The digits of a pair's paths count through all combinations, so that its load is spread as
    evenly as ``ways`` paths can.
    """
    parts: list[Rows] = []
    pairs: list[Ints] = []
    for part in chunks(len(source)):
        stack, fine = _candidates(network, source[part], target[part], words[part], ways)
        alike = (stack == stack[:1]).all(axis=(0, 2))
        fine[1:, alike] = False
        dead = np.flatnonzero(~fine.any(axis=0))
        first = part.start
        for index in range(ways):
            rows = np.flatnonzero(fine[index])
            parts.append(stack[index, rows])
            pairs.append(rows + first)
        if len(dead):
            own = dead + first
            parts.append(one_each(network, source[own], target[own], words[own], None))
            pairs.append(own)
    pair = np.concatenate(pairs) if pairs else np.zeros(0, dtype=np.int64)
    found = packed(parts, len(pair))
    weight = 1.0 / np.bincount(pair, minlength=len(source))
    return Paths(found.start, found.link, pair, weight[pair])


def adaptive(network: Network, source: Ints, target: Ints, words: Words, ways: int) -> Paths:
    """Return one path per pair: of ``ways`` the one whose busiest link is then least loaded.

    Pairs choose one batch after the other; load is pairs per B/s. Those of one batch see the same
    loads, so that batches are drawn: pairs of one source in a row would all take the link that was
    least loaded before them. In a dragonfly half of the ways are longer ones, taken where these are
    less loaded (UGAL, Kim et al., 2008).
    """
    longer = isinstance(network.plan, Tree) and isinstance(network.plan.fabric, Dragonfly)
    load = np.zeros(len(network.rate))
    cost = 1.0 / np.maximum(network.rate, 1)
    batch = -(-len(source) // BATCHES)
    turn = np.arange(len(source))
    if batch > 1:
        turn = np.random.default_rng(0).permutation(turn)
    source, target, words = source[turn], target[turn], words[turn]
    parts: list[Rows] = []
    for part in chunks(len(source)):
        query = network, source[part], target[part], words[part]
        stack, fine = _candidates(*query, ways, longer=longer)
        many = stack.shape[1]
        rows = np.empty(stack.shape[1:], dtype=np.int32)
        for first in range(0, many, batch):
            here = slice(first, first + batch)
            rows[here] = _least_loaded(stack[:, here], fine[:, here], load, cost)
        dead = np.flatnonzero(~fine.any(axis=0))
        if len(dead):
            own = dead + part.start
            rows = put(rows, dead, one_each(network, source[own], target[own], words[own], None))
        parts.append(rows)
    return packed([_in_order(parts, turn)], len(turn))


def _in_order(parts: list[Rows], turn: Ints) -> Rows:
    """Return the rows of all parts, row i in the place ``turn[i]``."""
    found = np.full((len(turn), max((rows.shape[1] for rows in parts), default=0)), -1, np.int32)
    first = 0
    for rows in parts:
        found[turn[first : first + len(rows)], : rows.shape[1]] = rows
        first += len(rows)
    return found


def _candidates(
    network: Network,
    source: Ints,
    target: Ints,
    words: Words,
    ways: int,
    *,
    longer: bool = False,
) -> tuple[Rows, Flags]:
    """Return ``ways`` paths of every pair (way, pair, link), and which are up (way, pair).

    With ``longer`` the second half of them are not the shortest.
    """
    turns = [(way, longer and 2 * way >= ways) for way in range(ways)]
    found = [
        candidate(network, source, target, Choice(words, np.full(len(source), way), longer=beyond))
        for way, beyond in turns
    ]
    width = max(rows.shape[1] for rows, _ in found)
    stack = np.full((ways, len(source), width), -1, dtype=np.int32)
    for way, (rows, _) in enumerate(found):
        stack[way, :, : rows.shape[1]] = rows
    return stack, np.array([fine for _, fine in found])


def _least_loaded(stack: Rows, fine: Flags, load: Floats, cost: Floats) -> Rows:
    """Return the best way of each pair of a batch and add its load."""
    after = np.where(stack >= 0, load[stack] + cost[stack], 0.0).max(axis=2, initial=0.0)
    best = np.where(fine, after, np.inf).argmin(axis=0)
    rows: Rows = stack[best, np.arange(stack.shape[1])]
    used = rows[rows >= 0]
    np.add.at(load, used, cost[used])
    return rows
