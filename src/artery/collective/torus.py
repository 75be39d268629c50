"""Tori without switches (TPU): one dimension after the other, both directions of every ring.

"How to scale your model" (Google DeepMind, 2025), chapter on sharded matrices: an all-gather
over a ring of closed links takes size over the bandwidth of both directions, over several
dimensions at once that of all of them; an all-to-all a quarter of that per dimension.
"""

from __future__ import annotations

import numpy as np

from artery.collective.groups import Groups
from artery.collective.work import Work
from artery.core.arrays import Floats
from artery.core.pricing import Collective


def torus(groups: Groups, collective: Collective) -> Work:
    """Return the work of a collective by dimension.

    Steps: half of every closed dimension (data goes both ways round) and all of an open one, twice
    for all-reduce. Bytes as in a ring over the group's chips, spread over the rings of all
    dimensions that it fills (``inner_rate`` counts these); of a block whose sides are unlike the
    busiest decides.
    """
    n = groups.ranks
    rounds = 2.0 if collective == "all_reduce" else 1.0
    share = rounds * (n - 1) / n
    seconds = share / groups.inner_rate
    if collective in {"broadcast", "reduce"}:
        share = np.where(n > 1, 1.0, 0.0)
        seconds = share / groups.inner_rate
    elif collective == "alltoall":
        share = _exchanged(groups)
        seconds = _of_block(groups, groups.dims / 4.0, share / groups.inner_rate)
    else:
        seconds = _of_block(groups, rounds * _gathered(groups), seconds)
    nothing = np.zeros_like(n)
    return Work(
        inner_steps=rounds * groups.around,
        outer_steps=nothing,
        inner_bytes=share,
        outer_bytes=nothing,
        inner_seconds=seconds,
        outer_seconds=nothing,
    )


def _of_block(groups: Groups, loads: Floats, ragged: Floats) -> Floats:
    """Return the seconds of the side that takes longest to carry its load, per byte of size.

    Groups that fill no block have but one ring, with what is ``ragged``.
    """
    block = groups.dims.prod(axis=0) == groups.ranks
    used = groups.dims > 1
    busiest = np.max(np.where(used, loads / np.where(used, groups.sides, 1.0), 0.0), axis=0)
    return np.asarray(np.where(block, busiest, ragged))


def _gathered(groups: Groups) -> Floats:
    """Return what an all-gather puts on a chip's links along each dimension, per byte of size.

    A part of the data for each dimension in use starts with it and goes on along the next ones:
    along a dimension of d chips go d - 1 blocks, each of what was gathered before.
    """
    dims = groups.dims
    used = np.maximum(np.sum(dims > 1, axis=0), 1)
    load = np.zeros_like(dims)
    for first in range(len(dims)):
        before = np.ones(dims.shape[1])
        for axis in [*range(first, len(dims)), *range(first)]:
            load[axis] += np.where(dims[first] > 1, (dims[axis] - 1) * before, 0.0)
            before = before * dims[axis]
    return np.asarray(load / (used * groups.ranks))


def _exchanged(groups: Groups) -> Floats:
    """Return what all-to-all puts on a chip's links, per byte of size.

    A byte travels a quarter of a dimension of size d on average (both ways round), so the two
    links of that dimension carry d/4 of the chip's bytes. The longest dimension decides; the
    rate counts the links of all dimensions in use, hence the factor.
    """
    used = np.maximum(np.sum(groups.dims > 1, axis=0), 1)
    longest = np.max(groups.dims, axis=0)
    return np.asarray(np.where(groups.ranks > 1, longest / 4.0 * used, 0.0))
