"""The systems of the catalog: what they are, and how a size or a value is asked for."""

from __future__ import annotations

import re

import pytest

from artery.catalog import system
from artery.catalog.door import check
from artery.catalog.loader import entry, names
from artery.catalog.sourced import dotted, leaves
from artery.catalog.syntax import Document
from artery.catalog.systems.schema import SystemTable
from artery.catalog.systems.spec import Spec, parse_spec
from artery.cluster.wiring import Assembly
from artery.errors import InputError, UnknownNameError

NAMES = names("systems")

REQUIRED = (
    "dgx-1v dgx-a100 dgx-h100 dgx-h200 dgx-b200 gb200-nvl72 hgx-h800 aws-p4d aws-p4de aws-p5 "
    "azure-ndv4 mi300x-8 pcie-a100 rtx3090x2 tpu-v4-pod tpu-v5p-pod ethernet-10g jean-zay-a100 "
    "rail-clos-h100 hgx-h100-roce aliyun-hpn7 grand-teton-h100-96g selene-a100"
)


def test_the_promised_systems_are_there() -> None:
    assert set(REQUIRED.split()) <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_file_passes_the_strict_door(name: str) -> None:
    values = entry("systems", name).values
    check(SystemTable, values, Document(name, values))


@pytest.mark.parametrize("name", NAMES)
def test_every_value_has_a_dated_source(name: str) -> None:
    sourced = entry("systems", name)
    for path, _ in leaves(sourced.values):
        if path == ("name",):
            continue
        source = sourced.sources.get(path)
        assert source is not None, dotted(path)
        assert re.fullmatch(r"20\d\d(-\d\d)?", source.as_of), source


@pytest.mark.parametrize("name", NAMES)
def test_one_node_builds_with_sane_tiers(name: str) -> None:
    found = system(name)
    assert found.nodes >= 1
    assert not [warning for warning in found.warnings if "taken as none" in warning]
    assert found.tiers
    sizes = [tier.chips for tier in found.tiers]
    assert sizes == sorted(sizes)
    assert sizes[-1] == found.chips
    for tier in found.tiers:
        assert 0 < tier.bandwidth <= tier.burst
        assert 0 < tier.pair <= tier.burst
        assert (1e-9 if tier.link.kind == "on-chip" else 1e-7) < tier.latency < 1e-4
        assert not tier.ring or len(tier.ring) == tier.chips + 1
    assert found.provenance["node.kind"].text
    assert any(path.startswith("chip.peaks") for path in found.provenance)


GB = 1e9


@pytest.mark.parametrize(
    ("spec", "tiers"),
    [
        # GB/s per chip and direction: NVLink of the generation, then a chip's share of the cards.
        ("dgx-1v:16", [(8, 150), (16, 6.25)]),
        ("dgx-a100:160", [(8, 300), (160, 25)]),
        ("dgx-h100:1024", [(8, 450), (256, 50), (1024, 50)]),
        ("dgx-h100:4096", [(8, 450), (256, 50), (2048, 50), (4096, 50)]),
        ("dgx-h200:16", [(8, 450), (16, 50)]),
        ("dgx-b200:16", [(8, 900), (16, 50)]),
        ("hgx-h800:16", [(8, 200), (16, 50)]),
        ("gb200-nvl72:576", [(72, 900), (288, 50), (576, 50)]),
        ("aws-p4d:16", [(8, 300), (16, 6.25)]),
        ("aws-p4de:16", [(8, 300), (16, 6.25)]),
        ("aws-p5:16", [(8, 450), (16, 50)]),
        ("azure-ndv4:16", [(8, 300), (16, 25)]),
        ("jean-zay-a100:384", [(8, 300), (64, 6.25), (384, 6.25)]),
        ("hgx-h100-roce:24576", [(8, 450), (16, 50), (3072, 50), (24576, 50 / 7)]),
        ("aliyun-hpn7:15360", [(8, 200), (1024, 50), (15360, 46.875)]),
        ("mi300x-8:16", [(8, 448), (16, 50)]),
        ("tpu-v4-pod:4x4x4", [(64, 300)]),
        ("tpu-v5p-pod:4x4x4", [(64, 600)]),
        ("ethernet-10g:4", [(4, 1.25)]),
    ],
)
def test_tiers_of_known_systems(spec: str, tiers: list[tuple[int, float]]) -> None:
    found = [(tier.chips, tier.bandwidth / GB) for tier in system(spec).tiers]
    assert [chips for chips, _ in found] == [chips for chips, _ in tiers]
    assert [rate for _, rate in found] == pytest.approx([rate for _, rate in tiers])


