"""A system of which the last leaf or pod is part-filled: prices against networks that are played.

A leaf, or a pod, has its links upwards whether a job fills it or not. Packets are sprayed, and the
sizes are such that sprays are even, so that nobody is in the way of anybody but for the bytes that
must pass; what is played then knows nothing of the closed form but its constants.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from artery.answers.libraries import library_of
from artery.answers.plan.simulated import Asked, Simulated
from artery.catalog.systems import system
from artery.collective.closed_form import ClosedForm
from artery.collective.library import Library
from artery.core.pricing import Collective, Demand
from artery.core.system import System
from artery.simulator.scenario import Scenario

SHAPES = {
    "ethernet-10g": ((), (40, 160), (1, 2, 4, 6, 8, 12, 16)),
    "hgx-h100-roce": (("fabric.tiers[1].nodes=14",), (120, 336), (28, 56, 84, 112)),
    "dgx-h100": ((), (264, 600), (8, 16, 64, 128)),
}
"""Overrides, fewest and most chips, and strides by system. Leaves of 24 nodes at 3:1; racks of two
nodes in pods of 14, not 384, at 7:1 between pods, which makes sixteen whole links; full
bisection."""

WAYS: tuple[tuple[Collective, str], ...] = (
    ("sendrecv", "sendrecv"),
    ("alltoall", "grouped"),
    ("all_reduce", "ring"),
    ("all_gather", "ring"),
)


class Held(Simulated):
    """A pricer that plays the algorithm of the closed form that it is held against."""

    def _algorithm(self, asked: Asked) -> str:  # noqa: ARG002 - in place of the library's choice
        assert isinstance(self.closed, ClosedForm)
        return self.closed.algorithm


class Sprayed(Held):
    """One that sprays, whatever the network does."""

    @property
    def scenario(self) -> Scenario:
        return replace(super().scenario, routing="spray", queue_pairs=1)


@lru_cache
def built(name: str, chips: int) -> tuple[System, Library]:
    found = system(f"{name}:{chips}", SHAPES[name][0])
    return found, library_of(found, None)


def sizes(name: str) -> st.SearchStrategy[int]:
    """Return whole nodes."""
    per_node = built(name, SHAPES[name][1][1])[0].chips_per_node
    return st.integers(*(one // per_node for one in SHAPES[name][1])).map(lambda n: n * per_node)


@pytest.mark.parametrize("name", SHAPES)
@settings(max_examples=15, deadline=None)
@given(data=st.data(), way=st.sampled_from(WAYS))
def test_part_filled_pods_are_priced_as_they_are_played(
    name: str, data: st.DataObject, way: tuple[Collective, str]
) -> None:
    chips = data.draw(sizes(name))
    stride = data.draw(st.sampled_from(SHAPES[name][2]))
    on, library = built(name, chips)
    collective, algorithm = way
    assume(chips >= 2 * stride)
    most = min(chips // stride, 24)
    ranks = chips // stride if collective == "sendrecv" else data.draw(st.integers(2, most))
    closed = ClosedForm(on, library, algorithm)
    pricer = Sprayed(on, library, np.arange(chips), closed, lambda *_: "dp")
    found = pricer.exchange(Asked("dp", collective, ranks, stride, 2**28))
    assert found.played, found.refused
    assert found.closed == pytest.approx(found.alone, rel=0.02)


@pytest.mark.parametrize("name", [*SHAPES, "aliyun-hpn7"])
@settings(max_examples=25, deadline=None)
@given(data=st.data(), way=st.sampled_from(WAYS), ranks=st.integers(2, 24))
def test_filling_less_of_a_pod_slows_no_group(
    name: str, data: st.DataObject, way: tuple[Collective, str], ranks: int
) -> None:
    if name == "aliyun-hpn7":
        whole, unit, stride = 30_720, 1024, data.draw(st.sampled_from((8, 256, 512, 1024, 1536)))
    else:
        whole, unit, stride = SHAPES[name][1][1], 8, data.draw(st.sampled_from(SHAPES[name][2]))
    assume(ranks * stride <= whole)
    fewest = -(-ranks * stride // unit)
    more = data.draw(st.integers(fewest, max(whole // unit, fewest)))
    fewer = data.draw(st.integers(fewest, more))
    demand = Demand(way[0], np.array([2.0**28]), np.array([ranks]), np.array([stride]))
    seconds = []
    for many in (fewer, more):
        on = system(f"{name}:{many * unit}", SHAPES[name][0] if name in SHAPES else ())
        seconds.append(float(ClosedForm(on, library_of(on, None), way[1]).price(demand).seconds[0]))
    assert seconds[0] <= seconds[1] * (1 + 1e-9)


def test_a_third_of_a_pod_has_all_the_links_of_the_pod() -> None:
    """Pipelines of stages that fill a third of a pod: each of its 1,024 senders has 3/7 of a card.

    The Llama 3 Herd of Models, section 3.3.1: pods of 3,072 at full bisection, 1:7 above.
    """
    seconds = []
    for chips in (15 * 1024, 16 * 1024):
        on = system(f"hgx-h100-roce:{chips}", ())
        demand = Demand("sendrecv", np.array([1e12]), np.array([chips // 1024]), np.array([1024]))
        seconds.append(float(ClosedForm(on, library_of(on, None)).price(demand).seconds[0]))
    card = on.tiers[-1].link
    assert seconds[0] == pytest.approx(1e12 / (card.bandwidth * card.efficiency * 3 / 7), rel=1e-3)
    assert seconds[1] == pytest.approx(seconds[0], rel=1e-9)


@pytest.mark.parametrize(
    ("name", "way", "ranks", "stride"),
    [
        ("frontier:1000", ("all_reduce", "ring"), 3, 64),
        ("frontier:1000", ("all_reduce", "ring"), 7, 128),
        ("frontier:1000", ("sendrecv", "sendrecv"), 5, 200),
        ("leonardo:1000", ("all_reduce", "ring"), 12, 1),
    ],
)
def test_a_part_filled_group_of_a_dragonfly_has_all_its_cables(
    name: str, way: tuple[Collective, str], ranks: int, stride: int
) -> None:
    on = system(name, ())
    closed = ClosedForm(on, library_of(on, None), way[1])
    pricer = Held(on, library_of(on, None), np.arange(on.chips), closed, lambda *_: "dp")
    found = pricer.exchange(Asked("dp", way[0], ranks, stride, 2**28))
    assert found.played, found.refused
    assert found.closed == pytest.approx(found.alone, rel=0.02)
