from __future__ import annotations

import pytest

from artery.catalog import chip, link
from artery.node.full_mesh import full_mesh
from artery.node.nvl72 import nvl72
from artery.node.nvswitch import nvswitch
from artery.node.pcie_tree import Host
from artery.node.single import alone, single


def test_a_chip_fans_out_over_all_switches() -> None:
    domain = nvswitch(8, link("nvlink4"), 1e-6, switches=4)
    cables = [domain.links[index].bandwidth for _, _, index in domain.cables]
    assert len(cables) == 32
    assert sum(cables) == pytest.approx(8 * 450e9)


def test_the_rack_is_one_domain_of_eighteen_trays() -> None:
    host = Host(link("nvlink-c2c"), sockets=2)
    rack = nvl72(link("nvlink5"), 1e-6, host)
    assert (rack.chips, rack.nodes) == (72, 18)
    assert len({seat for seats in rack.seats for seat in seats}) == 36
    # NVIDIA: 130 TB/s in both directions together.
    assert 2 * rack.chips * rack.tiers[0].bandwidth == pytest.approx(130e12, rel=0.01)


def test_cards_sit_on_the_pcie_switches_in_order() -> None:
    host = Host(link("pcie5x16"), switches=4, sockets=2)
    domain = nvswitch(8, link("nvlink4"), 1e-6, switches=4, host=host)
    assert domain.seats == ((12, 13, 14, 15),)
    assert {(one, other) for one, other, _ in domain.cables if one < 2 and other >= 12} == {
        (0, 12),
        (1, 12),
    }


def test_a_full_mesh_has_a_link_for_every_pair() -> None:
    mesh = full_mesh(8, link("xgmi-mi300x"), 1e-6)
    tier = mesh.tiers[0]
    assert len(mesh.cables) == 28
    assert tier.bandwidth == pytest.approx(7 * 64e9)
    assert tier.pair == pytest.approx(64e9)
    # Two chips have one link, all eight use seven: 47.7 and 312.9 GB/s were measured, 75 and 70 %.
    assert (tier.ring[2], tier.ring[8]) == pytest.approx((64e9, 448e9))


def test_a_single_card_has_no_scale_up_tier() -> None:
    domain = single(link("pcie4x16"))
    assert (domain.tiers, domain.seats) == ((), ((1,),))


def test_one_chip_alone_is_its_own_crossbar() -> None:
    h100 = chip("h100-sxm")
    tier = alone(h100).tiers[0]
    assert (tier.kind, tier.chips, tier.bandwidth) == ("crossbar", 1, h100.memory.bandwidth)
