"""Tori without switches: rings of one dimension after the other, both ways round.

"How to scale your model" (Google DeepMind, 2025), chapter on sharded matrices. The data are cut
into a part per dimension, each of which starts with another one, so that all links are busy;
every part goes round in two halves, which take turns in going the longer way. Along a side that is
open there is no way round: data go to both ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from artery.collective.schedules.registry import builds
from artery.collective.schedules.transfers import (
    Steps,
    backwards,
    one_after_another,
    side_by_side,
    together,
    transfers,
)
from artery.core.arrays import Flags, Ints
from artery.core.pricing import Collective
from artery.core.schedule import Pipe, Schedule, Step
from artery.errors import InputError, Problem

SOURCE = "How to scale your model, Google DeepMind, 2025"


@builds("torus", "all_reduce", "all_gather", "reduce_scatter", "alltoall")
def torus(
    collective: Collective,
    ranks: int,
    *,
    dims: Sequence[int] | None = None,
    closed: Sequence[bool] | None = None,
) -> Schedule:
    """Return the schedule over a torus of ``dims``, the first of which varies fastest.

    Without ``dims``: a single ring. All-gather and reduce-scatter: the sum of half of every
    dimension (rounded down) steps and (n-1)/n of the size per rank; all-reduce: twice that.
    All-to-all: as many steps; every block goes the shorter way round in each dimension. Those that
    are not ``closed`` take all of their length but one in steps.
    Raises :class:`artery.errors.InputError` if the dimensions do not multiply to ``ranks``.
    """
    sizes = (ranks,) if dims is None else tuple(dims)
    if prod(sizes) != ranks or min(sizes) < 1:
        raise InputError(
            Problem(
                found="x".join(map(str, sizes)),
                rule=f"the dimensions multiply to the number of ranks, {ranks}",
                fix=f"{ranks} is a single ring",
                field="dims",
            )
        )
    axes = _axes(sizes, (True,) * len(sizes) if closed is None else tuple(closed))
    if collective == "alltoall":
        return _exchange(ranks, axes)
    parts = [_Part(index, order) for index, order in enumerate(_turns(axes))]
    gather, steps = side_by_side(*(_gather(part) for part in parts))
    scatter = backwards(gather, steps)
    step, count = {
        "all_gather": (gather, steps),
        "reduce_scatter": (scatter, steps),
        "all_reduce": one_after_another((scatter, steps), (gather, steps)),
    }[collective]
    rounds = count // steps
    forth = 2 * sum(axis.most * width for part in parts for axis, width in part.widths())
    back = 2 * len(parts) * (ranks - 1)  # a rank adds to each block of others once
    wire = {"all_gather": forth, "reduce_scatter": back, "all_reduce": forth + back}[collective]
    owner = np.concatenate([np.argsort(part.packed) for part in parts for _ in range(2)])
    return Schedule(
        name="torus",
        collective=collective,
        ranks=ranks,
        chunks=2 * len(parts) * ranks,
        steps=count,
        step=step,
        wire=wire,
        pipes=tuple(_pipes(parts, rounds, count)) if all(axis.closed for axis in axes) else (),
        source=SOURCE,
        ports=2 * len(parts),
        owner=None if collective == "all_reduce" else owner,
    )


@dataclass(frozen=True, slots=True)
class Axis:
    """A dimension of ``size`` ranks that are ``stride`` apart, a ring if it is ``closed``."""

    size: int
    stride: int
    closed: bool = True

    def place(self, rank: Ints) -> Ints:
        """Return where the ranks are along this dimension."""
        return np.asarray(rank // self.stride % self.size)

    def there(self, rank: Ints, by: int) -> Flags:
        """Whether there are ranks ``by`` places further along."""
        place = self.place(rank) + by
        return np.asarray(self.closed | ((place >= 0) & (place < self.size)))

    def moved(self, rank: Ints, by: int | Ints) -> Ints:
        """Return the ranks ``by`` places further along this dimension."""
        place = self.place(rank)
        return np.asarray(rank + ((place + by) % self.size - place) * self.stride)

    def hops(self, source: Ints, target: Ints, way: int) -> Ints:
        """Return the places from each source to its target that way round."""
        return np.asarray((self.place(target) - self.place(source)) * way % self.size)

    @property
    def steps(self) -> int:
        """Steps until data are everywhere along it."""
        return self.size // 2 if self.closed else self.size - 1

    @property
    def most(self) -> int:
        """Blocks that a rank sends in an all-gather, in both directions together.

        In the middle of a line it sends on each that comes in, and its own both ways.
        """
        return self.size - 1 if self.closed or self.size < 3 else self.size + 1

    @property
    def crossing(self) -> int:
        """Blocks that a rank sends in an all-to-all to all others along it, and on."""
        return self.size**2 // 4 if self.closed else self.size - 1

    @property
    def ways(self) -> tuple[tuple[int, int, int], ...]:
        """(half, direction, hops): how far each half goes each way round."""
        far, near = self.size // 2, (self.size - 1) // 2
        if not self.closed:
            far = near = self.size - 1
        return (0, 1, far), (0, -1, near), (1, 1, near), (1, -1, far)


def _axes(sizes: tuple[int, ...], closed: tuple[bool, ...]) -> list[Axis]:
    """Return the dimensions that have any extent."""
    strides = np.r_[1, np.cumprod(sizes)[:-1]].tolist()
    axes = (Axis(*each) for each in zip(sizes, strides, closed, strict=True))
    return [axis for axis in axes if axis.size > 1]


def _turns(axes: list[Axis]) -> list[list[Axis]]:
    """Return the dimensions in every cyclic order."""
    return [axes[start:] + axes[:start] for start in range(len(axes))]


@dataclass(frozen=True, slots=True)
class _Part:
    """The part of the data that goes along ``order``; it is chunks 2·index·n to 2·(index+1)·n."""

    index: int
    order: list[Axis]

    @property
    def ranks(self) -> int:
        return prod(axis.size for axis in self.order)

    @property
    def packed(self) -> Ints:
        """The place of each rank's block within a half: what is gathered first counts least."""
        rank, place, width = np.arange(self.ranks), np.zeros(self.ranks, np.int64), 1
        for axis in self.order:
            place += rank // axis.stride % axis.size * width
            width *= axis.size
        return place

    def widths(self) -> Iterator[tuple[Axis, int]]:
        """Yield each dimension with the number of blocks that are gathered before it."""
        width = 1
        for axis in self.order:
            yield axis, width
            width *= axis.size


