"""A permutation on a fat tree of 1,024 hosts (k = 16), 100 Gb/s, as works for the engines.

The case that htsim, a packet simulator with real transports, was run on beside ours.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from artery.native.gates import at_times
from artery.native.work import Links, Transfers, Work

Longs = NDArray[np.int64]

K: Final = 16
HALF: Final = K // 2
HOSTS: Final = K**3 // 4
RATE: Final = 12_500_000_000
"""B/s: 100 Gb/s."""


def hops(source: Longs, target: Longs, first: Longs, second: Longs) -> Longs:
    """Return the links by way of aggregation switch ``first`` and its core ``second``, -1: none."""
    edge, far = source // HALF, target // HALF
    pod, away = edge // HALF, far // HALF
    climbs, crosses = edge != far, pod != away
    return np.stack(
        [
            source,
            np.where(climbs, 2 * HOSTS + edge * HALF + first, -1),
            np.where(crosses, 4 * HOSTS + (pod * HALF + first) * HALF + second, -1),
            np.where(crosses, 5 * HOSTS + (away * HALF + first) * HALF + second, -1),
            np.where(climbs, 3 * HOSTS + far * HALF + first, -1),
            HOSTS + target,
        ],
        axis=1,
    )


def permutation(seed: int, ways: int, size: int, latency: int) -> Work:
    """Return a random permutation of ``size`` bytes each, over ``ways`` paths in random order.

    ``latency`` is that of a link, ps.
    """
    random = np.random.default_rng(seed)
    source, target = np.arange(HOSTS), random.permutation(HOSTS)
    source, target = source[source != target], target[source != target]
    n = source.size
    drawn = random.permuted(np.tile(np.arange(HALF * HALF), (n, 1)), axis=1)[:, :ways].ravel()
    found = hops(np.repeat(source, ways), np.repeat(target, ways), drawn // HALF, drawn % HALF)
    transfers = Transfers(
        np.full(n, size),
        (np.arange(n) * ways).astype(np.int32),
        np.concatenate([[0], np.cumsum((found >= 0).sum(axis=1))]),
        found[found >= 0].astype(np.int32),
        np.full(n, ways, np.int32),
    )
    links = Links(np.full(6 * HOSTS, RATE), np.full(6 * HOSTS, latency))
    return Work(links, transfers, at_times(np.zeros(n, np.int64)))
