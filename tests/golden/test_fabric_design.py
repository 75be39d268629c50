"""Bills of material that others published, against the designs counted here."""

from __future__ import annotations

import pytest

from artery.cluster.design import Demand, Design, design, designs

GBPS = 1e9 / 8


def demanded(chips: int, radix: int = 64) -> Demand:
    return Demand(chips, rails=8, radix=radix, port=400 * GBPS)


def built(chips: int, kind: str, tiers: int, radix: int = 64) -> Design:
    found = design(demanded(chips, radix), kind, tiers)  # type: ignore[arg-type]
    assert isinstance(found, Design), found
    return found


SHEET = (
    # GPUs, 64-port switches, USD of connectors and cables, network USD per GPU
    (512, 8, 675_840, 1882),
    (1024, 48, 2_621_440, 4248),
    (2048, 96, 5_242_880, 4248),
    (8192, 384, 20_971_520, 4248),
    (16384, 768, 41_943_040, 4248),
    (32768, 2560, 124_518_400, 6612),
    (65536, 5120, 249_036_800, 6612),
)
"""A public H100 cost spreadsheet, August 2024: nodes of 8 GPUs on InfiniBand NDR."""

SWITCH, CARD_LINK, UPPER_LINK = 36_000, 1_320, 1_240
"""The sheet's USD: a switch, a link of a card (675,840/512), a link between switches
((2,621,440 - 1024*1,320)/1024)."""


@pytest.mark.parametrize(("chips", "switches", "cables", "per_chip"), SHEET)
def test_the_first_design_has_the_sheets_switches_and_cables(
    chips: int, switches: int, cables: int, per_chip: int
) -> None:
    """The rule behind the sheet: of all full-bisection designs, the one with fewest switches.

    A lone leaf per rail at 512, any two-tier network at 1,024 and 2,048, a separate two-tier
    network per rail at 8,192 and 16,384, any three-tier network above.
    """
    found, _ = designs(demanded(chips))
    best = found[0]
    assert best.switches == switches
    priced = best.links[0] * CARD_LINK + sum(best.links[1:]) * UPPER_LINK
    assert priced == cables
    assert (priced + SWITCH * best.switches) / chips == pytest.approx(per_chip, abs=1)


@pytest.mark.parametrize(("chips", "switches"), [(row[0], row[1]) for row in SHEET])
def test_separate_networks_per_rail_have_those_counts_at_every_size(
    chips: int, switches: int
) -> None:
    tiers = {512: 1, 32768: 3, 65536: 3}.get(chips, 2)
    assert built(chips, "rail-only", tiers).switches == switches


DEEPSEEK = (
    # kind, tiers, endpoints, switches, links between switches
    ("rail", 2, 2048, 96, 2048),  # FT2
    ("rail-only", 2, 16384, 768, 16384),  # MPFT: eight planes of FT2
    ("rail", 3, 65536, 5120, 131072),  # FT3
)
"""DeepSeek-V3, ISCA 2025, Table 3: 64-port 400G switches."""


@pytest.mark.parametrize(("kind", "tiers", "endpoints", "switches", "links"), DEEPSEEK)
def test_deepseeks_table(kind: str, tiers: int, endpoints: int, switches: int, links: int) -> None:
    found = built(endpoints, kind, tiers)
    assert (found.switches, sum(found.links[1:])) == (switches, links)
    assert found.reach == endpoints, "the table has each at its largest"


B200 = (
    # nodes, leaf, spine, core, node-leaf, leaf-spine, spine-core cables
    (64, 16, 8, 0, 512, 512, 0),
    (128, 32, 16, 0, 1024, 1024, 0),
    (256, 64, 32, 0, 2048, 2048, 0),
    (512, 128, 128, 64, 4096, 4096, 4096),
    (1024, 256, 256, 128, 8192, 8192, 8192),
    (2048, 512, 512, 256, 16384, 16384, 16384),
)
"""NVIDIA DGX SuperPOD reference architecture, B200, table of larger component counts: QM9700
with 64 ports, rail-optimised (docs.nvidia.com/dgx-superpod, read 2026-11)."""


@pytest.mark.parametrize("row", B200)
def test_dgx_superpod_b200(row: tuple[int, ...]) -> None:
    nodes, leaf, spine, core, *cables = row
    found = built(8 * nodes, "rail", 3 if core else 2)
    assert [tier.switches for tier in found.tiers] == [leaf, spine, core][: len(found.tiers)]
    assert list(found.links) == cables[: len(found.links)]


B300 = (
    ("rail", 64, 16, 8),
    ("rail", 128, 32, 16),
    ("rail", 256, 64, 32),
    ("rail-only", 512, 128, 64),
    ("rail-only", 1024, 256, 128),
)
"""The same for B300 on Ethernet, 64 ports of 800 Gb/s: nodes, leaves, spines. Above 256 nodes,
the most that rail leaves with joint spines reach, the counts are those of a network per rail."""


@pytest.mark.parametrize(("kind", "nodes", "leaf", "spine"), B300)
def test_dgx_superpod_b300(kind: str, nodes: int, leaf: int, spine: int) -> None:
    found = built(8 * nodes, kind, 2)
    assert [tier.switches for tier in found.tiers] == [leaf, spine]
    assert found.links == (8 * nodes, 8 * nodes)


XDR = ((72, 8, 4), (144, 16, 8), (288, 32, 18), (576, 64, 36))
"""The same for B300 on Quantum-X800, 144 ports: nodes, leaves, spines. 288 nodes would need 16
spines by ports alone; 18 is the next that takes equally many links from every leaf."""


@pytest.mark.parametrize(("nodes", "leaf", "spine"), XDR)
def test_dgx_superpod_b300_xdr(nodes: int, leaf: int, spine: int) -> None:
    found = built(8 * nodes, "rail", 2, radix=144)
    assert [tier.switches for tier in found.tiers] == [leaf, spine]
    assert found.links == (8 * nodes, 8 * nodes)


def test_quantum_x800_reaches_10368_on_two_tiers() -> None:
    """NVIDIA: two tiers of 144 ports reach 10,368 (144 * 72)."""
    assert built(8, "rail", 2, radix=144).reach == 10_368


def test_131072_cards_on_two_tiers_of_multi_plane_switches() -> None:
    """arXiv 2605.04333 (MRC): 131,072 GPUs on two tiers, switches of 512 ports of a plane."""
    found = design(Demand(131_072, rails=1, radix=64, port=800 * GBPS, planes=8), "dual-plane", 2)
    assert isinstance(found, Design)
    assert (found.radix, found.reach) == (512, 131_072)
