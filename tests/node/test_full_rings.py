from __future__ import annotations

from itertools import pairwise

import pytest

from artery.node.full_rings import full_rings, full_ways


@pytest.mark.parametrize("chips", [3, 5, 7, 8, 9, 10])
def test_every_directed_link_lies_in_one_ring(chips: int) -> None:
    rings = full_rings(chips)
    assert len(rings) == chips - 1
    hops = [hop for ring in rings for hop in pairwise([*ring, ring[0]])]
    assert sorted(hops) == [(a, b) for a in range(chips) for b in range(chips) if a != b]
    assert all(sorted(ring) == list(range(chips)) for ring in rings)


@pytest.mark.parametrize("chips", [4, 6])
def test_where_links_do_not_split_every_one_lies_in_two_rings(chips: int) -> None:
    rings = full_rings(chips)
    hops = [hop for ring in rings for hop in pairwise([*ring, ring[0]])]
    every = [(a, b) for a in range(chips) for b in range(chips) if a != b]
    assert sorted(hops) == sorted([*every, *every])
    assert all(sorted(ring) == list(range(chips)) for ring in rings)


@pytest.mark.parametrize("chips", [2, 4, 6, 8])
def test_ways_through_all_chips_take_every_link_and_end_at_every_chip(chips: int) -> None:
    ways = full_ways(chips)
    hops = [hop for way in ways for hop in pairwise(way)]
    assert sorted(hops) == [(a, b) for a in range(chips) for b in range(chips) if a != b]
    assert sorted(way[0] for way in ways) == sorted(way[-1] for way in ways) == [*range(chips)]


@pytest.mark.parametrize(("chips", "mask"), [(4, 2), (4, 3), (8, 1), (8, 2), (8, 3), (6, 1)])
def test_ways_end_where_a_mask_says(chips: int, mask: int) -> None:
    ways = full_ways(chips, mask)
    assert [(way[0], way[-1]) for way in ways] == [(chip, chip ^ mask) for chip in range(chips)]
    hops = [hop for way in ways for hop in pairwise(way)]
    assert sorted(hops) == [(a, b) for a in range(chips) for b in range(chips) if a != b]


@pytest.mark.parametrize("chips", [1, 2, 11])
def test_where_there_are_none(chips: int) -> None:
    assert full_rings(chips) == ()