def test_in_switch_reduction() -> None:
    assert [tier.reduction for tier in system("dgx-h100:16").tiers] == ["nvls", "sharp"]
    assert [tier.reduction for tier in system("dgx-a100:16").tiers] == [None, "sharp"]
    assert [tier.reduction for tier in system("hgx-h100-roce:32").tiers] == ["nvls", None, None]


@pytest.mark.parametrize(
    ("spec", "kilowatts"), [("dgx-a100", 6.5), ("dgx-h100", 10.2), ("dgx-b200", 14.3)]
)
def test_power_of_a_node(spec: str, kilowatts: float) -> None:
    # Datasheet maxima of the whole system.
    found = system(spec)
    assert found.node_power is not None
    assert found.chip.power is not None
    assert found.node_power + 8 * found.chip.power == pytest.approx(kilowatts * 1e3)


def test_power_of_a_rack() -> None:
    rack = system("gb200-nvl72")
    assert rack.node_power is not None
    assert rack.chip.power is not None
    assert 18 * rack.node_power + 72 * rack.chip.power == pytest.approx(140e3, rel=0.01)


def test_names_and_counts() -> None:
    assert parse_spec("dgx-h100:1024") == Spec("dgx-h100", 1024)
    assert parse_spec(" dgx-h100 ") == Spec("dgx-h100")
    assert parse_spec("tpu-v4-pod:4x4x8") == Spec("tpu-v4-pod", shape=(4, 4, 8))
    assert parse_spec("tpu-v4-pod:4×4X8") == Spec("tpu-v4-pod", shape=(4, 4, 8))
    assert parse_spec("C:\\my\\system.toml") == Spec("C:\\my\\system.toml")
    assert parse_spec("a/b.toml:16") == Spec("a/b.toml", 16)


@pytest.mark.parametrize(
    "spec", ["dgx-h100:", "dgx-h100:0", "dgx-h100:-8", "dgx-h100:8.5", "dgx-h100:many"]
)
def test_a_bad_count_is_refused_with_an_example(spec: str) -> None:
    with pytest.raises(InputError, match="dgx-h100:64"):
        system(spec)


@pytest.mark.parametrize("spec", ["dgx-h100:9999999", "tpu-v4-pod:0x4x4", "dgx-h100:1e6"])
def test_a_huge_or_empty_size_is_refused(spec: str) -> None:
    with pytest.raises(InputError):
        system(spec)


def test_a_remainder_leaves_the_last_node_part_filled() -> None:
    found = system("dgx-h100:12")
    assert (found.chips, found.nodes) == (12, 2)
    assert found.warnings == ("dgx-h100: the last node holds 4 of 8 chips",)
    assert system("dgx-h100:16").warnings == ()


def test_a_part_filled_rack_is_named_too() -> None:
    assert system("gb200-nvl72:74").warnings == (
        "gb200-nvl72: the last node holds 2 of 4 chips",
        "gb200-nvl72: the last domain holds 2 of 72 chips",
    )


def test_beyond_what_is_published() -> None:
    assert system("hgx-h100-roce:24576").warnings == ()
    (warning,) = system("hgx-h100-roce:32768").warnings
    assert "24,576" in warning
    assert "extrapolated" in warning


