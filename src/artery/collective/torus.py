"""Tori without switches (TPU): one dimension after the other, both directions of every ring.

"How to scale your model" (Google DeepMind, 2025), chapter on sharded matrices: an all-gather
over a ring of closed links takes size over the bandwidth of both directions, over several
dimensions at once that of all of them; an all-to-all a quarter of that per dimension.
"""

from __future__ import annotations

import numpy as np

from artery.collective.groups import Groups
from artery.collective.work import Work
from artery.core.pricing import Collective


def torus(groups: Groups, collective: Collective) -> Work:
    """Return the work of a collective by dimension.

    Steps: half of every closed dimension (data goes both ways round) and all of an open one, twice
    for all-reduce. Bytes as
    in a ring over the group's chips, spread over the rings of all dimensions that it fills
    (``inner_rate`` counts these).
    """
    n = groups.ranks
    rounds = 2.0 if collective == "all_reduce" else 1.0
    share = rounds * (n - 1) / n
    if collective in {"broadcast", "reduce"}:
        share = np.where(n > 1, 1.0, 0.0)
    if collective == "alltoall":
        share = _exchanged(groups)
    nothing = np.zeros_like(n)
    return Work(
        inner_steps=rounds * groups.around,
        outer_steps=nothing,
        inner_bytes=share,
        outer_bytes=nothing,
        inner_seconds=share / groups.inner_rate,
        outer_seconds=nothing,
    )


def _exchanged(groups: Groups) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Return what all-to-all puts on a chip's links, per byte of size.

    A byte travels a quarter of a dimension of size d on average (both ways round), so the two
    links of that dimension carry d/4 of the chip's bytes. The longest dimension decides; the
    rate counts the links of all dimensions in use, hence the factor.
    """
    used = np.maximum(np.sum(groups.dims > 1, axis=0), 1)
    longest = np.max(groups.dims, axis=0)
    return np.asarray(np.where(groups.ranks > 1, longest / 4.0 * used, 0.0))
