"""The bandwidths that nccl-tests prints, and the wire rate behind them.

``algbw`` is size over time. ``busbw`` is algbw times a factor that makes it comparable with the
link rate (nccl-tests, doc/PERFORMANCE.md): it assumes a ring, so a tree over two nodes or a
reduction inside the switch may show more than the link carries.
"""

from __future__ import annotations

import numpy as np

from artery.collective.groups import Groups
from artery.collective.work import Work
from artery.core.arrays import Floats, Ints
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


def wire_factor(
    collective: Collective, groups: Groups, work: Work, *, in_network: bool = False
) -> Floats:
    """Return the bytes that one chip puts on the wires, per byte of size.

    For a group on k nodes: what leaves the nodes, averaged over all n chips: 2(k-1)/n for
    all-reduce, which is the rate busbw·(k-1)/(n-1) that a network card per chip must carry;
    (k-1)/n for all-gather, reduce-scatter, broadcast and reduce; 1 - 1/k for all-to-all. If
    the network adds (``in_network``), every node sends its data just once. For a group inside
    one node: what its busiest chip sends over the links of the node.
    """
    n, k = groups.ranks, groups.nodes
    if in_network:
        outside = work.outer_bytes * k / n
    elif collective == "alltoall":
        outside = 1.0 - 1.0 / k
    elif collective == "sendrecv":
        outside = np.ones_like(n)
    else:
        outside = _RING_FACTORS.get(collective, 1.0) * (k - 1.0) / n
    return np.asarray(np.where(k > 1.0, outside, work.inner_bytes))
