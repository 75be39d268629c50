"""Pipelined collectives as arrays: what their edges cross, and who hands on to whom."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from artery.errors import UsageError
from artery.native.work import Ints, Links, Longs

ALONE, BESIDE, BELOW = 0, 1, 2
"""Roles of a wave."""


@dataclass(frozen=True, slots=True)
class Pipelines:
    """Pipes p: bytes that flow over edges, in waves.

    Edge e crosses ``link[start[e]:start[e + 1]]``. Wave w is edges ``wave[w]`` to
    ``wave[w + 1] - 1``, pipe p waves ``pipe[p]`` to ``pipe[p + 1] - 1`` one after the other
    (a ring: one; a tree up and down: two). ``toward[e]`` is the next edge to the root of a tree
    (-1: none), in both of its waves.
    A tree whose nodes are alike inside may have one of them for all: of its waves the second then
    continues the first (``role`` 1: edges that may lead into it) and the third (2) hangs once below
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


def check_pipes(links: Links, pipes: Pipelines) -> None:
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
        ("latency", links.latency, links.rate.size),
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
    beside, below = np.flatnonzero(role == BESIDE), np.flatnonzero(role == BELOW)
    if not np.array_equal(beside + 1, below) or (beside < 1).any():
        return False
    return bool((role[beside - 1] == 0).all())
