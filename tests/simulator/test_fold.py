"""Trees with one node's inside for all that are alike, against all their edges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from artery.catalog import system
from artery.simulator.coupled import fold
from artery.simulator.loads import hottest, relief
from artery.simulator.scenario import Scenario
from artery.simulator.shapes import shaped
from artery.simulator.simulate import simulate
from artery.simulator.simulation import Simulation

SIZE = 2**28


@dataclass(frozen=True, slots=True)
class Case:
    on: str
    scenario: Scenario
    chips: Callable[[int], np.ndarray] = np.arange
    folded: bool = True
    seen: dict[str, int] = field(default_factory=dict)


def nodes_at_random(chips: int) -> np.ndarray:
    node = np.random.default_rng(5).permutation(chips // 8)
    return (node[:, None] * 8 + np.arange(8)).ravel()


def turned_in_every_second_node(chips: int) -> np.ndarray:
    found = np.arange(chips).reshape(-1, 8)
    found[::2] = np.roll(found[::2], 1, axis=1)
    return found.ravel()


CASES = {
    "hashed": Case("rail-clos-h100:1024", Scenario()),
    "failed": Case("rail-clos-h100:1024", Scenario(failed=0.05, seed=3)),
    "static": Case("dgx-h100:256", Scenario(routing="static")),
    "nodes at random": Case("rail-clos-h100:512", Scenario(failed=0.02), nodes_at_random),
    "a slow chip": Case("rail-clos-h100:512", Scenario(slow={77: 3.0})),
    "a late chip": Case("dgx-h100:128", Scenario(late={9: 1e-3})),
    "two cards a node": Case("azure-ndv4:256", Scenario()),
    "turned": Case("rail-clos-h100:256", Scenario(), turned_in_every_second_node, folded=False),
    "meshes": Case("dgx-1v:64", Scenario(), folded=False),
}


def played(case: Case, least: int, monkeypatch: pytest.MonkeyPatch) -> Simulation:
    monkeypatch.setattr(fold, "FOLDED_FROM", least)
    built = system(case.on)
    jobs = shaped(built, "all_reduce", "tree", SIZE, case.chips(built.chips))
    return simulate(built, jobs, replace(case.scenario, engine="coupled"))


@pytest.mark.parametrize("name", CASES)
def test_the_answer_is_that_of_all_edges(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = CASES[name]
    few, all_ = played(case, 1, monkeypatch), played(case, 10**9, monkeypatch)
    assert few.chosen.engine == all_.chosen.engine == "coupled"
    assert all_.alike is None
    if case.folded:
        assert few.alike is not None
        assert len(few.pairs.source) < len(all_.pairs.source)
    assert few.seconds == pytest.approx(all_.seconds, rel=1e-9)
    assert few.jobs == pytest.approx(all_.jobs, rel=1e-9)
    assert np.array_equal(few.carried, all_.carried)
    assert few.chosen.error == all_.chosen.error


@pytest.mark.parametrize("name", ["hashed", "failed", "a slow chip"])
def test_links_and_what_would_help_are_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    few, all_ = (played(CASES[name], least, monkeypatch) for least in (1, 10**9))
    one, other = (hottest(run, 40, 8, relieved=3) for run in (few, all_))
    assert [link.name for link in one] == [link.name for link in other]
    assert [link.pairs for link in one] == [link.pairs for link in other]
    assert [link.crossers for link in one] == [link.crossers for link in other]
    assert [link.gain for link in one[:3]] == pytest.approx([link.gain for link in other[:3]])
    gains = [{each.kind: each.gain for each in relief(run)} for run in (few, all_)]
    assert gains[0] == pytest.approx(gains[1], rel=1e-9)


def test_beside_another_job_they_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ring inside some of the nodes and between two of them: those are not alike."""
    found = []
    for least in (1, 10**9):
        monkeypatch.setattr(fold, "FOLDED_FROM", least)
        built = system("rail-clos-h100:256")
        one = shaped(built, "all_reduce", "tree", SIZE, np.arange(256))
        two = shaped(built, "all_reduce", "ring", SIZE, np.arange(16, 32))
        other = tuple(type(each)(each.schedule, each.size, each.chips, 0, 1) for each in two)
        found.append(simulate(built, (*one, *other), Scenario(engine="coupled")))
    few, all_ = found
    assert few.alike is not None
    assert 2 not in few.alike.node
    assert few.jobs == pytest.approx(all_.jobs, rel=1e-9)
    assert np.array_equal(few.carried, all_.carried)
