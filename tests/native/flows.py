"""Networks and flows that the tests of the fluid engines share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from artery.native.maxmin import Crossings


def crossings(
    paths: Sequence[Sequence[int]], weights: Sequence[Sequence[float]] | None = None
) -> Crossings:
    """Return the crossings of flows given as lists of links."""
    start = np.cumsum([0, *(len(path) for path in paths)], dtype=np.int64)
    link = np.array([one for path in paths for one in path], np.int32)
    if weights is None:
        return Crossings(start, link)
    return Crossings(start, link, np.array([one for part in weights for one in part]))


def clos(hosts: int, radix: int, *, rounds: int, seed: int) -> tuple[Crossings, int]:
    """Return permutations of ``hosts`` over a three-tier Clos, hashed, and its number of links.

    Leaves have ``radix`` hosts and uplinks, pods ``radix`` leaves; a spine has ``radix`` cores.
    """
    random = np.random.default_rng(seed)
    uplinks = hosts  # a leaf has as many uplinks as hosts
    source = np.tile(np.arange(hosts), rounds)
    target = np.concatenate([random.permutation(hosts) for _ in range(rounds)])
    spine, core = random.integers(0, radix, (2, source.size))
    leaf_a, leaf_b = source // radix, target // radix
    pod_a, pod_b = leaf_a // radix, leaf_b // radix
    climbs, crosses = leaf_a != leaf_b, pod_a != pod_b
    hops = np.stack(
        [
            source,
            np.where(climbs, 2 * hosts + leaf_a * radix + spine, -1),
            np.where(crosses, 2 * hosts + 2 * uplinks + (pod_a * radix + spine) * radix + core, -1),
            np.where(crosses, 2 * hosts + 3 * uplinks + (pod_b * radix + spine) * radix + core, -1),
            np.where(climbs, 2 * hosts + uplinks + leaf_b * radix + spine, -1),
            hosts + target,
        ],
        axis=1,
    ).astype(np.int32)
    crossed: NDArray[np.bool_] = hops >= 0
    start = np.concatenate([[0], np.cumsum(crossed.sum(axis=1))])
    pods = -(-hosts // (radix * radix))
    return Crossings(start, hops[crossed]), 2 * hosts + 2 * uplinks + 2 * pods * radix * radix
