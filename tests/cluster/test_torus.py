from __future__ import annotations

from itertools import product
from math import prod

import numpy as np
import pytest
from numpy.typing import NDArray

from artery.catalog import link
from artery.cluster.torus import Torus, squarest, torus, torus_tier, torus_wiring


def slice_of(*dims: int, cube: int = 4, each_side: bool = False) -> Torus:
    return torus(dims, link("ici-v4"), cube, each_side=each_side)


@pytest.mark.parametrize(
    ("chips", "shape"),
    [
        # Google Cloud TPU v5p documentation, table of slice shapes.
        (4, (1, 2, 2)),
        (8, (2, 2, 2)),
        (32, (2, 4, 4)),
        (64, (4, 4, 4)),
        (128, (4, 4, 8)),
        (256, (4, 8, 8)),
        (1024, (8, 8, 16)),
        (6144, (16, 16, 24)),
        (7, (1, 1, 7)),
        (1, (1, 1, 1)),
    ],
)
def test_the_squarest_shape(chips: int, shape: tuple[int, ...]) -> None:
    assert squarest(chips, 3) == shape


def test_the_squarest_shape_is_the_best_of_all() -> None:
    for chips in range(1, 200):
        sides = [side for side in range(1, chips + 1) if chips % side == 0]
        every = [dims for dims in product(sides, repeat=2) if prod(dims) == chips]
        assert max(squarest(chips, 2)) == min(max(dims) for dims in every)


def degrees(grid: Torus) -> NDArray[np.intp]:
    edges = torus_wiring(grid)
    return np.bincount(edges.source, minlength=grid.chips)


def test_a_wrapped_cube_has_six_neighbours_everywhere() -> None:
    grid = slice_of(4, 4, 8)
    assert (degrees(grid) == 6).all()
    assert torus_tier(grid).bandwidth == pytest.approx(6 * 50e9)


def test_an_open_mesh_has_fewer_at_its_rim() -> None:
    grid = slice_of(2, 4, 4)
    assert grid.wrapped == (False, False, False)
    assert sorted(set(degrees(grid))) == [3, 4, 5]


def test_a_side_may_wrap_by_itself() -> None:
    grid = slice_of(4, 16, cube=16, each_side=True)
    assert grid.wrapped == (False, True)
    # An open side carries one ring there and back, a closed one two.
    assert torus_tier(grid).bandwidth == pytest.approx(3 * 50e9)


@pytest.mark.parametrize("dims", [(4, 4, 4), (4, 4, 8), (4, 8, 8)])
def test_bisection_of_a_torus(dims: tuple[int, ...]) -> None:
    # Halving the longest side cuts two links for every chip of the plane across it.
    grid = slice_of(*dims)
    edges = torus_wiring(grid)
    half = grid.chips // 2
    crossing = int(((edges.source < half) & (edges.target >= half)).sum())
    assert crossing == 2 * grid.chips // dims[-1]
    assert crossing * 50e9 <= half * torus_tier(grid).bandwidth


def test_rings_of_packed_groups() -> None:
    ring = torus_tier(slice_of(4, 4, 8)).ring
    links = {group: round(ring[group] / 50e9) for group in (2, 3, 4, 8, 12, 16, 32, 128, 6, 20)}
    # Whole closed sides have two rings each, an open stretch one, a ragged group one in all.
    assert links == {2: 1, 3: 1, 4: 2, 8: 3, 12: 3, 16: 4, 32: 5, 128: 6, 6: 1, 20: 1}


def test_a_ring_never_beats_the_links() -> None:
    for dims in ((1, 2, 2), (2, 2, 2), (4, 4, 4), (3, 5, 7)):
        tier = torus_tier(slice_of(*dims))
        assert max(tier.ring) <= tier.bandwidth
        assert tier.ring[-1] == tier.bandwidth
