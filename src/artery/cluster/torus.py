"""Tori and meshes of chips without switches: TPU pods in two or three dimensions.

Chips are numbered with the first dimension innermost. A pod's optical switches close the
dimensions of a slice into rings only if every one is a multiple of the cube (4 on TPU v4 and v5p);
smaller slices are meshes. Where there are no such switches (v5e, v6e) only a side as long as the
whole pod is a ring.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from artery.core.arrays import Ints
from artery.core.link import Link
from artery.core.system import Edges, Tier


@dataclass(frozen=True, slots=True)
class Torus:
    """Chips in a grid of ``dims``; ``link`` is one link, ``wrapped`` says which sides are rings."""

    dims: tuple[int, ...]
    link: Link
    wrapped: tuple[bool, ...]

    @property
    def chips(self) -> int:
        """Chips of the grid."""
        return prod(self.dims)


def torus(
    dims: tuple[int, ...], link: Link, cube: int, *, each_side: bool = False, wrap: bool = True
) -> Torus:
    """Return the slice of shape ``dims``, wrapped if all of them are multiples of ``cube``.

    With ``each_side`` every side that is a multiple wraps by itself, without ``wrap`` none does.
    """
    if not wrap:
        return Torus(dims, link, (False,) * len(dims))
    whole = tuple(size % cube == 0 for size in dims)
    return Torus(dims, link, whole if each_side else (all(whole),) * len(dims))


def squarest(chips: int, dimensions: int) -> tuple[int, ...]:
    """Return ``chips`` as a product of ``dimensions`` factors, ascending, as equal as can be.

    As equal as can be: the largest factor is the least possible, then the next one.
    """
    if dimensions == 1:
        return (chips,)
    best: tuple[int, ...] | None = None
    for first in range(1, int(chips ** (1 / dimensions) + 1e-9) + 1):
        if chips % first == 0:
            shape = tuple(sorted((first, *squarest(chips // first, dimensions - 1))))
            if best is None or shape[::-1] < best[::-1]:
                best = shape
    if best is None:
        raise ValueError(f"{chips} chips have no shape")
    return best


def torus_tier(grid: Torus) -> Tier:
    """Return the grid as one tier.

    A chip sends on its two links of each ring, or on one link's worth of each open line. ``ring``
    follows :func:`_ring`. The latency is that of a hop between neighbours: rings pass no others.
    """
    links = sum(links_along(grid, axis) for axis in range(len(grid.dims)))
    rate = grid.link.bandwidth
    return Tier(
        name="ici",
        chips=grid.chips,
        kind="torus",
        link=grid.link,
        bandwidth=links * rate,
        burst=links * rate,
        pair=rate,
        latency=grid.link.latency,
        ring=tuple(_ring(grid, group) * rate for group in range(grid.chips + 1)),
        dims=grid.dims,
    )


def links_along(grid: Torus, axis: int) -> int:
    """Return the links' worth of rings along one axis: 2 if closed, 1 if open, 0 if flat."""
    size = grid.dims[axis]
    if size == 1:
        return 0
    return 2 if grid.wrapped[axis] and size > 2 else 1


def _ring(grid: Torus, group: int) -> int:
    """Return the links' worth of rings over the chips 0 … group-1.

    A group that fills whole lower dimensions and reaches some way along the next is a block: the
    payload is split over its sides, each with rings of its own, an open side with one there and
    back. Any other group is ragged and has one ring.
    """
    if group < 2:
        return 0
    filled, links = 1, 0
    for axis, size in enumerate(grid.dims):
        if group < filled * size:
            return links + 1 if group % filled == 0 else 1
        filled *= size
        links += links_along(grid, axis)
        if filled == group:
            return links
    raise ValueError(f"{group} chips do not fit into {grid.dims}")


def torus_wiring(grid: Torus) -> Edges:
    """Return the edge arrays, two entries per cable."""
    numbers = np.arange(grid.chips, dtype=np.int64)
    near: list[Ints] = []
    far: list[Ints] = []
    stride = 1
    for axis, size in enumerate(grid.dims):
        place = numbers // stride % size
        inner = numbers[place < size - 1]
        near.append(inner)
        far.append(inner + stride)
        if links_along(grid, axis) == 2:
            last = numbers[place == size - 1]
            near.append(last)
            far.append(last - (size - 1) * stride)
        stride *= size
    source, target = np.concatenate([*near, *far]), np.concatenate([*far, *near])
    return Edges(source, target, np.zeros(len(source), dtype=np.int64))
