"""SHARP on the switches of a fabric: trees laid on real cables, verified, timed by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from artery.catalog import system
from artery.cluster.routing import network
from artery.collective.verify import verify
from artery.core.system import System
from artery.errors import InputError
from artery.simulator.network.switches import over_fabric
from artery.simulator.scenario import Scenario
from artery.simulator.shapes import shaped
from artery.simulator.simulate import simulate
from artery.simulator.simulation import Simulation
from tests.native.compiled import use

MIB = 2**20
FIXTURES = Path(__file__).parents[1] / "fixtures" / "systems"


@pytest.fixture(scope="module")
def fabric() -> System:
    """Two hosts of eight chips under each of four leaves, two spines above; all switches add."""
    return system(f"{FIXTURES / 'adding-leaves.toml'}:64")


def played(
    built: System, size: int, scenario: Scenario, chips: list[int] | None = None
) -> Simulation:
    where = np.arange(built.chips) if chips is None else np.array(chips)
    return simulate(built, shaped(built, "all_reduce", "collnet", size, where), scenario)


@pytest.mark.parametrize("seed", [None, 0, 1])
def test_the_trees_that_are_laid_add_everything_once(fabric: System, seed: int | None) -> None:
    chips = np.arange(64)
    if seed is not None:
        chips = np.random.default_rng(seed).permutation(64)
    job = over_fabric(fabric, network(fabric), MIB, chips, 2)
    assert verify(job.schedule).faults == ()
    left = network(fabric).fail(0.2, 3)
    assert verify(over_fabric(fabric, left, MIB, chips, 2).schedule).faults == ()


def test_every_neighbour_in_a_tree_is_joined_by_a_cable(fabric: System) -> None:
    wires = network(fabric)
    job = over_fabric(fabric, wires, MIB, np.arange(64), 1)
    assert job.vertices is not None
    edges = wires.edges()
    cables = set(zip(edges.source.tolist(), edges.target.tolist(), strict=True))
    pipe = job.schedule.pipes[1]
    vertex = np.concatenate([job.chips, job.vertices])
    above = pipe.source >= 64
    steps = zip(vertex[pipe.source[above]].tolist(), vertex[pipe.target[above]].tolist(),
                strict=True)  # fmt: skip
    found = list(steps)
    # Eight rails, each from four leaves up to one spine.
    assert len(found) == 32
    assert set(found) <= cables


@pytest.mark.parametrize("size", [64 * 1024, MIB, 64 * MIB])
def test_one_rank_a_node_takes_its_bytes_and_the_way_up_and_down(fabric: System, size: int) -> None:
    # All of a rank's bytes cross its card once; the first packet goes up and down link by link.
    found = played(fabric, size, Scenario(), [8 * node for node in range(8)])
    wires, routed = found.network, found.routed
    up = routed.link[routed.start[0] : routed.start[1]]
    edges = wires.edges()
    leaf = int(edges.target[up[-1]])
    core = [int(link) for link in wires.between if edges.source[link] == leaf][:1]
    rates = [int(wires.rate[up].min()), int(wires.rate[core].min())]
    delay = (wires.latency[up].sum() + wires.latency[core].sum()) / 1e12
    fill = 2 * (delay + sum(min(4096, size) / rate for rate in rates))
    expected = fill + (size - min(4096, size)) / min(rates)
    assert found.seconds == pytest.approx(expected, rel=1e-3)


def test_a_sum_crosses_each_cable_of_its_tree_once_each_way(fabric: System) -> None:
    size = 64 * MIB
    found = played(fabric, size, Scenario())
    core = found.network.between
    both = np.concatenate([core, core + found.network.cables])
    carried = found.carried[both]
    # Four leaves times eight rails, an eighth of the size each, up and down.
    assert carried.sum() == 2 * 32 * size // 8
    assert found.carried[core].sum() == found.carried[core + found.network.cables].sum()


def test_placement_does_not_matter_to_switches_that_add(fabric: System) -> None:
    packed = played(fabric, 64 * MIB, Scenario())
    mixed = np.random.default_rng(5).permutation(64).tolist()
    assert played(fabric, 64 * MIB, Scenario(), mixed).seconds == pytest.approx(
        packed.seconds, rel=1e-9
    )


@pytest.mark.parametrize("engine", ["coupled", "messages"])
def test_trees_are_laid_round_links_that_are_down(fabric: System, engine: str) -> None:
    scenario = Scenario(failed=0.2, seed=2, engine=engine)  # type: ignore[arg-type]
    found = played(fabric, 8 * MIB, scenario)
    assert not found.carried[~found.network.up].any()
    assert found.unfinished == 0


def test_a_tree_whose_cable_fails_on_the_way_is_said(fabric: System) -> None:
    wires = network(fabric)
    edges = wires.edges()
    leaf = edges.source[wires.between[0]]
    last = [int(link) for link in wires.between if edges.source[link] == leaf][:-1]
    with pytest.raises(InputError, match="has failed during the run"):
        played(fabric, 64 * MIB, Scenario(failed=tuple(last), failing=1e-4))


@pytest.mark.parametrize("engine", ["coupled", "messages", "fluid"])
def test_with_and_without_a_compiler_it_is_the_same(
    fabric: System, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = Scenario(engine=engine)  # type: ignore[arg-type]
    use(monkeypatch, engine)
    compiled = played(fabric, MIB, scenario)
    use(monkeypatch, None)
    twin = played(fabric, MIB, scenario)
    assert compiled.seconds == twin.seconds
    assert np.array_equal(compiled.carried, twin.carried)


@pytest.mark.parametrize(
    ("name", "chips", "said"),
    [
        ("dgx-h100:8", range(8), "no switches between nodes"),
        ("rail-clos-h100:64", range(64), "the switches between nodes do not add"),
        ("dgx-a100:16", range(16), "its own switches must add"),
        ("dgx-h100:32", range(12), "every node has as many ranks"),
        ("dgx-h100:32", range(8), "the job is inside one"),
    ],
)
def test_where_it_cannot_be_the_reason_is_said(name: str, chips: range, said: str) -> None:
    with pytest.raises(InputError, match=said):
        shaped(system(name), "all_reduce", "collnet", MIB, np.array(chips))
