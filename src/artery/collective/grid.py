"""Groups on a torus: how far they reach along its sides, and what that gives them."""

from __future__ import annotations

import numpy as np

from artery.cluster.torus import Torus
from artery.core.arrays import Flags, Floats, Ints
from artery.core.system import System, Tier


def extents(system: System, ranks: Ints, stride: Ints) -> Floats:
    """Return how far a group extends along each dimension of the torus (one row each)."""
    torus = _tier(system)
    sizes = torus.dims if torus is not None else ()
    found = np.ones((max(len(sizes), 1), len(ranks)))
    below = np.ones(len(ranks))
    for axis, size in enumerate(sizes):
        # Members lie at multiples of the stride below ranks·stride.
        reach = np.ceil(ranks * stride / below)
        gap = np.maximum(stride / below, 1.0)
        found[axis] = np.clip(np.ceil(np.minimum(reach, size) / gap), 1.0, size)
        below = below * size
    return found


def is_torus(system: System) -> bool:
    """Whether the chips of a system stand in a torus."""
    return _tier(system) is not None


def _tier(system: System) -> Tier | None:
    """Return the torus among the tiers of a system, if it is one."""
    return next((tier for tier in system.tiers if tier.kind == "torus"), None)


def side_rates(system: System, dims: Floats) -> Floats:
    """Return B/s of a chip along each dimension (one row each) of blocks that reach along ``dims``.

    A dimension that is filled and closed gives rings both ways round, an open or partly filled
    one a line there and back.
    """
    tier = _tier(system)
    if tier is None:
        return np.zeros_like(dims)
    links = np.where(_rings(system, tier, dims), 2.0, 1.0)
    rate = tier.pair * tier.link.efficiency  # what is left of a link, where some are lost
    return np.asarray(np.where(dims > 1, links, 0.0) * rate)


def _rings(system: System, tier: Tier, dims: Floats) -> Flags:
    """Return along which of a torus's dimensions, one row each, groups go round a closed ring.

    Where nobody says which are closed, that follows from what a chip can send: all or none.
    """
    sizes = np.array(tier.dims, dtype=np.float64)[:, None]
    grid = system.router.structure
    if isinstance(grid, Torus):
        closed = np.array(grid.wrapped)[:, None]
    else:
        every = tier.pair * np.count_nonzero(sizes > 1)
        closed = np.full_like(sizes, tier.bandwidth > every * (1 + 1e-9), dtype=np.bool_)
    return np.asarray((dims == sizes) & closed & (sizes > 2))


def around(system: System, dims: Floats) -> Floats:
    """Return the steps along all dimensions, one after the other; data go both ways."""
    tier = _tier(system)
    if tier is None:
        return np.zeros(dims.shape[1])
    steps = np.where(_rings(system, tier, dims), np.floor(dims / 2), dims - 1)
    return np.asarray(steps.sum(axis=0))
