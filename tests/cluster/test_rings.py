from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from artery.catalog import system
from artery.cluster.rings import ring_orders
from artery.cluster.routing import network, paths


@pytest.mark.parametrize(
    ("spec", "rings"),
    [
        # A DGX-1 has 24 NVLinks for cycles of eight, both ways: six rings.
        ("dgx-1v", 6),
        ("dgx-1v:16", 4),
        ("dgx-h100", 1),
        ("dgx-h100:16", 8),
        # As many as the cards of four chips bear: more would share them.
        ("dgx-h100:20", 4),
        ("dgx-h100:9", 1),
        ("pcie-a100", 1),
        # Seven links to seven others: every one in a ring of its own.
        ("mi300x-8", 7),
        ("tpu-v4-pod:4x4x4", 1),
        ("gb200-nvl72:144", 72),
    ],
)
def test_rings_are_permutations(spec: str, rings: int) -> None:
    found = system(spec)
    orders = ring_orders(found, found.chips)
    assert orders.shape == (rings, found.chips)
    assert (np.sort(orders, axis=1) == np.arange(found.chips)).all()


@pytest.mark.parametrize("spec", ["dgx-1v", "mi300x-8"])
def test_rings_inside_a_node_share_no_link(spec: str) -> None:
    found = system(spec)
    net = network(found)
    orders = ring_orders(found, found.chips)
    edges = net.edges()
    load: Counter[tuple[int, int]] = Counter()
    for order in orders.tolist():
        load.update(pairwise([*order, order[0]]))
    lane = found.tiers[0].link.bandwidth / 6 if spec == "dgx-1v" else found.tiers[0].pair
    drawn = {
        (int(one), int(other)): found.links[link].bandwidth
        for one, other, link in zip(edges.source, edges.target, edges.link, strict=True)
    }
    assert all(count * lane <= drawn[hop] * (1 + 1e-9) for hop, count in load.items())


def test_rings_over_an_even_number_of_nodes_keep_to_their_rails() -> None:
    found = system("dgx-h100:512")
    net = network(found)
    orders = ring_orders(found, 512)
    source, target = orders.ravel(), np.roll(orders, -1, axis=1).ravel()
    away = source // 8 != target // 8
    assert (source[away] % 8 == target[away] % 8).all()
    # Every card carries exactly one ring each way, and no path passes a spine within a group.
    found_paths = paths(found, net, source[away], target[away])
    lengths = np.diff(found_paths.start)
    assert lengths.min() == 6
    load = np.bincount(found_paths.link, minlength=len(net.rate))
    cards = np.flatnonzero(net.kind == len(net.links) - 3)
    assert (load[cards] == 1).all()


@pytest.mark.parametrize(
    ("spec", "chips", "cards"),
    [("mi300x-8:16", 8, 8), ("dgx-1v:16", 8, 4), ("azure-ndv4:16", 8, 8)],
)
def test_rings_enter_and_leave_nodes_by_cards_of_their_own(
    spec: str, chips: int, cards: int
) -> None:
    """Two rings on one card would be half as fast each."""
    found = system(spec)
    orders = ring_orders(found, found.chips)
    for place in (0, chips - 1):
        assert len(set((orders[:, place] * cards // chips).tolist())) == cards == len(orders)


def test_rings_through_a_mesh_take_every_link_once() -> None:
    """Eight ways of seven links each: the 56 directed links of eight chips that all have one."""
    found = system("mi300x-8:16")
    used = Counter(
        pair for order in ring_orders(found, 16)[:, :8].tolist() for pair in pairwise(order)
    )
    assert len(used) == 56
    assert set(used.values()) == {1}


@pytest.mark.parametrize("chips", [9, 10, 12, 15, 21])
def test_rings_enter_and_leave_a_part_filled_node_by_cards_of_their_own(chips: int) -> None:
    orders = ring_orders(system(f"dgx-h100:{chips}"), chips)
    last = orders[:, -(chips % 8) :]
    assert len(orders) == chips % 8
    assert len(set(last[:, 0].tolist())) == len(set(last[:, -1].tolist())) == len(orders)


@pytest.mark.parametrize("chips", [10, 12, 14, 16, 18, 20, 24, 28, 40])
def test_rings_through_meshes_never_change_rails_between_nodes(chips: int) -> None:
    """Odd numbers of nodes and a part-filled last one too: no second use of a link of the mesh."""
    orders = ring_orders(system(f"mi300x-8:{chips}"), chips)
    assert (np.sort(orders, axis=1) == np.arange(chips)).all()
    source, target = orders.ravel(), np.roll(orders, -1, axis=1).ravel()
    away = source // 8 != target // 8
    assert (source[away] % 8 == target[away] % 8).all()
    inside = Counter(zip(source[~away].tolist(), target[~away].tolist(), strict=True))
    assert set(inside.values()) == {1}
    assert len(orders) == (chips % 8 or 8)
