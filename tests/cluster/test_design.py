"""Designs: their ports are there, their trees can be wired, their bisection is what they say."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from artery.catalog import optic, system
from artery.cluster.cabling import Network
from artery.cluster.cabling.faults import faults
from artery.cluster.design import KINDS, Demand, Design, Kind, Rejected, design, designs
from artery.cluster.design.bill import Parts, bill
from artery.cluster.design.cables import cables
from artery.cluster.design.hall import Hall, runs
from tests.flows import max_flow, reached


def small(chips: int, kind: Kind, tiers: int, **more: Any) -> Design:
    found = design(Demand(chips, **{"rails": 2, "radix": 8, "port": 1.0, **more}), kind, tiers)
    assert isinstance(found, Design), found
    return found


DEMANDS = st.builds(
    Demand,
    chips=st.integers(1, 4000),
    rails=st.sampled_from([1, 2, 4, 8]),
    radix=st.integers(2, 72),
    port=st.just(1.0),
    tapers=st.lists(st.fractions(Fraction(1, 3), 8, max_denominator=3), max_size=2).map(tuple),
    planes=st.sampled_from([2, 4]),
)


@given(DEMANDS)
def test_no_switch_has_more_cables_than_ports(demand: Demand) -> None:
    for one in designs(demand)[0]:
        assert all(tier.down + tier.up <= one.radix for tier in one.tiers)
        assert one.reach >= demand.chips
        assert one.nodes * one.rails >= demand.chips


@given(DEMANDS)
def test_cables_up_are_cables_down(demand: Demand) -> None:
    """What leaves a tier upwards arrives at the next one."""
    for one in designs(demand)[0]:
        assert one.links[0] <= one.tiers[0].switches * one.tiers[0].down
        for (lower, upper), links in zip(pairwise(one.tiers), one.links[1:], strict=True):
            assert links == lower.switches * lower.up
            assert links <= upper.switches * upper.down


@given(DEMANDS)
def test_the_taper_is_kept(demand: Demand) -> None:
    for one in designs(demand)[0]:
        for tier, lower in enumerate(one.tiers[:-1]):
            assert lower.up >= lower.down / demand.taper(tier)


@given(DEMANDS)
def test_every_kind_and_number_of_tiers_is_answered_once(demand: Demand) -> None:
    found, out = designs(demand)
    told = [(one.kind, len(one.tiers)) for one in found] + [(one.kind, one.tiers) for one in out]
    assert sorted(told) == sorted((kind, tiers) for kind in KINDS for tiers in (1, 2, 3))
    keys = [(one.switches, len(one.tiers), sum(one.links)) for one in found]
    assert keys == sorted(keys)


@pytest.mark.parametrize("radix", [4, 8, 16, 64])
def test_three_tiers_of_k_ports_reach_a_quarter_of_k_cubed(radix: int) -> None:
    """Al-Fares et al., SIGCOMM 2008: k**3/4 hosts."""
    found = design(Demand(1, rails=1, radix=radix, port=1.0), "tor", 3)
    assert isinstance(found, Rejected)
    assert (found.reason, found.reach) == ("needless", radix**3 // 4)


def test_what_is_out_says_why() -> None:
    demand = Demand(100, rails=8, radix=8, port=1.0)
    rejected = {(one.kind, one.tiers): one for one in designs(demand)[1]}
    assert rejected["tor", 2].reason == "too_few_ports", "4 ports down are too few for 8 cards"
    assert rejected["rail", 1].reason == "too_few_ports", "rails need a second tier"
    assert rejected["rail-only", 1].reason == "too_many"
    assert rejected["rail-only", 1].reach == 64
    lone = Demand(4, rails=1, radix=8, port=1.0)
    for kind in ("rail", "rail-only"):
        assert {one.reason for one in designs(lone)[1] if one.kind == kind} == {"one_rail"}


def test_a_taper_saves_switches_and_bisection() -> None:
    full = small(256, "tor", 3, radix=16)
    tapered = small(256, "tor", 3, radix=16, tapers=(Fraction(3),))
    assert full.bisection_fraction == 1.0
    assert tapered.bisection_fraction == pytest.approx(1 / 3)
    assert tapered.switches < full.switches
    above = small(1024, "tor", 3, radix=16, tapers=(Fraction(1), Fraction(7)))
    assert above.bisection_fraction == pytest.approx(1 / 7, rel=0.1)


def test_a_prime_number_of_cards_needs_no_prime_number_of_spines() -> None:
    """124 nodes are four groups of 31, a prime; with 32 links up from a leaf 16 spines do."""
    found = small(8 * 124, "rail", 2, rails=8, radix=64)
    assert [tier.switches for tier in found.tiers] == [32, 16]
    assert (found.tiers[0].down, found.tiers[0].up) == (31, 32)


def test_a_port_split_over_two_planes_reaches_four_times_as_far() -> None:
    assert small(4, "dual-plane", 2).reach == 4 * small(4, "rail", 2).reach
    found = small(64, "dual-plane", 2)
    assert (found.radix, found.rate, found.trees) == (16, 0.5, 2)
    assert found.links[0] == 2 * 64


@pytest.mark.parametrize("chips", [256, 512, 1024, 2048, 4096, 16384])
def test_the_catalogs_dgx_h100_has_as_many_switches(chips: int) -> None:
    """Counted twice: by the catalog's fat tree, and here."""
    tiers = 2 if chips <= 2048 else 3
    found = design(Demand(chips, rails=8, radix=64, port=50e9), "rail", tiers)
    assert isinstance(found, Design)
    groups = [
        group.count
        for group in system(f"dgx-h100:{chips}").groups
        if group.name in ("leaf", "spine", "core")
    ]
    if chips == 256:
        # A lone rail group: the catalog leaves its spines out, since the rails meet in the node.
        assert groups == [found.tiers[0].switches]
    else:
        assert groups == [tier.switches for tier in found.tiers]


