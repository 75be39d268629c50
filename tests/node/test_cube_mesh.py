from __future__ import annotations

from collections import Counter

import pytest

from artery.catalog import link
from artery.node.cube_mesh import LINKS, cube_mesh
from artery.node.pcie_tree import Host
from artery.node.scale_up import ScaleUp

SOCKETS = 9.6e9 * link("pcie3x16").efficiency
"""B/s that cables between the sockets reach."""


@pytest.fixture
def dgx_1v() -> ScaleUp:
    host = Host(link("pcie3x16"), switches=4, sockets=2, socket_bandwidth=9.6e9)
    return cube_mesh(link("nvlink2"), host, 0.7e-6)


def test_every_chip_has_six_links() -> None:
    ends: Counter[int] = Counter()
    for (one, other), count in LINKS.items():
        ends[one] += count
        ends[other] += count
    assert ends == dict.fromkeys(range(8), 6)


def test_sixteen_pairs_are_joined_and_every_chip_has_four_neighbours() -> None:
    # NVIDIA DGX-1 white paper: a cube with 12 edges and the diagonals of two faces.
    assert len(LINKS) == 16
    assert Counter(chip for pair in LINKS for chip in pair) == dict.fromkeys(range(8), 4)


def test_the_whole_node_is_three_interwoven_rings(dgx_1v: ScaleUp) -> None:
    # NVIDIA DGX-1 white paper: "three interwoven rings of single NVLink connections", and each
    # link is 25 GB/s each way: 3 rings x 2 directions x 25.
    assert dgx_1v.tiers[0].ring[8] == pytest.approx(150e9)


def test_rings_of_small_groups(dgx_1v: ScaleUp) -> None:
    ring = dgx_1v.tiers[0].ring
    # Chips 0 and 1 share one link; in a half (fully joined, four links per chip inside) two
    # cycles fit.
    assert ring[2] == pytest.approx(25e9)
    assert ring[3] == pytest.approx(50e9)
    assert ring[4] == pytest.approx(100e9)


def test_five_chips_close_no_ring_over_nvlink(dgx_1v: ScaleUp) -> None:
    # Chip 4 has one neighbour among 0 to 3, so a cycle cannot pass it: PCIe and QPI carry it.
    assert _reached(dgx_1v, dgx_1v.tiers[0].ring[5]) == pytest.approx(SOCKETS)


def test_the_slowest_pair_goes_through_the_sockets(dgx_1v: ScaleUp) -> None:
    assert _reached(dgx_1v, dgx_1v.tiers[0].pair) == pytest.approx(SOCKETS)


def test_neighbours_send_over_a_link_of_their_own_where_they_have_one(dgx_1v: ScaleUp) -> None:
    # 0-1 and 3-0 have one and two NVLinks, 1-2 and 2-3 two; 3-4 and 7-0 have none.
    onward = dgx_1v.tiers[0].onward
    assert onward[4] == pytest.approx(25e9)
    assert _reached(dgx_1v, onward[8]) == pytest.approx(SOCKETS)


def test_only_cables_between_the_halves_hold_an_exchange_back(dgx_1v: ScaleUp) -> None:
    # Six chips: 0 to 3 with 4 and 5, of which 0-4 and 1-5 are joined: six pairs share the sockets.
    tier = dgx_1v.tiers[0]
    assert _reached(dgx_1v, tier.exchange[6]) == pytest.approx(5 / 6 * SOCKETS)
    assert tier.own_exchange[6] == pytest.approx(5 * 25e9)


def _reached(domain: ScaleUp, rate: float) -> float:
    return rate * domain.tiers[0].link.efficiency


def test_cables_carry_one_or_two_links(dgx_1v: ScaleUp) -> None:
    nvlink = [dgx_1v.links[index] for one, other, index in dgx_1v.cables if max(one, other) < 8]
    assert Counter(cable.bandwidth for cable in nvlink) == {25e9: 8, 50e9: 8}
