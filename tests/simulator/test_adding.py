"""Sums as timed steps: closed forms, all engines, and the twin of the message engine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from artery.catalog import system
from artery.core.pricing import Collective
from artery.core.system import System
from artery.simulator.scenario import EngineName, Scenario
from artery.simulator.shapes import shaped
from artery.simulator.simulate import simulate
from artery.simulator.simulation import Simulation
from tests.native.compiled import use

MIB = 2**20
COMPILED = pytest.mark.usefixtures("compiled_loops")
FIXTURES = Path(__file__).parents[1] / "fixtures" / "systems"


@pytest.fixture(scope="module")
def node() -> System:
    return system("dgx-h100:8")


@pytest.fixture(scope="module")
def pod() -> System:
    return system("dgx-h100:32")


def played(
    built: System,
    name: str,
    scenario: Scenario,
    collective: Collective = "all_reduce",
    size: int = 64 * MIB,
) -> Simulation:
    jobs = shaped(built, collective, name, size, np.arange(built.chips))
    return simulate(built, jobs, scenario)


@pytest.mark.parametrize("engine", ["messages", "fluid", "coupled"])
@pytest.mark.parametrize("rate", [20e9, 100e9])
def test_a_ring_adds_on_its_way_there_and_copies_on_its_way_back(
    node: System, engine: EngineName, rate: float
) -> None:
    """(n-1)·(c/R + c/B), and what the first bytes take."""
    usual = played(node, "ring", Scenario(engine=engine))
    link = usual.network.rate[0]
    found = played(node, "ring", Scenario(engine=engine, adding=rate))
    chunks = 64 * MIB * 7 / 8
    latency = usual.seconds - 2 * chunks / link
    assert found.seconds == pytest.approx(chunks / rate + chunks / link + latency, rel=0.005)
    assert found.adding is not None
    assert found.adding.seconds == pytest.approx(chunks / rate)
    assert not found.adding.card


@COMPILED
@pytest.mark.parametrize("name", ["ring", "halving_doubling", "tree", "nvls_tree"])
def test_adding_as_fast_as_the_links_is_not_seen(pod: System, name: str) -> None:
    """A chip of the catalog's rate adds no time: its memory is faster than any of its links."""
    usual = played(pod, name, Scenario(engine="messages"))
    found = played(pod, name, Scenario(engine="messages", adding=1.1e12))
    assert found.seconds == pytest.approx(usual.seconds, rel=0.005)
    assert np.array_equal(found.carried, usual.carried)


@COMPILED
@pytest.mark.parametrize("rate", [20e9, 100e9, 400e9])
@pytest.mark.parametrize("name", ["ring", "tree"])
def test_coupled_adding_agrees_with_every_message(pod: System, name: str, rate: float) -> None:
    scenario = Scenario(adding=rate, engine="coupled")
    coupled = played(pod, name, scenario, size=256 * MIB).seconds
    every = played(pod, name, replace(scenario, engine="messages"), size=256 * MIB).seconds
    least = {"ring": 0.99, "tree": 0.75}[name]  # steps of a tree wait for each other
    assert least * every < coupled < 1.01 * every


@pytest.mark.parametrize("collective", ["all_gather", "broadcast", "alltoall"])
def test_what_is_only_passed_on_is_not_added(pod: System, collective: Collective) -> None:
    name = "grouped" if collective == "alltoall" else "ring"
    usual = played(pod, name, Scenario(), collective, 4 * MIB)
    found = played(pod, name, Scenario(adding=1e9, card_adding=1e9), collective, 4 * MIB)
    assert found.seconds == usual.seconds


def test_reduce_scatter_adds_all_that_comes_in(node: System) -> None:
    found = played(node, "ring", Scenario(adding=10e9), "reduce_scatter")
    assert found.seconds == pytest.approx(64 * MIB * 7 / 8 / 10e9, rel=0.01)


@pytest.mark.parametrize("engine", ["messages", "coupled"])
def test_a_card_adds_only_what_comes_from_other_nodes(
    node: System, pod: System, engine: EngineName
) -> None:
    usual = played(node, "ring", Scenario(engine=engine))
    assert played(node, "ring", Scenario(engine=engine, card_adding=1e9)).seconds == usual.seconds
    apart = played(pod, "ring", Scenario(engine=engine, card_adding=5e9), size=256 * MIB)
    assert apart.adding is not None
    assert apart.adding.card
    crossing = 256 * MIB * 31 / 32 / 8  # each of eight rings enters a node by its own card
    assert apart.adding.seconds == pytest.approx(crossing / 5e9, rel=0.01)
    assert apart.seconds > apart.adding.seconds


@pytest.mark.parametrize(
    "scenario",
    [
        Scenario(adding=90e9),
        Scenario(adding=200e9, card_adding=9e9, queue_pairs=2),
        Scenario(card_adding=9e9, routing="spray"),
        Scenario(adding=30e9, flow_control="credit"),
    ],
)
@pytest.mark.parametrize("name", ["halving_doubling", "ring"])
def test_the_twin_adds_to_the_same_picosecond(
    pod: System, name: str, scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for loops in ("messages", None):
        with monkeypatch.context() as patch:
            use(patch, loops if scenario.flow_control == "auto" or loops is None else "packets")
            found.append(played(pod, name, replace(scenario, engine="messages"), size=MIB))
    one, other = found
    assert one.messages is not None
    assert other.messages is not None
    assert np.array_equal(one.messages.delivered, other.messages.delivered)
    assert one.adding == other.adding


@COMPILED
def test_who_adds_is_the_same_on_the_way_round_a_failure() -> None:
    fabric = system(f"{FIXTURES / 'four-leaves.toml'}:64")
    scenario = Scenario(adding=9e9, failed=0.2, failing=1e-4, seed=3)
    found = played(fabric, "halving_doubling", scenario, size=16 * MIB)
    whole = played(fabric, "halving_doubling", replace(scenario, failed=0.0, failing=0.0))
    assert found.unfinished == 0
    assert found.adding is not None
    assert whole.adding is not None
    assert found.adding.seconds == pytest.approx(whole.adding.seconds / 4, rel=1e-6)


def test_relief_keeps_adding_as_it_is(node: System) -> None:
    found = played(node, "ring", Scenario(engine="messages", adding=20e9))
    assert found.replay(found.network.rate) == pytest.approx(found.seconds)
    assert found.replay(found.network.rate * 2) > 0.9 * found.seconds
