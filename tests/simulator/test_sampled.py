"""All-to-alls of which only a sample is looked at, against every message played."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from artery.catalog import system
from artery.core.system import System
from artery.errors import InputError
from artery.simulator import choice
from artery.simulator.explicit import sampled
from artery.simulator.explicit.sampled import _quantile
from artery.simulator.loads import hottest
from artery.simulator.scenario import Scenario
from artery.simulator.shapes import shaped
from artery.simulator.simulate import simulate
from artery.simulator.simulation import Simulation

MIB = 2**20
COMPILED = pytest.mark.usefixtures("compiled_loops")


@pytest.fixture(scope="module")
def fabric() -> System:
    """Eight chips under each of 32 nodes, two tiers of switches above."""
    return system("dgx-h100:256")


def played(built: System, scenario: Scenario, name: str = "grouped") -> Simulation:
    jobs = shaped(built, "alltoall", name, 64 * MIB, np.arange(built.chips))
    return simulate(built, jobs, scenario)


@COMPILED
@pytest.mark.parametrize(
    ("scenario", "most"),
    [
        (Scenario(), 0.03),
        (Scenario(routing="static"), 0.03),
        (Scenario(failed=0.03, seed=4), 0.05),
        (Scenario(slow={5: 2.0}), 0.03),
        (Scenario(background=0.3, seed=7), 0.04),
        (Scenario(routing="adaptive"), 0.05),
    ],
)
def test_a_sample_finds_the_time_of_all_messages(
    fabric: System, scenario: Scenario, most: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampled, "PATHS", 20_000)
    whole = played(fabric, scenario).jobs[0]
    some = played(fabric, replace(scenario, engine="sampled"))
    assert some.chosen.engine == "sampled"
    assert some.events < 20_000 < some.chosen.count == 256 * 255
    assert some.jobs[0] == pytest.approx(whole, rel=most)
    assert some.between is not None
    assert some.between[0] * 0.99 < whole < some.between[1] * 1.01


def test_sprayed_loads_are_more_even_than_hashed_ones() -> None:
    built = system("rail-clos-h100:1024")
    hashed = played(built, Scenario(engine="sampled"))
    sprayed = played(built, Scenario(engine="sampled", routing="spray"))
    cables = hashed.network.between
    assert sprayed.carried[cables].std() < 0.4 * hashed.carried[cables].std()
    assert sprayed.jobs[0] < hashed.jobs[0]


@COMPILED
def test_where_all_are_in_the_sample_the_loads_are_exact(fabric: System) -> None:
    whole = played(fabric, Scenario(engine="messages"))
    some = played(fabric, Scenario(engine="sampled"))
    assert some.events == some.chosen.count
    assert np.array_equal(some.carried, whole.carried)


def test_a_leaf_that_lost_half_its_ways_up_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is one of very many: nothing that the others do says so."""
    monkeypatch.setattr(sampled, "PATHS", 30_000)
    built = system("rail-clos-h100:1024")
    whole = played(built, Scenario(engine="sampled"))
    wires = whole.network
    near = wires.edges().source[wires.between]
    lost = wires.between[near == near[0]]
    broken = Scenario(engine="sampled", failed=tuple(lost[::2].tolist()))
    some = played(built, broken)
    assert some.jobs[0] > 1.6 * whole.jobs[0]
    leaf = hottest(some, 1)[0]
    assert wires.edges().source[leaf.link] == near[0] or wires.edges().target[leaf.link] == near[0]


@pytest.mark.parametrize("chance", [0.05, 0.5, 0.95])
def test_the_greatest_of_many_lies_where_draws_put_it(chance: float) -> None:
    random = np.random.default_rng(1)
    means = np.concatenate([np.full(300, 10.0), np.full(300, 10.5)])
    drawn = random.normal(means, 0.4, (4000, 600)).max(axis=1)
    top = -np.sort(-means)
    found = _quantile([(top[:400], 200, np.full(3, 0.4))], chance, 1)
    assert found == pytest.approx(float(np.quantile(drawn, chance)), rel=0.005)


def test_distances_cover_all_and_every_place_of_a_node(fabric: System) -> None:
    found = sampled._distances(system("dgx-h100:131072"), 131_072, Scenario())
    assert len(found) == sampled.PATHS // 131_072 // 8 * 8
    assert (np.diff(found) > 0).all()
    assert np.diff(found).max() <= 2 * 131_071 // len(found) + 8
    assert np.bincount(found % 8).tolist() == [len(found) // 8] * 8
    assert sampled._distances(fabric, 256, Scenario()).tolist() == list(range(1, 256))


def test_too_many_messages_are_sampled_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampled, "PATHS", 60_000)
    found = played(system("rail-clos-h100:4096"), Scenario())
    assert (found.chosen.engine, found.chosen.why) == ("sampled", "many")
    assert found.jobs[0] >= 64 * MIB * 4088 / 4096 / 48e9
    assert found.between is not None
    assert found.between[0] < found.jobs[0] < found.between[1]


def test_messages_too_many_to_be_cut_are_sprayed_in_a_sample(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Played in one piece each they would all take their first way."""
    monkeypatch.setattr(sampled, "PATHS", 60_000)
    monkeypatch.setattr(choice, "MOST_EVENTS", 300_000)
    found = played(system("dgx-h100:256"), Scenario(routing="spray"))
    assert found.chosen.engine == "sampled"
    few = played(system("dgx-h100:32"), Scenario(routing="spray"))
    assert few.chosen.engine == "messages"


def test_other_jobs_and_failures_on_the_way_are_not_sampled(fabric: System) -> None:
    jobs = shaped(fabric, "alltoall", "grouped", MIB, np.arange(256))
    with pytest.raises(InputError, match="sampled"):
        simulate(fabric, jobs, Scenario(engine="sampled", failed=0.1, failing=1e-6))
    with pytest.raises(InputError, match="sampled"):
        simulate(fabric, jobs * 2, Scenario(engine="sampled"))