def wired(one: Design) -> Any:
    """The design's cables as a system, cards first, for the flow through them."""
    found = cables(one, Hall(), PARTS)
    cards = {(f"node{node + 1:04d}", f"nic{card}") for node in range(one.nodes) for card in (0, 1)}
    number = {card: index for index, card in enumerate(sorted(cards))}
    for cable in found.cables:
        number.setdefault((cable.one.device, cable.one.card), len(number))
        number.setdefault((cable.other.device, ""), len(number))
    lower = [number[cable.one.device, cable.one.card] for cable in found.cables]
    upper = [number[cable.other.device, ""] for cable in found.cables]
    source, target = np.array([lower + upper, upper + lower])
    wiring = SimpleNamespace(source=source, target=target, link=np.zeros(len(source), np.int64))
    return SimpleNamespace(
        groups=[SimpleNamespace(count=len(number))],
        links=[SimpleNamespace(bandwidth=1.0)],
        wiring=lambda: wiring,
        chips=len(cards),
        degree=np.bincount(source, minlength=len(number))[len(cards) :],
    )


PARTS = Parts(None, None, optic("dsp-800"), optic("dsp-800"), (optic("dac800"),))

WIRED = [
    ("tor", 2, 24), ("tor", 2, 32), ("rail", 2, 24), ("rail", 2, 32), ("rail", 2, 10),
    ("tor", 3, 40), ("tor", 3, 64), ("tor", 3, 128), ("rail", 3, 40), ("rail", 3, 96),
    ("rail", 3, 128),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "tiers", "chips"), WIRED)
def test_the_tree_can_be_wired_and_carries_its_bisection(
    kind: Kind, tiers: int, chips: int
) -> None:
    one = small(chips, kind, tiers)
    network = wired(one)
    assert network.degree.max() <= one.radix
    assert network.degree.min() > 0, "every switch is used"
    assert len(reached(network)) == network.groups[0].count
    # The halves are whole groups, as far as they can be; all cards send at once.
    half = one.nodes // 2 * one.rails
    flow = max_flow(network, range(half), range(half, 2 * half))
    assert flow == half, "full bisection"


@given(DEMANDS.filter(lambda demand: demand.chips < 600))
def test_every_cable_of_a_design_is_counted_and_nothing_is_wrong_with_it(demand: Demand) -> None:
    for one in designs(demand)[0]:
        plan = cables(one, Hall(), PARTS)
        network = Network(plan)
        assert len(plan.cables) == sum(one.links)
        lengths = Counter(cable.length for cable in plan.cables)
        counted: Counter[float | None] = Counter()
        for run in runs(one, Hall()):
            counted[run.length] += run.count
        assert lengths == counted
        copper = sum(
            cable.count for cable in bill(one, PARTS, runs(one, Hall())).cables if cable.copper
        )
        assert sum(cable.part == "dac800" for cable in plan.cables) == copper
        told = {finding.cause for finding in faults(network, {})}
        assert told <= {"single_homed", "oversubscribed", "single_point"}