def _gather(part: _Part) -> tuple[Steps, int]:
    packed = part.packed
    stages = [(_along(part, packed, axis, width), axis.steps) for axis, width in part.widths()]
    return one_after_another(*stages)


def _along(part: _Part, packed: Ints, axis: Axis, width: int) -> Steps:
    """Return the all-gather along one dimension of what ``width`` ranks have gathered."""
    rank = np.arange(len(packed))

    def step(k: int) -> Step:
        moved = []
        for half, way, hops in axis.ways:
            if k < hops:
                start = (2 * part.index + half) * len(packed)
                own = rank[axis.there(rank, -way * k) & axis.there(rank, way)]
                origin = packed[axis.moved(own, -way * k)]
                first = start + origin // width * width
                moved.append(transfers(own, axis.moved(own, way), first, width))
        return together(*moved)

    return step


def _pipes(parts: list[_Part], rounds: int, depth: int) -> Iterator[Pipe]:
    """Yield a pipe for each dimension and direction, with the load of all parts."""
    ranks = parts[0].ranks
    rank = np.arange(ranks)
    for axis in parts[0].order:
        blocks = sum(width for part in parts for one, width in part.widths() if one == axis)
        volume = rounds * blocks * (axis.size - 1) / (2 * len(parts) * ranks)
        for way in (1, -1):
            yield Pipe("ring", 1.0, rank, axis.moved(rank, way), volume, depth)


def _exchange(ranks: int, axes: list[Axis]) -> Schedule:
    """Return an all-to-all: blocks go hop by hop along one dimension after the other.

    Along a line they go straight to their place: hop by hop its links would wait for each other.
    """
    turns = _turns(axes)
    cut = 2 * len(turns)
    parts = []
    for index, order in enumerate(turns):
        stages = [
            (_shifted(ranks, order, at, cut, 2 * index), axis.steps)
            if axis.closed
            else (_straight(ranks, order, at, cut, 2 * index), 1)
            for at, axis in enumerate(order)
        ]
        parts.append(one_after_another(*stages))
    step, steps = side_by_side(*parts)
    hops = sum(axis.crossing * (ranks // axis.size) for axis in axes)
    return Schedule(
        name="torus",
        collective="alltoall",
        ranks=ranks,
        chunks=ranks * ranks * cut,
        steps=steps,
        step=step,
        wire=cut * hops,
        source=SOURCE,
        ports=sum(2 if axis.closed else axis.size - 1 for axis in axes),
    )


def _straight(ranks: int, order: list[Axis], at: int, cut: int, first: int) -> Steps:
    """Return the one step along an open dimension for the two halves from ``first`` on."""
    axis = order[at]

    def step(k: int) -> Step:  # noqa: ARG001 - the only one
        source, target, here = _pairs(ranks, order[:at])
        now = np.flatnonzero(axis.place(source) != axis.place(target))
        to = axis.moved(here[now], axis.place(target[now]) - axis.place(source[now]))
        chunk = (source[now] * ranks + target[now]) * cut + first
        return transfers(here[now], to, chunk, 2)

    return step


def _shifted(ranks: int, order: list[Axis], at: int, cut: int, first: int) -> Steps:
    """Return the steps along dimension ``at`` of ``order`` for the two halves from ``first`` on."""
    axis = order[at]

    def step(k: int) -> Step:
        # Pairs are listed for a step alone: of thousands of ranks each list takes 100 MB.
        source, target, here = _pairs(ranks, order[:at])
        moved = []
        for half, way, reach in axis.ways:
            hops = axis.hops(source, target, way)
            now = np.flatnonzero((hops > k) & (hops <= reach))
            at_now = axis.moved(here[now], way * k)
            chunk = (source[now] * ranks + target[now]) * cut + first + half
            moved.append(transfers(at_now, axis.moved(at_now, way), chunk))
        return together(*moved)

    return step


def _pairs(ranks: int, done: list[Axis]) -> tuple[Ints, Ints, Ints]:
    """Return source and target of every pair, and where its blocks are after some dimensions."""
    source, target = (ends.reshape(-1) for ends in np.indices((ranks, ranks)))
    here = source.copy()
    for axis in done:
        here += (target // axis.stride % axis.size - here // axis.stride % axis.size) * axis.stride
    return source, target, here