def test_the_shape_of_a_torus() -> None:
    assert system("tpu-v4-pod:4x4x8").tiers[0].dims == (4, 4, 8)
    assert system("tpu-v4-pod:4x4x8").warnings == ()
    squarest = system("tpu-v4-pod:128")
    assert squarest.tiers[0].dims == (4, 4, 8)
    assert "4x4x8, the squarest shape" in squarest.warnings[0]
    assert "not wrapped" in system("tpu-v4-pod:2x2x1").warnings[0]


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("tpu-v4-pod:4x4", "3 dimensions"),
        ("tpu-v4-pod:8192", "at most 4,096"),
        ("dgx-h100:4x4", '"dgx-h100:16"'),
        ("rtx3090x2:3", "at most 2"),
        ("h100-sxm:8", "dgx-h100"),
    ],
)
def test_what_cannot_be_built_says_why(spec: str, words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        system(spec)


def test_an_unknown_name_gets_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="dgx-h100"):
        system("dgxh100:8")


def test_a_chip_alone_is_a_system() -> None:
    found = system("a100-80g")
    assert (found.chips, found.nodes, found.library) == (1, 1, "nccl")
    assert found.tiers[0].kind == "crossbar"
    assert len(found.wiring().source) == 0


def test_overrides_reach_node_fabric_and_chip() -> None:
    base = system("dgx-h100:32")
    found = system(
        "dgx-h100:32",
        ["fabric.nic.bandwidth=800 Gb/s", "node.chips=16", "chip.power=500 W"],
    )
    assert found.chips_per_node == 16
    assert found.tiers[1].link.bandwidth == 2 * base.tiers[1].link.bandwidth
    assert found.tiers[1].bandwidth == pytest.approx(base.tiers[1].bandwidth)
    assert found.chip.power == 500
    assert found.provenance["node.chips"].confidence == "assumed"
    assert base.chips_per_node == 8


def test_a_bridge_can_be_put_on() -> None:
    bridged = ["node.kind=nvlink-pairs", "node.link=nvlink-bridge-3"]
    (bridge,), (staged,) = system("rtx3090x2", bridged).tiers, system("rtx3090x2").tiers
    assert (bridge.kind, staged.kind) == ("pairs", "pcie-tree")
    assert bridge.bandwidth > 4 * staged.ring[2]


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("fabric.nic.bandwdth=800 Gb/s", "bandwidth"),
        ("fabric.nic.bandwidth=800", "unit"),
        ("node.chips=0", "between 1"),
        ("node.kind=nvswich", "nvswitch"),
        ("node.link=nvlink44", "nvlink4"),
        ("fabric.tiers[0].taper=0.5", "at least 1"),
        ("fabric.tiers[1].nodes=40", "multiple of the 32 below"),
        ("node.host.switches=3", "divide"),
        ("fabric.tiers[0].nodes=0", "at least 1"),
        ("fabric.tiers=[]", "needs tiers"),
        ("fabric.nic.count=100000", "between 1"),
        ("node.kind=torus", "go together"),
        ("node.kind=graph", "needs cables"),
        ("node.host.peer_to_peer=false", "host memory"),
        ("fabric.routing=magic", "hash"),
    ],
)
def test_a_bad_override_says_what_would_fix_it(override: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        system("dgx-h100:512", [override])


def test_a_rail_leaf_has_only_so_many_ports() -> None:
    overrides = ["fabric.tiers[0].nodes=64"]
    assert len(system("dgx-h100:512", overrides).tiers) == 2
    with pytest.raises(InputError, match="64 nodes on a rail leaf with 32 ports"):
        system("dgx-h100:1024", overrides)


def test_nothing_is_wired_before_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Assembly) -> None:
        raise AssertionError("wired too early")

    monkeypatch.setattr(Assembly, "edges", refuse)
    assert system("rail-clos-h100:100000").chips == 100_000


def test_what_a_library_reached_on_one_machine_is_not_the_links_own_share() -> None:
    """NCCL reached 5.6 of a node's 50 GB/s on Jean Zay; other machines of these links need not."""
    poor = system("jean-zay-a100:64").tiers[-1]
    assert 4 * poor.link.bandwidth * poor.link.efficiency == pytest.approx(5.6e9, rel=0.01)
    plain = system("dgx-a100:64", ["fabric.nic.link=omnipath100"]).tiers[-1]
    assert plain.link.bandwidth * plain.link.efficiency > 10e9
