from __future__ import annotations

from itertools import combinations

import pytest

from artery.core.link import Link
from artery.node.graph import graph
from artery.node.paths import NoWayError, Paths
from artery.node.scale_up import Layout

WIRE = Link("wire", "test", 10e9, 1.0, 1e-6)
THIN = Link("thin", "test", 2e9, 1.0, 1e-6)


def star(chips: int) -> Layout:
    layout = Layout(chips)
    (hub,) = layout.add("switch", "hub", 1)
    for chip in range(chips):
        layout.join(chip, hub, WIRE)
    return layout


def test_a_star_gives_every_chip_its_own_wire() -> None:
    tier = graph(star(5), 1e-6).tiers[0]
    assert (tier.bandwidth, tier.burst, tier.pair) == pytest.approx((10e9, 10e9, 10e9))
    assert tier.ring[2:] == pytest.approx([10e9] * 4)
    assert tier.latency == pytest.approx(2e-6)


def test_two_stars_joined_by_a_thin_wire() -> None:
    layout = Layout(4)
    left, right = layout.add("switch", "hub", 2)
    for chip in range(4):
        layout.join(chip, left if chip < 2 else right, WIRE)
    layout.join(left, right, THIN)
    tier = graph(layout, 1e-6).tiers[0]
    # Of what a chip sends, two thirds cross, two chips at a time: rate · 4/3 = 2 GB/s.
    assert tier.bandwidth == pytest.approx(1.5e9)
    assert tier.pair == pytest.approx(2e9)
    assert tier.ring[2:] == pytest.approx([10e9, 2e9, 2e9])
    # Of three chips two send over the thin wire at a time: rate · 2/2.
    assert tier.exchange[2:] == pytest.approx([10e9, 2e9, 1.5e9])


def test_a_complete_graph_uses_all_its_wires() -> None:
    layout = Layout(6)
    for one, other in combinations(range(6), 2):
        layout.join(one, other, WIRE)
    assert graph(layout, 1e-6).tiers[0].bandwidth == pytest.approx(5 * 10e9)


def test_a_path_passes_other_chips_only_if_it_must() -> None:
    line = Layout(3)
    line.join(0, 1, WIRE)
    line.join(1, 2, WIRE)
    assert Paths(line).between(0, 2) == [0, 1, 2]
    (hub,) = line.add("switch", "hub", 1)
    for chip in (0, 2):
        line.join(chip, hub, WIRE)
    assert Paths(line).between(0, 2) == [0, hub, 2]


def test_parallel_cables_add_up() -> None:
    layout = Layout(2)
    layout.join(0, 1, WIRE)
    layout.join(0, 1, THIN)
    assert graph(layout, 1e-6).tiers[0].pair == pytest.approx(12e9)


def test_chips_that_are_not_joined_are_named() -> None:
    lonely = Layout(3)
    lonely.join(0, 1, WIRE)
    with pytest.raises(NoWayError, match="chip 2") as caught:
        graph(lonely, 1e-6)
    assert caught.value.target == 2
