"""Ways through a torus or mesh: along one dimension after the other, the short way round."""

from __future__ import annotations

from itertools import permutations

import numpy as np

from artery.cluster.paths.choice import Choice
from artery.cluster.torus import Torus, links_along
from artery.core.arrays import Ints


def torus_paths(grid: Torus, source: Ints, target: Ints, choice: Choice) -> list[Ints]:
    """Return the ways as columns of arcs, -1 where there is none.

    Arc ``k`` is cable ``k`` of :func:`artery.cluster.torus.torus_wiring` in the direction of rising
    numbers (or from the last place of a ring to the first), arc ``cables + k`` its way back. The
    order of the dimensions is a choice (the first: as they are numbered), and so is the direction
    where both ways round are alike.
    """
    orders = list(permutations(range(len(grid.dims))))
    order = np.broadcast_to(np.asarray(choice(len(orders))), source.shape)
    table = np.array(orders, dtype=np.int64)[order]
    columns: list[Ints] = []
    here = source.copy()
    for turn in range(len(grid.dims)):
        for axis in range(len(grid.dims)):
            rows = np.flatnonzero(table[:, turn] == axis)
            steps = _along(grid, axis, here[rows], target[rows], choice.part(rows))
            for arcs, reached in steps:
                column = np.full(len(source), -1, dtype=np.int64)
                column[rows] = arcs
                columns.append(column)
                here[rows] = reached
    return columns


def torus_cables(grid: Torus) -> int:
    """Return the number of cables of the grid."""
    return sum(_cables_along(grid, axis) for axis in range(len(grid.dims)))


def _cables_along(grid: Torus, axis: int) -> int:
    size = grid.dims[axis]
    lines = grid.chips // size
    return lines * (size - 1) + (lines if links_along(grid, axis) == 2 else 0)


def _along(
    grid: Torus, axis: int, here: Ints, target: Ints, choice: Choice
) -> list[tuple[Ints, Ints]]:
    """Return arcs and places reached, step by step, until the place on ``axis`` is right."""
    size, cables = grid.dims[axis], torus_cables(grid)
    stride = int(np.prod(grid.dims[:axis], dtype=np.int64))
    place, goal = here // stride % size, target // stride % size
    if links_along(grid, axis) == 2:
        ahead = (goal - place) % size
        tie = np.asarray(2 * ahead == size)
        forward = np.where(tie, choice(2) == 0, 2 * ahead < size)
        far = np.where(forward, ahead, size - ahead)
        far = np.where(ahead == 0, 0, far)
    else:
        forward, far = goal > place, np.abs(goal - place)
    steps: list[tuple[Ints, Ints]] = []
    at = here
    for step in range(int(far.max(initial=0))):
        after = (place + np.where(forward, 1, size - 1)) % size
        cable = _cable(grid, axis, np.where(forward, at, at + (after - place) * stride), stride)
        moving = step < far
        arc = np.where(moving, cable + np.where(forward, 0, cables), -1)
        at = np.where(moving, at + (after - place) * stride, at)
        place = np.where(moving, after, place)
        steps.append((arc, at))
    return steps


def _cable(grid: Torus, axis: int, chip: Ints, stride: int) -> Ints:
    """Return the cable that leaves ``chip`` along ``axis`` in the direction of rising numbers."""
    size = grid.dims[axis]
    first = sum(_cables_along(grid, before) for before in range(axis))
    block = chip // (stride * size)
    within = chip - block * stride * size
    last = within >= stride * (size - 1)
    inner = block * stride * (size - 1) + within
    closing = grid.chips // size * (size - 1) + block * stride + within - stride * (size - 1)
    return np.asarray(first + np.where(last, closing, inner))
