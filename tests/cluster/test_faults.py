"""Faults put into regular cablings are found, each with its place, and nothing else is."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from artery.catalog import system
from artery.cluster.cables import NoFabricError, cabling_of
from artery.cluster.cabling import Network
from artery.cluster.cabling.faults import faults
from artery.cluster.cabling.uplinks import spines
from artery.core.cabling import Cable, Cabling, Device, End
from artery.core.finding import Finding
from tests.cluster.fabrics import GBPS, LOST, Wire, broken, cabling, changed, leaf_spine

RAILS = leaf_spine(leaves=16, spines=4, per_pair=4, hosts=16, cards=8)
"""Two groups of 16 hosts with 8 cards, one leaf per rail."""


def found(wires: list[Wire], **reach: float) -> dict[str, Finding]:
    every = faults(Network(cabling(wires)), reach)
    assert len({one.cause for one in every}) == len(every)
    return {one.cause: one for one in every}


def test_a_regular_network_has_no_faults() -> None:
    assert found(RAILS) == {}


def test_26_of_558_links_gone() -> None:
    """31 leaves and 9 spines with two links each make 558; 26 are gone, unevenly."""
    network = Network(cabling(broken()))
    missing = {one.cause: one for one in faults(network, {})}["missing_uplinks"]
    assert {key: missing.figures[key] for key in ("designed", "present", "missing")} == {
        "designed": 558,
        "present": 532,
        "missing": 26,
    }
    assert missing.where[:2] == ("spine003", "spine009")
    assert {one.name: one.missing for one in spines(network) if one.missing} == LOST
    assert all(one.expected == 62 for one in spines(network))
    assert sum(one.links for one in spines(network)) == 532


@given(st.integers(0, 2**31), st.integers(1, 40))
def test_any_few_links_gone_are_counted(seed: int, count: int) -> None:
    wires = leaf_spine(leaves=12, spines=6, per_pair=2, hosts=12)
    upper = [wire for wire in wires if wire.other.startswith("spine")]
    gone = random.Random(seed).sample(upper, count)
    network = Network(cabling([wire for wire in wires if wire not in gone]))
    told = {one.cause: one for one in faults(network, {})}
    assert told["missing_uplinks"].figures["missing"] == count
    for one in spines(network):
        assert one.missing == sum(wire.other == one.name for wire in gone)


def test_leaves_with_fewer_uplinks_are_named() -> None:
    wires = [wire for wire in RAILS if not (wire.one == "leaf007" and wire.other == "spine002")]
    told = found(wires)
    assert told["unequal_uplinks"].where == ("leaf007",)
    assert told["unequal_uplinks"].figures["least"] == 12
    assert told["missing_uplinks"].figures["missing"] == 4


def test_a_card_without_a_cable_is_named_by_its_rail() -> None:
    told = found([wire for wire in RAILS if (wire.one, wire.card) != ("node009", "mlx5_2")])
    assert set(told) == {"uncabled_card"}
    lacking = told["uncabled_card"]
    assert (lacking.severity, lacking.where) == ("error", ("node009",))
    assert lacking.figures == {"hosts": 1, "of": 32, "missing": 1}
    assert lacking.evidence == ("node009 has 7 of 8 cables: none at mlx5_2 (rail 2)",)


def test_a_host_of_one_cable_among_hosts_of_eight_is_an_error() -> None:
    told = found([w for w in RAILS if w.one != "node009" or w.card == "mlx5_0"])
    assert told["uncabled_card"].figures["missing"] == 7
    assert told["uncabled_card"].severity == "error"


def test_hosts_of_another_name_may_have_fewer_cards() -> None:
    """Storage with two cards is another kind of host, not one that lacks six."""

    def storage(wire: Wire) -> Wire:
        return replace(wire, one="storage1") if wire.one == "node009" else wire

    lone = [storage(w) for w in RAILS if w.one != "node009" or w.card in ("mlx5_0", "mlx5_1")]
    assert "uncabled_card" not in found(lone)


def test_a_card_with_one_of_its_two_planes_is_an_error() -> None:
    both = leaf_spine(leaves=4, spines=2, hosts=6, cards=2)
    planes = [
        replace(wire, one=wire.one.replace("leaf", f"p{plane}leaf"), one_port=port,
                other=wire.other.replace("leaf", f"p{plane}leaf").replace("spine", f"p{plane}sp"))
        for plane in (1, 2) for wire in both
        for port in [plane if wire.one.startswith("node") else wire.one_port]
    ]  # fmt: skip
    lost = [w for w in planes if (w.one, w.card, w.one_port) != ("node002", "mlx5_1", 2)]
    assert "uncabled_card" not in found(planes)
    told = found(lost)["uncabled_card"]
    assert told.evidence == ("node002 has 3 of 4 cables: too few at mlx5_1 (rail 1)",)


def test_swapped_cables_of_a_host_are_on_the_wrong_rail() -> None:
    def swapped(wire: Wire) -> Wire:
        other = {"leaf003": "leaf005", "leaf005": "leaf003"}.get(wire.other)
        return replace(wire, other=other) if wire.one == "node009" and other else wire

    told = found([swapped(wire) for wire in RAILS])
    assert set(told) == {"miswired_rail"}
    assert told["miswired_rail"].figures == {"cards": 2, "hosts": 1, "rails": 8}
    assert told["miswired_rail"].where == ("node009",)
    assert "node009 mlx5_2 is on leaf005" in " ".join(told["miswired_rail"].evidence)


def test_a_missing_card_shifts_no_rail() -> None:
    """Cards are ranked among the names that hosts use, not among those of one host."""
    wires = [wire for wire in RAILS if not (wire.one == "node004" and wire.card == "mlx5_0")]
    assert "miswired_rail" not in found(wires)


def test_top_of_rack_leaves_are_no_rails() -> None:
    wires = [
        replace(wire, other=f"leaf{(int(wire.one[4:]) - 1) // 4 + 1:03d}", other_port=number)
        if wire.one.startswith("node")
        else wire
        for number, wire in enumerate(RAILS)
    ]
    told = found(wires)
    assert "miswired_rail" not in told
    assert told["single_homed"].figures["hosts"] == 32


def test_one_slow_link() -> None:
    told = found(changed(RAILS, lambda w: w.one == "leaf002" and w.one_port == 20, rate=200 * GBPS))
    assert set(told) == {"slow_link"}
    assert told["slow_link"].figures == {"links": 1, "of": 512}
    assert told["slow_link"].evidence == ("leaf002[20] - spine001[8]: 200 Gb/s of 400 Gb/s",)


def test_a_leaf_of_slower_hosts_is_meant_one_slow_host_is_not() -> None:
    storage = changed(RAILS, lambda w: w.other == "leaf008", rate=200 * GBPS)
    assert "slow_link" not in found(storage)
    told = found(changed(storage, lambda w: w.card == "mlx5_2" and w.one == "node003", rate=1e9))
    assert told["slow_link"].where == ("node003",)


def test_two_halls() -> None:
    other = [
        replace(wire, one=wire.one.replace("0", "9", 1), other=wire.other.replace("0", "9", 1))
        for wire in RAILS
    ]
    told = found([*RAILS, *other])
    assert set(told) == {"islands"}
    assert told["islands"].figures == {"parts": 2}
    assert told["islands"].evidence[0] == "32 hosts: node001 ..., up to spine001"


def test_a_port_cannot_have_two_cables() -> None:
    told = found([*RAILS, Wire("leaf001", 17, "spine004", 99)])
    assert told["port_twice"].where == ("leaf001[17]",)
    assert len(told["port_twice"].evidence) == 2


def test_a_leaf_on_one_spine_hangs_by_it() -> None:
    wires = [
        replace(wire, other="spine001", other_port=100 + wire.one_port)
        if wire.one == "leaf016" and wire.other.startswith("spine")
        else wire
        for wire in RAILS
    ]
    told = found(wires)
    assert told["single_point"].evidence == ("leaf016 hangs on spine001 alone",)


def test_a_cable_longer_than_its_part_reaches() -> None:
    wires = changed(RAILS, lambda w: w.one == "node001", length=4.0, part="dac400")
    wires = changed(wires, lambda w: w.one == "node002", length=3.0, part="dac400")
    told = found(wires, dac400=3.0)
    assert set(told) == {"too_long"}
    assert told["too_long"].figures == {"links": 8}
    assert told["too_long"].evidence[0].endswith("4 m of dac400, which reaches 3 m")


def test_cables_between_leaves() -> None:
    told = found([*RAILS, Wire("leaf001", 60, "leaf002", 60)])
    assert told["sideways"].evidence == ("leaf001[60] - leaf002[60]",)


def test_a_taper_is_noted() -> None:
    told = found(leaf_spine(leaves=4, spines=2, per_pair=4, hosts=24))
    assert told["oversubscribed"].figures == {"down": 24, "up": 8, "ratio": 3.0, "leaves": 4}
    assert told["oversubscribed"].severity == "note"


def test_a_server_on_a_spine_makes_it_no_leaf() -> None:
    network = Network(cabling([*broken(), Wire("node999", 1, "spine005", 64)]))
    assert len(network.switches(1)) == 31
    assert len(network.switches(2)) == 9


def test_a_leaf_with_one_host_left_is_a_leaf() -> None:
    wires = [w for w in broken() if not (w.other == "leaf031" and w.other_port > 1)]
    assert "leaf031" in Network(cabling(wires)).switches(1)


def test_nameless_devices_and_one_sided_cables() -> None:
    devices = (Device("a", "leaf", "switch"), Device("b", "MT4129", "host", named=False))
    cables = (Cable(End("a", "1"), End("b", "1"), sides=1, line=7),)
    told = {one.cause: one for one in faults(Network(Cabling("f", "x", devices, cables)), {})}
    assert told["unnamed"].evidence == ("leaf[1] - MT4129 (line 7)",)
    assert told["one_sided"].figures == {"links": 1}


def test_errors_come_first() -> None:
    order = [one.severity for one in faults(Network(cabling(broken())), {})]
    assert order == sorted(order, key=["error", "warning", "note"].index)


@pytest.mark.parametrize(
    "name",
    ["dgx-h100:512", "dgx-h100:4096", "rail-clos-h100:1024", "aliyun-hpn7:2048", "dgx-a100:256"],
)
def test_the_catalogs_own_fabrics_have_no_faults(name: str) -> None:
    told = faults(Network(cabling_of(system(name))), {})
    assert [one for one in told if one.severity != "note"] == []


def test_a_system_as_cables() -> None:
    """dgx-h100:512: 64 nodes of 8 cards, 16 leaves, 8 spines; 512 cables on either tier."""
    network = Network(cabling_of(system("dgx-h100:512")))
    assert len(network.cabling.cables) == 1024
    assert [len(network.switches(tier)) for tier in (1, 2)] == [16, 8]
    assert {network.above(one).total() for one in network.switches(1)} == {32}
    assert {len(network.cards_of(one)) for one in network.switches(1)} == {32}


@pytest.mark.parametrize("name", ["dgx-h100:8", "tpu-v4-pod:64", "rtx3090x2"])
def test_a_system_without_a_fabric_has_no_cables(name: str) -> None:
    with pytest.raises(NoFabricError):
        cabling_of(system(name))
