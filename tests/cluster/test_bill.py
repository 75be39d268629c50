"""Lengths of cables, the bill of parts, and what a failed part hits."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from artery.catalog import nic, optic, switch
from artery.cluster.design import Demand, Design, Kind, design, designs
from artery.cluster.design.bill import Bill, Cables, Parts, bill, links_per_optic
from artery.cluster.design.blast import Blast, blasts
from artery.cluster.design.hall import Hall, Run, runs
from artery.core.parts import Optic, Span

GBPS = 1e9 / 8

PARTS = Parts(
    switch=switch("qm9700"),
    nic=nic("cx7"),
    optic=optic("2xdr4-800"),
    card_optic=optic("dr4-400"),
    copper=(optic("dac400"),),
)


def built(chips: int, kind: Kind, tiers: int, **more: Any) -> Design:
    demand = Demand(chips, **{"rails": 8, "radix": 64, "port": 400 * GBPS, **more})
    found = design(demand, kind, tiers)
    assert isinstance(found, Design), found
    return found


def billed(found: Design, parts: Parts = PARTS) -> Bill:
    return bill(found, parts, runs(found, Hall()))


def test_a_rack_of_four_nodes_is_wired_to_its_own_leaf_with_copper() -> None:
    found = built(2048, "tor", 2)
    assert found.group_nodes == 4
    first, *above = runs(found, Hall(nodes_per_rack=4))
    assert first == Run("card-leaf", 2.0, 2048)
    assert {run.tier for run in above} == {"leaf-spine"}
    assert sum(run.count for run in above) == 2048


def test_lengths_by_hand() -> None:
    """32 nodes in 8 racks, rows of 6: racks 0 to 5, then 6 and 7; the leaf is at rack 3.

    In the row: |x - 3| * 0.6 + 5 m; racks 6 and 7 stand in the next row at x = 0 and 1.
    """
    found = built(256, "rail", 2)
    lengths = [run for run in runs(found, Hall()) if run.tier == "card-leaf"]
    per_rack = 4 * 8
    by_hand = {2.0: 1, 5.6: 2, 6.2: 2, 6.8: 1, round(5 + 3 * 0.6 + 2.4, 1): 1}
    by_hand[round(5 + 2 * 0.6 + 2.4, 1)] = 1
    assert {run.length: run.count for run in lengths} == {
        length: racks * per_rack for length, racks in by_hand.items()
    }


@given(
    st.integers(1, 3000),
    st.sampled_from([1, 8]),
    st.integers(1, 8),
    st.sampled_from([(Fraction(1),), (Fraction(3), Fraction(2))]),
)
def test_every_cable_has_one_length(
    chips: int, rails: int, per_rack: int, tapers: tuple[Fraction, ...]
) -> None:
    for found in designs(Demand(chips, rails, 32, 50e9, tapers))[0]:
        tiers: dict[str, int] = {}
        for run in runs(found, Hall(nodes_per_rack=per_rack)):
            assert run.length >= 2.0
            tiers[run.tier] = tiers.get(run.tier, 0) + run.count
        assert list(tiers.values()) == list(found.links)


def test_twin_port_optics_end_two_links() -> None:
    assert links_per_optic(optic("2xdr4-800"), 400 * GBPS) == 2
    assert links_per_optic(optic("dr4-400"), 400 * GBPS) == 1
    assert links_per_optic(optic("dr4-400"), 800 * GBPS) == 1


def test_a_bill_by_hand() -> None:
    """256 chips: 8 leaves, 4 spines. Of 256 card cables 32 are inside the leaf's rack."""
    found = billed(built(256, "rail", 2))
    counts = {(line.role, line.name): line.count for line in found.lines}
    assert counts == {
        ("switch", "qm9700"): 12,
        ("nic", "cx7"): 256,
        # The leaves are in one rack, and so are the spines in the middle of the one group.
        ("copper", "dac400"): 32 + 256,
        ("optic", "2xdr4-800"): 224 // 2,
        ("optic", "dr4-400"): 224,
    }
    assert found.transceivers == 224 + 112
    assert found.power is not None
    assert found.power.low == 12 * 747 + 256 * 17 + 112 * 17 + 224 * 9
    high = 12 * 750 + 256 * 26 + 2 * 288 * 0.1 + 112 * 17 + 224 * 9
    assert found.power.high == pytest.approx(high)
    assert found.price is not None
    assert found.price.low == 12 * 36000 + 256 * 1300 + 2 * 288 * 40 + 112 * 1100 + 224 * 600


