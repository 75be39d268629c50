"""Steps put together: from arrays, side by side, one after the other, and played backwards."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from artery.core.arrays import Ints
from artery.core.schedule import Step

Steps = Callable[[int], Step]
"""The transfers of step k."""


def transfers(
    source: ArrayLike,
    target: ArrayLike,
    first: ArrayLike,
    count: ArrayLike = 1,
    *,
    reduce: ArrayLike = False,
) -> Step:
    """Return a step of the given transfers, whose arrays are broadcast together and made flat."""
    columns = np.broadcast_arrays(
        np.asarray(source, np.int64),
        np.asarray(target, np.int64),
        np.asarray(first, np.int64),
        np.asarray(count, np.int64),
        np.asarray(reduce, np.bool_),
    )
    sources, targets, firsts, counts, adds = (column.reshape(-1) for column in columns)
    return Step(sources, targets, firsts, counts, adds)


def together(*steps: Step) -> Step:
    """Return the transfers of all ``steps`` in one step."""
    if len(steps) == 1:
        return steps[0]
    return Step(
        np.concatenate([step.source for step in steps]),
        np.concatenate([step.target for step in steps]),
        np.concatenate([step.first for step in steps]),
        np.concatenate([step.count for step in steps]),
        np.concatenate([step.reduce for step in steps]),
    )


def nothing() -> Step:
    """Return a step without transfers."""
    return transfers((), (), ())


def chosen(step: Step, which: Ints) -> Step:
    """Return the transfers of ``step`` at the places ``which``."""
    return Step(
        step.source[which],
        step.target[which],
        step.first[which],
        step.count[which],
        step.reduce[which],
    )


def backwards(step: Steps, steps: int) -> Steps:
    """Return ``steps`` steps in reverse order, every transfer turned round and added.

    Each chunk of an all-gather runs down a tree from its owner to all; turned round, the terms of
    a sum run up that tree to its owner.
    """

    def back(k: int) -> Step:
        there = step(steps - 1 - k)
        adds = np.ones(len(there.source), np.bool_)
        return Step(there.target, there.source, there.first, there.count, adds)

    return back


def once(make: Callable[[], Step]) -> tuple[Steps, int]:
    """Return the single step that ``make`` makes, as steps and their number."""
    return (lambda k: make()), 1


def one_after_another(*parts: tuple[Steps, int]) -> tuple[Steps, int]:
    """Return the steps of all ``parts`` in a row, and how many they are."""
    ends = np.cumsum([count for _, count in parts])

    def step(k: int) -> Step:
        part = int(np.searchsorted(ends, k, side="right"))
        before = int(ends[part - 1]) if part else 0
        return parts[part][0](k - before)

    return step, int(ends[-1])


def side_by_side(*parts: tuple[Steps, int]) -> tuple[Steps, int]:
    """Return the steps of all ``parts`` at the same time, and how many the longest has."""

    def step(k: int) -> Step:
        return together(*(one(k) for one, count in parts if k < count))

    return step, max(count for _, count in parts)
