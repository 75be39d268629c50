"""Level by level: reduce-scatter inside, all-reduce across, all-gather inside.

Jia et al., "Highly scalable deep learning training system with mixed-precision", 2018 (two
levels); every further level does to the shares of the one below what that does to the buffer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from math import prod
from operator import mul

import numpy as np

from artery.collective.schedules.registry import builds
from artery.collective.schedules.transfers import (
    Steps,
    backwards,
    one_after_another,
    transfers,
)
from artery.core.arrays import Ints
from artery.core.pricing import Collective
from artery.core.schedule import Pipe, Schedule, Step
from artery.errors import InputError, Problem

SOURCE = "Jia et al., 2018"


@builds("hierarchical", "all_reduce", "all_gather", "reduce_scatter")
def hierarchical(
    collective: Collective, ranks: int, *, levels: Sequence[int] | None = None
) -> Schedule:
    """Return the schedule over ``levels``: ranks per node, nodes per pod, pods, ...

    Without ``levels`` the most nearly square pair is taken. A ring runs in each group of each
    level. All-gather: outermost first; s-1 steps per level of size s and in all (n-1)/n of the
    size per rank, of which (s-1)/s of the size inside the innermost level.
    Raises :class:`artery.errors.InputError` if the levels do not multiply to ``ranks``.
    """
    sizes = _squarest(ranks) if levels is None else tuple(levels)
    if prod(sizes) != ranks or min(sizes) < 1:
        raise InputError(
            Problem(
                found=" x ".join(map(str, sizes)),
                rule=f"the levels multiply to the number of ranks, {ranks}",
                fix=f"{' x '.join(map(str, _squarest(ranks)))} does",
                field="levels",
            )
        )
    inside = tuple(accumulate(sizes, mul, initial=1))[:-1]
    step, steps = _steps(collective, sizes, inside)
    rounds = 2 if collective == "all_reduce" else 1
    return Schedule(
        name="hierarchical",
        collective=collective,
        ranks=ranks,
        chunks=ranks,
        steps=steps,
        step=step,
        wire=rounds * (ranks - 1),
        pipes=tuple(_pipes(sizes, inside, rounds)),
        source=SOURCE,
        owner=None if collective == "all_reduce" else np.argsort(_packed(sizes, inside)),
    )


def _pipes(sizes: tuple[int, ...], inside: tuple[int, ...], rounds: int) -> Iterator[Pipe]:
    """Yield the rings of each level: what a rank has of the buffer goes round in it."""
    for level, (size, below) in enumerate(zip(sizes, inside, strict=True)):
        if size > 1:
            source, target = _rings(prod(sizes), size, below)
            volume = rounds * (size - 1) / size
            yield Pipe(
                "ring", 1.0 / below, source, target, volume, rounds * (size - 1), phase=level
            )


def _squarest(ranks: int) -> tuple[int, int]:
    inner = next(size for size in range(int(ranks**0.5), 0, -1) if ranks % size == 0)
    return inner, ranks // inner


def _steps(
    collective: Collective, sizes: tuple[int, ...], inside: tuple[int, ...]
) -> tuple[Steps, int]:
    packed = _packed(sizes, inside)
    levels = [(size, below) for size, below in zip(sizes, inside, strict=True) if size > 1]
    gather = [(_gather(packed, s, below, 1), s - 1) for s, below in reversed(levels)]
    back = [(_gather(packed, s, below, -1), s - 1) for s, below in levels]
    scatter = [(backwards(step, count), count) for step, count in back]
    parts = {"all_gather": gather, "reduce_scatter": scatter, "all_reduce": scatter + gather}
    return one_after_another(*parts[collective])


def _packed(sizes: tuple[int, ...], inside: tuple[int, ...]) -> Ints:
    """Return the chunk that each rank owns: the innermost digit of the rank counts most."""
    ranks = prod(sizes)
    rank = np.arange(ranks)
    digits = [rank // below % size for size, below in zip(sizes, inside, strict=True)]
    return np.asarray(
        sum(d * (ranks // (below * s)) for d, s, below in zip(digits, sizes, inside, strict=True))
    )


def _rings(ranks: int, size: int, below: int, turn: int = 1) -> tuple[Ints, Ints]:
    """Return all ranks and their successors in the rings of one level."""
    rank = np.arange(ranks)
    digit = rank // below % size
    return rank, rank + ((digit + turn) % size - digit) * below


def _gather(packed: Ints, size: int, below: int, turn: int) -> Steps:
    """Return the all-gather of one level: shares of 1/(below·size) of the buffer go round."""
    ranks = len(packed)
    rank, target = _rings(ranks, size, below, turn)
    share = ranks // (below * size)

    def step(k: int) -> Step:
        _, origin = _rings(ranks, size, below, -turn * k)
        return transfers(rank, target, packed[origin] // share * share, share)

    return step
