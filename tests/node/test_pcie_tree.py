from __future__ import annotations

from dataclasses import replace

import pytest

from artery.catalog import link
from artery.core.link import Link
from artery.node.nvlink_pairs import nvlink_pairs
from artery.node.pcie_tree import STAGED, Host, pcie_tree

RATE = 31.508e9


@pytest.fixture
def pcie() -> Link:
    return link("pcie4x16")


def test_a_ring_with_peer_to_peer_runs_at_one_slot(pcie: Link) -> None:
    # A ring in order leaves each switch once each way, so nothing is shared.
    tiers = pcie_tree(8, Host(pcie, switches=2), 1e-6).tiers
    assert [tier.chips for tier in tiers] == [4, 8]
    assert tiers[-1].ring[2:] == pytest.approx([RATE] * 7)


def test_all_chips_at_once_share_the_up_link(pcie: Link) -> None:
    tiers = pcie_tree(8, Host(pcie, switches=2), 1e-6).tiers
    assert tiers[0].bandwidth == pytest.approx(RATE)
    assert tiers[1].bandwidth == pytest.approx(RATE / 4)
    assert tiers[1].burst == pytest.approx(RATE)


def test_a_slow_socket_link_bounds_the_ring_across_it(pcie: Link) -> None:
    host = Host(pcie, switches=2, sockets=2, socket_bandwidth=10e9)
    ring = pcie_tree(8, host, 1e-6).tiers[-1].ring
    assert ring[4] == pytest.approx(RATE)
    assert ring[5] == pytest.approx(10e9)


def test_staged_transfers_cross_host_memory_twice(pcie: Link) -> None:
    host = Host(pcie, memory=51.2e9, peer_to_peer=False)
    tier = pcie_tree(2, host, 1e-6).tiers[0]
    # Two hops, each written and read once: four times the ring's rate.
    assert tier.ring[2] == pytest.approx(51.2e9 / 4)
    assert tier.pair == pytest.approx(51.2e9 / 2)
    assert tier.link.kind == STAGED


def test_staged_transfers_all_pass_the_up_link(pcie: Link) -> None:
    direct = pcie_tree(8, Host(pcie, switches=2), 1e-6).tiers[-1].ring[8]
    host = Host(pcie, switches=2, memory=1e12, peer_to_peer=False)
    assert pcie_tree(8, host, 1e-6).tiers[-1].ring[8] == pytest.approx(direct / 4)


def test_staging_is_never_faster_than_peer_to_peer(pcie: Link) -> None:
    for switches in (0, 1, 2, 4):
        host = Host(pcie, switches=switches, memory=200e9, peer_to_peer=False)
        staged = pcie_tree(8, host, 1e-6).tiers[-1]
        direct = pcie_tree(8, replace(host, peer_to_peer=True), 1e-6).tiers[-1]
        assert all(a <= b for a, b in zip(staged.ring, direct.ring, strict=True))
        assert staged.bandwidth <= direct.bandwidth


def test_a_bridge_serves_its_pair_and_pcie_the_rest(pcie: Link) -> None:
    bridge = link("nvlink-bridge-3")
    host = Host(pcie, memory=200e9, peer_to_peer=False)
    pair, whole = nvlink_pairs(4, bridge, host, 1e-6).tiers
    assert (pair.chips, pair.bandwidth) == (2, bridge.bandwidth)
    assert whole.ring[2] == pytest.approx(bridge.bandwidth)
    # Of the ring's four hops two cross bridges, two are staged.
    assert whole.ring[4] == pytest.approx(min(RATE, 200e9 / 4))


def test_a_bridged_pair_alone_has_no_tier_above(pcie: Link) -> None:
    tiers = nvlink_pairs(2, link("nvlink-bridge-3"), Host(pcie), 1e-6).tiers
    assert [tier.kind for tier in tiers] == ["pairs"]
