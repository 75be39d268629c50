"""The bandwidths that nccl-tests prints, and the wire rate behind them.

``algbw`` is size over time. ``busbw`` is algbw times a factor that makes it comparable with the
link rate (nccl-tests, doc/PERFORMANCE.md): it assumes a ring, so a tree over two nodes or a
reduction inside the switch may show more than the link carries.
"""

from __future__ import annotations

import numpy as np

from artery.collective.arrays import Floats, Ints
from artery.core.pricing import Collective

_RING_FACTORS: dict[Collective, float] = {
    "all_reduce": 2.0,
    "all_gather": 1.0,
    "reduce_scatter": 1.0,
    "alltoall": 1.0,
}


def bus_factor(collective: Collective, ranks: Ints | Floats) -> Floats:
    """Return busbw / algbw.

    2(n-1)/n for all-reduce; (n-1)/n for all-gather, reduce-scatter and all-to-all; 1 for
    broadcast, reduce and send/receive; 0 for a single rank (nothing moves).
    """
    n = np.maximum(np.asarray(ranks, dtype=np.float64), 1.0)
    if collective in _RING_FACTORS:
        return np.asarray(_RING_FACTORS[collective] * (n - 1.0) / n)
    return np.asarray(np.where(n > 1.0, 1.0, 0.0))


def wire_factor(collective: Collective, ranks: Ints | Floats, nodes: Ints | Floats) -> Floats:
    """Return the bytes that one chip sends out of its node on average, per byte of size.

    All-reduce: 2(k-1)/n for k nodes and n ranks, which turns busbw into busbw·(k-1)/(n-1)
    (the rate that a NIC per chip must carry); all-gather and reduce-scatter (k-1)/n; all-to-all
    (n - n/k)/n; broadcast and reduce (k-1)/n. For a group inside one node the factor is that of
    its own links instead, :func:`bus_factor`.
    """
    n = np.maximum(np.asarray(ranks, dtype=np.float64), 1.0)
    k = np.asarray(nodes, dtype=np.float64)
    if collective == "alltoall":
        outside = 1.0 - 1.0 / k
    elif collective == "sendrecv":
        outside = np.where(k > 1.0, 1.0, 0.0)
    else:
        outside = _RING_FACTORS.get(collective, 1.0) * (k - 1.0) / n
    if collective == "all_reduce":
        outside = 2.0 * (k - 1.0) / n
    return np.asarray(np.where(k > 1.0, outside, bus_factor(collective, n)))
