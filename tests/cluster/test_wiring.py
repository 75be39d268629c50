from __future__ import annotations

from collections import Counter
from math import prod

import numpy as np
import pytest

from artery.catalog import system
from artery.core.system import System
from tests.flows import bisection, max_flow, reached

SYSTEMS = (
    "dgx-1v:16",
    "dgx-a100:24",
    "dgx-h100:12",
    "hgx-h100-roce:64",
    "gb200-nvl72:100",
    "aliyun-hpn7:32",
    "aws-p4d:32",
    "aws-p5:24",
    "aws-p5:128",
    "aws-p5:136",
    "mi300x-8:16",
    "pcie-a100:16",
    "rtx3090x2",
    "ethernet-10g:7",
    "tpu-v4-pod:2x4x4",
    "jean-zay-a100:16",
    "dgx-h100:1",
)


@pytest.mark.parametrize("spec", SYSTEMS)
def test_every_chip_reaches_all_chips_and_the_whole_fabric(spec: str) -> None:
    found = system(spec)
    vertices = sum(group.count for group in found.groups)
    inside = vertices - fabric_size(found)
    assert {*range(found.chips), *range(inside, vertices)} <= reached(found)


def fabric_size(found: System) -> int:
    """Number of the cards and of the switches after them: the last vertices."""
    kinds = [group.kind for group in found.groups]
    first = kinds.index("nic") if "nic" in kinds else len(kinds)
    return sum(group.count for group in found.groups[first:])


@pytest.mark.parametrize("spec", SYSTEMS)
def test_a_cable_is_two_edges_and_stays_in_the_system(spec: str) -> None:
    found = system(spec)
    edges = found.wiring()
    there = Counter(
        zip(edges.source.tolist(), edges.target.tolist(), edges.link.tolist(), strict=True)
    )
    back = Counter(
        zip(edges.target.tolist(), edges.source.tolist(), edges.link.tolist(), strict=True)
    )
    assert there == back
    vertices = sum(group.count for group in found.groups)
    assert edges.source.max(initial=-1) < vertices
    assert edges.link.max(initial=-1) < len(found.links)


def test_edges_are_counted() -> None:
    # Two nodes: 32 NVLink, 8 + 4 PCIe and 1 socket cables each; 8 cards, plugged in and up.
    edges = system("dgx-h100:16").wiring()
    assert len(edges.source) == 2 * 2 * (32 + 8 + 4 + 1 + 8 + 8)


def test_part_filled_nodes_lack_only_chips() -> None:
    full, part = system("dgx-h100:16"), system("dgx-h100:12")
    assert Counter({group.name: group.count for group in full.groups}) - Counter(
        {group.name: group.count for group in part.groups}
    ) == {"chip": 4}
    # Each missing chip takes its four NVLinks and its slot with it.
    assert len(full.wiring().source) - len(part.wiring().source) == 2 * 4 * (4 + 1)


def test_two_nodes_reach_each_other_at_the_rate_of_their_cards() -> None:
    assert bisection(system("dgx-h100:16")) == pytest.approx(8 * 50e9)
    assert bisection(system("dgx-1v:16")) == pytest.approx(4 * 12.5e9)
    assert bisection(system("aws-p4d:16")) == pytest.approx(4 * 12.5e9)


def test_full_bisection_across_leaves() -> None:
    assert bisection(system("hgx-h100-roce:64")) == pytest.approx(32 * 50e9)


def test_taper_thins_the_upper_tier() -> None:
    overrides = ["fabric.tiers=[{name='rack',nodes=1},{name='top',taper=4}]"]
    found = system("hgx-h100-roce:32", overrides)
    assert found.tiers[-1].bandwidth == pytest.approx(50e9 / 4)
    assert bisection(found) == pytest.approx(16 * 50e9 / 4)


def test_one_chip_bursts_into_the_fabric_through_its_own_cards() -> None:
    found = system("dgx-h100:16")
    # Its cards are two on the PCIe switch that it shares; its slot is the limit.
    assert max_flow(found, [0], [8]) >= found.tiers[1].burst


def test_inside_the_node_the_wiring_carries_what_the_tier_says() -> None:
    for spec in ("dgx-h100", "dgx-a100", "mi300x-8"):
        found = system(spec)
        alone = max_flow(found, [0], range(1, found.chips))
        # PCIe comes on top of the scale-up links.
        assert alone >= found.tiers[0].bandwidth
        slots = found.links[[link.kind for link in found.links].index("pcie")].bandwidth
        assert alone <= found.tiers[0].bandwidth + slots


@pytest.mark.parametrize("spec", SYSTEMS)
def test_the_digits_of_a_chip_cover_all_chips(spec: str) -> None:
    found = system(spec)
    assert prod(found.router.radix) >= found.chips
    assert len(found.router.radix) == len(found.router.choice)


def test_the_digits_of_a_full_system_are_exact() -> None:
    found = system("hgx-h100-roce:24576")
    assert found.router.radix == (8, 2, 192, 8)
    assert found.router.choice == ("direct", "direct", "hash", "hash")


def test_the_whole_of_a_large_system_is_wired_in_arrays() -> None:
    found = system("hgx-h100-roce:24576")
    edges = found.wiring()
    # NVLink 32, slots and up-links 12, sockets 1, cards 8 per node; then 8 to racks, 8 to pods
    # and a seventh of that above (72 of each spine's 576 ports).
    nodes = 3072
    pods, spines = 8, 7
    cables = nodes * (32 + 12 + 1 + 8 + 8 + 8) + pods * spines * (-(-3072 // spines) // 7)
    assert len(edges.source) == 2 * cables
    assert edges.source.dtype == np.int64
