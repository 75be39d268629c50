from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from artery.catalog import link
from artery.cluster.fat_tree import FatTree, Level, fat_tree_tiers
from artery.cluster.stages import TooManyPortsError, fat_tree_edges, stages


def tree(*levels: Level, cards: int = 8, rails: bool = True, planes: int = 1) -> FatTree:
    return FatTree(link("ib-ndr"), cards, levels, 1e-6, 0.5e-6, rails=rails, planes=planes)


SUPERPOD = tree(Level("leaf", 32), Level("spine", 256), Level("core", None))


@pytest.mark.parametrize(
    ("nodes", "switches"),
    [
        (64, [16, 8]),
        (128, [32, 16]),
        (256, [64, 32]),
        (512, [128, 128, 64]),
        (1024, [256, 256, 128]),
        (2048, [512, 512, 256]),
    ],
)
def test_switches_of_the_superpod(nodes: int, switches: list[int]) -> None:
    # NVIDIA DGX SuperPOD reference architecture, B200, table of larger configurations.
    found = stages(SUPERPOD.clipped(nodes), nodes)
    assert [stage.count for stage in found] == switches


@pytest.mark.parametrize(("nodes", "cables"), [(64, [512, 512]), (512, [4096, 4096, 4096])])
def test_cables_of_the_superpod(nodes: int, cables: list[int]) -> None:
    # The same table: node to leaf, leaf to spine, spine to core.
    clipped = SUPERPOD.clipped(nodes)
    found = stages(clipped, nodes)
    assert [nodes * 8, *(stage.count * stage.up for stage in found[:-1])] == cables
    lower, upper = fat_tree_edges(clipped, nodes)
    assert len(lower) == len(upper) == sum(cables)


@pytest.mark.parametrize(
    ("endpoints", "levels", "switches", "links"),
    [
        (2048, (Level("leaf", 32), Level("spine", None)), 96, 2048),
        (65536, (Level("leaf", 32), Level("spine", 1024), Level("core", None)), 5120, 131072),
    ],
)
def test_fat_trees_of_the_deepseek_table(
    endpoints: int, levels: tuple[Level, ...], switches: int, links: int
) -> None:
    # DeepSeek-V3 ISCA 2025, Table 3: FT2 and FT3 from 64-port switches.
    found = stages(tree(*levels, cards=1, rails=False), endpoints)
    assert sum(stage.count for stage in found) == switches
    assert sum(stage.count * stage.up for stage in found) == links


def test_the_pod_of_hpn() -> None:
    # Alibaba HPN, SIGCOMM 2024: 16 leaves to a segment of 128 hosts, 15 segments and 120
    # aggregation switches to a pod, both planes together; ports of 200 Gb/s.
    hpn = tree(
        Level("segment", 128, radix=256),
        Level("pod", 1920, taper=16 / 15, radix=256),
        Level("core", None, taper=15, radix=256),
        planes=2,
    )
    leaf, spine, _ = stages(hpn, 2 * 1920)
    assert 2 * leaf.group == 16
    assert leaf.up == 120
    assert 2 * spine.group == 120


def test_cards_of_a_rail_meet_on_one_leaf() -> None:
    lower, upper = fat_tree_edges(SUPERPOD.clipped(64), 64)
    leaf = upper[: 64 * 8].reshape(64, 8)
    assert (leaf[:32] == leaf[0]).all()
    assert len(set(leaf[0])) == 8
    assert not set(leaf[0]) & set(leaf[32])
    assert (lower[: 64 * 8] == np.arange(512)).all()


def test_without_rails_a_rack_shares_its_leaf() -> None:
    rack = tree(Level("rack", 2), Level("pod", None, radix=576), rails=False)
    _, upper = fat_tree_edges(rack, 8)
    leaf = upper[: 8 * 8].reshape(4, 16)
    assert [len(set(row)) for row in leaf] == [1, 1, 1, 1]
    assert len(set(leaf[:, 0])) == 4


def test_up_links_spread_evenly() -> None:
    uneven = tree(Level("rack", 2), Level("pod", None, radix=100), rails=False)
    nodes = 40
    found = stages(uneven, nodes)
    _, upper = fat_tree_edges(uneven, nodes)
    loads = np.unique(upper[nodes * 8 :], return_counts=True)[1]
    assert len(loads) == found[1].count
    assert loads.max() - loads.min() <= 1
    assert loads.max() <= 100


def test_no_switch_has_more_cables_than_ports() -> None:
    tapered = tree(Level("leaf", 40), Level("spine", 240, 2.0), Level("core", None, 3.0))
    for nodes in (10, 100, 480, 1000):
        clipped = tapered.clipped(nodes)
        lower, upper = fat_tree_edges(clipped, nodes)
        switches = np.concatenate([lower, upper])
        switches = switches[switches >= nodes * 8]
        assert np.unique(switches, return_counts=True)[1].max() <= 64


def test_planes_are_copies_that_share_only_the_cards() -> None:
    two = replace(SUPERPOD.clipped(64), planes=2)
    lower, upper = fat_tree_edges(two, 64)
    half = len(lower) // 2
    first, second = set(upper[:half]), set(upper[half:])
    assert not first & second
    assert len(first) == len(second)


def test_too_many_nodes_on_a_rail_leaf() -> None:
    with pytest.raises(TooManyPortsError, match="40 nodes"):
        stages(tree(Level("leaf", 40), Level("spine", None)), 80)


def test_tiers_share_cards_and_taper() -> None:
    tapered = tree(Level("rack", 2), Level("pod", 8), Level("top", None, 7.0), cards=4, rails=False)
    rack, pod, top = fat_tree_tiers(tapered, 8, 1000)
    assert [tier.chips for tier in (rack, pod, top)] == [16, 64, 1000]
    # Four cards of 50 GB/s among eight chips; alone a chip has a card to itself.
    assert rack.bandwidth == pod.bandwidth == pytest.approx(25e9)
    assert top.bandwidth == pytest.approx(25e9 / 7)
    assert {tier.burst for tier in (rack, pod, top)} == {50e9}
    assert [tier.latency for tier in (rack, pod, top)] == pytest.approx([1e-6, 2e-6, 3e-6])
