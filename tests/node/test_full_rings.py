from __future__ import annotations

from itertools import pairwise

import pytest

from artery.node.full_rings import full_rings


@pytest.mark.parametrize("chips", [3, 5, 7, 8, 9, 10])
def test_every_directed_link_lies_in_one_ring(chips: int) -> None:
    rings = full_rings(chips)
    assert len(rings) == chips - 1
    hops = [hop for ring in rings for hop in pairwise([*ring, ring[0]])]
    assert sorted(hops) == [(a, b) for a in range(chips) for b in range(chips) if a != b]
    assert all(sorted(ring) == list(range(chips)) for ring in rings)


@pytest.mark.parametrize("chips", [1, 2, 4, 6, 11])
def test_where_there_are_none(chips: int) -> None:
    assert full_rings(chips) == ()