def test_links_between_switches_have_an_optic_at_both_ends() -> None:
    found = billed(built(512, "rail", 2), Parts(None, None, PARTS.optic, PARTS.card_optic))
    assert found.transceivers == 512 + 512 // 2 + 2 * 512 // 2


def test_failures_follow_from_the_time_between_them() -> None:
    """MTBF 0.5 to 1 M hours: n optics fail n * 24 / MTBF times a day."""
    same = Parts(None, None, PARTS.optic, PARTS.optic)
    found = billed(built(512, "rail", 2), same)
    assert found.optic_failures is not None
    assert found.optic_failures.low == pytest.approx(found.transceivers * 24 / 1e6)
    assert found.optic_failures.high == pytest.approx(found.transceivers * 24 / 0.5e6)


def test_what_is_unknown_has_no_total() -> None:
    found = billed(built(512, "rail", 2), Parts(None, PARTS.nic, PARTS.optic, PARTS.card_optic))
    assert (found.power, found.price) == (None, None)
    assert found.optic_failures is None, "dr4-400 has no published rate"


def test_what_does_not_reach_is_said() -> None:
    short = Optic("short", "optics", 50e9, "multimode", Span(5, 5))
    found = billed(built(512, "rail", 2), Parts(None, None, short, short))
    assert [cable.within_reach for cable in found.cables] == [False, False]


def blast(found: Design, part: str) -> Blast:
    return next(one for one in blasts(found, 2) if one.part == part)


def test_a_lost_leaf_cuts_off_its_cards_and_on_top_of_the_rack_whole_nodes() -> None:
    assert blast(built(1024, "rail", 2), "leaf") == Blast("leaf", 32, 0, 0, 1.0)
    assert blast(built(1024, "tor", 2), "leaf") == Blast("leaf", 32, 4, 0, 1.0)
    assert blast(built(1024, "dual-plane", 2), "leaf") == Blast("leaf", 0, 0, 64, 0.5)
    assert blast(built(512, "rail-only", 1), "leaf").chips_cut == 64


def test_a_lost_spine_slows_all_under_it() -> None:
    assert blast(built(1024, "rail", 2), "spine") == Blast("spine", 0, 0, 1024, 1 / 16)
    assert blast(built(1024, "rail-only", 2), "spine") == Blast("spine", 0, 0, 128, 1 / 2)
    pod = blast(built(16384, "rail", 3), "spine")
    assert (pod.chips_slowed, pod.bandwidth_lost) == (1024, 1 / 32)
    assert blast(built(16384, "rail", 3), "core").chips_slowed == 16384


def test_a_lost_optic_of_a_leaf_takes_its_links() -> None:
    assert blast(built(1024, "rail", 2), "up-optic") == Blast("up-optic", 0, 0, 32, 2 / 32)
    assert blast(built(1024, "rail", 2), "card") == Blast("card", 1, 0, 0, 0.0)
    assert blast(built(64, "tor", 1, rails=1), "card").nodes_cut == 1


@given(st.integers(1, 5000), st.sampled_from([1, 2, 8]))
def test_no_part_hits_more_chips_than_there_are(chips: int, rails: int) -> None:
    for found in designs(Demand(chips, rails, 32, 50e9))[0]:
        for one in blasts(found, 2):
            assert one.chips_cut + one.chips_slowed <= chips
            assert 0 <= one.bandwidth_lost <= 1
            assert one.nodes_cut <= found.nodes


def test_light_takes_longer_in_a_metre_of_fibre_than_a_signal_in_copper() -> None:
    """50 m at 299,792,458 / 1.468 m/s are 244.8 ns; 2 m of copper at 4.5 ns/m are 9 ns."""
    fibre = Cables("leaf-spine", "dr4-400", False, 1, 2.0, 50.0, True)
    copper = Cables("card-leaf", "dac400", True, 1, 2.0, 2.0, True)
    assert fibre.delay.high == pytest.approx(244.84e-9, rel=1e-4)
    assert copper.delay == Span(9e-9, 9e-9)
    assert fibre.delay.low > copper.delay.low
