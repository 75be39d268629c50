"""The simulator against closed forms, its engines against each other, and what failures do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from artery.catalog import system
from artery.collective.schedules import schedule
from artery.core.pricing import Collective
from artery.core.system import System
from artery.errors import InputError
from artery.simulator.explicit import run, work
from artery.simulator.loads import hottest, relief
from artery.simulator.placed import Placed
from artery.simulator.scenario import Scenario
from artery.simulator.seeds import Range, over_seeds
from artery.simulator.shapes import algorithms, shaped
from artery.simulator.simulate import simulate
from artery.simulator.simulation import Simulation

MIB = 2**20
FIXTURES = Path(__file__).parents[1] / "fixtures" / "systems"


@pytest.fixture(scope="module")
def node() -> System:
    return system("dgx-h100:8")


@pytest.fixture(scope="module")
def pod() -> System:
    return system("dgx-h100:32")


@pytest.fixture(scope="module")
def fabric() -> System:
    """Two hosts of eight chips under each of four leaves, two spines above."""
    return system(f"{FIXTURES / 'four-leaves.toml'}:64")


def played(
    built: System, name: str, size: int, scenario: Scenario, collective: Collective = "all_reduce"
) -> Simulation:
    jobs = shaped(built, collective, name, size, np.arange(built.chips))
    return simulate(built, jobs, scenario)


def test_a_message_alone_takes_its_cut_through_time(node: System) -> None:
    # b / B + the latencies of its links (Kermani and Kleinrock, 1979).
    size = 64 * MIB
    pair = (Placed(schedule("sendrecv", "sendrecv", 2), size, np.array([0, 1])),)
    found = simulate(node, pair, Scenario(engine="messages"))
    wires, path = found.network, found.routed.link[: found.routed.start[1]]
    alone = size / wires.rate[path].min() + wires.latency[path].sum() / 1e12
    assert found.seconds == pytest.approx(alone, rel=2e-5)


def test_switches_that_store_segments_cost_one_more_a_hop(node: System) -> None:
    pair = (Placed(schedule("sendrecv", "sendrecv", 2), 64 * MIB, np.array([0, 1])),)
    through = simulate(node, pair, Scenario(engine="messages"))
    stored = simulate(node, pair, Scenario(engine="messages", store_and_forward=True))
    segment = 32_768 / through.network.rate[through.routed.link[0]]
    assert stored.seconds - through.seconds == pytest.approx(segment, rel=0.01)


@pytest.mark.parametrize("size", [MIB, 64 * MIB])
@pytest.mark.parametrize("engine", ["coupled", "messages", "fluid"])
def test_a_ring_in_a_node_takes_its_closed_form(node: System, engine: str, size: int) -> None:
    # 2(n-1) steps of latency and 1/n of the size (Patarasuk and Yuan, 2009).
    found = played(node, "ring", size, Scenario(engine=engine))  # type: ignore[arg-type]
    wires, path = found.network, found.routed.link[: found.routed.start[1]]
    step = wires.latency[path].sum() / 1e12 + size / 8 / wires.rate[path].min()
    share = 0.05 if engine == "coupled" else 0.001
    assert found.seconds == pytest.approx(14 * step, rel=share)


@pytest.mark.parametrize("size", [4 * MIB, 64 * MIB])
def test_coupled_rings_agree_with_their_messages(pod: System, size: int) -> None:
    coupled = played(pod, "ring", size, Scenario(engine="coupled"))
    messages = played(pod, "ring", size, Scenario(engine="messages"))
    assert coupled.seconds == pytest.approx(messages.seconds, rel=0.04)
    assert np.array_equal(coupled.carried > 0, messages.carried > 0)
    there = messages.carried > 0
    assert coupled.carried[there] == pytest.approx(messages.carried[there], rel=1e-3)


@pytest.mark.parametrize("name", algorithms("all_reduce"))
def test_every_all_reduce_moves_at_least_what_it_must(pod: System, name: str) -> None:
    if name == "nvls":
        with pytest.raises(InputError, match="stays in one node"):
            shaped(pod, "all_reduce", name, MIB, np.arange(32))
        return
    found = played(pod, name, 16 * MIB, Scenario())
    # Every rank must receive what others have: at least the size once, less its own share.
    assert found.carried.sum() >= 31 / 32 * 32 * 16 * MIB
    assert found.unfinished == 0
    assert found.seconds > 0


@pytest.mark.parametrize("routing", ["ecmp", "static", "adaptive", "spray"])
@pytest.mark.parametrize("name", ["grouped", "pairwise", "rail_aligned"])
def test_all_to_all_delivers_every_byte(pod: System, name: str, routing: str) -> None:
    scenario = Scenario(routing=routing)  # type: ignore[arg-type]
    found = played(pod, name, 4 * MIB, scenario, "alltoall")
    assert found.unfinished == 0
    edges = found.network.edges()
    into = np.bincount(edges.target, weights=found.carried)[:32]
    assert into.min() >= 31 / 32 * 4 * MIB - 32


def test_a_matrix_is_sent_as_it_stands(node: System) -> None:
    sizes = np.random.default_rng(0).integers(0, MIB, (8, 8))
    np.fill_diagonal(sizes, 0)
    job = Placed(schedule("grouped", "alltoall", 8), sizes, np.arange(8))
    found = simulate(node, (job,), Scenario(engine="messages"))
    edges = found.network.edges()
    out = np.bincount(edges.source, weights=found.carried)[:8]
    assert out.tolist() == sizes.sum(axis=1).tolist()


def test_links_that_fail_are_not_used(fabric: System) -> None:
    found = played(fabric, "ring", MIB, Scenario(failed=0.2, engine="messages"))
    assert not found.network.up.all()
    assert found.carried[~found.network.up].sum() == 0
    assert found.unfinished == 0


def test_links_that_fail_on_the_way_are_left(fabric: System) -> None:
    jobs = shaped(fabric, "alltoall", "grouped", 4 * MIB, np.arange(64))
    whole = simulate(fabric, jobs, Scenario(engine="messages"))
    spine = next(one.link for one in hottest(whole, 500) if "spine" in one.name)
    scenario = Scenario(engine="messages", failed=(spine,), failing=whole.seconds / 20)
    later = simulate(fabric, jobs, scenario)
    assert later.unfinished == 0
    assert 0 < later.carried[spine] < whole.carried[spine]


def test_switches_that_fail_take_their_links_along(fabric: System) -> None:
    found = played(fabric, "grouped", MIB, Scenario(failed_switches=1), "alltoall")
    down = np.flatnonzero(~found.network.up)
    edges = found.network.edges()
    ends = edges.source[down].tolist() + edges.target[down].tolist()
    spines = {one for one in ends if ends.count(one) == len(down)}
    assert len(spines) == 1
    assert found.carried[down].sum() == 0
    with pytest.raises(InputError, match="switches between nodes"):
        played(fabric, "grouped", MIB, Scenario(failed_switches=10_000), "alltoall")


def test_a_slow_rank_holds_a_ring_up_by_its_factor(node: System) -> None:
    usual = played(node, "ring", 256 * MIB, Scenario())
    slow = played(node, "ring", 256 * MIB, Scenario(slow={3: 2.0}))
    assert slow.seconds == pytest.approx(2 * usual.seconds, rel=0.01)
    with pytest.raises(InputError, match="numbered from 0"):
        played(node, "ring", MIB, Scenario(slow={8: 2.0}))


@pytest.mark.parametrize("engine", ["coupled", "messages", "fluid"])
def test_a_late_rank_holds_everybody_up(node: System, engine: str) -> None:
    usual = played(node, "ring", MIB, Scenario(engine=engine))  # type: ignore[arg-type]
    late = played(node, "ring", MIB, Scenario(engine=engine, late={3: 0.01}))  # type: ignore[arg-type]
    assert 0.01 < late.seconds <= usual.seconds + 0.01


def test_others_on_the_network_leave_less_of_it(fabric: System) -> None:
    usual = played(fabric, "grouped", 4 * MIB, Scenario(), "alltoall")
    shared = played(fabric, "grouped", 4 * MIB, Scenario(background=0.9), "alltoall")
    assert shared.seconds > 1.5 * usual.seconds


def test_two_jobs_on_the_same_links_share_them(node: System) -> None:
    one = shaped(node, "all_reduce", "ring", 256 * MIB, np.arange(8))
    other = tuple(replace(job, job=1) for job in one)
    alone, both = simulate(node, one, Scenario()), simulate(node, (*one, *other), Scenario())
    assert len(both.jobs) == 2
    assert both.jobs[0] == pytest.approx(2 * alone.jobs[0], rel=0.02)


def test_chips_that_are_not_there_are_refused(node: System) -> None:
    two = schedule("ring", "all_reduce", 2)
    for chips in ([0, 0], [0, 8], [0, 1, 2]):
        with pytest.raises(InputError, match="job 0"):
            simulate(node, (Placed(two, MIB, np.array(chips)),), Scenario())


def test_the_hottest_links_are_named_with_who_crosses_them(node: System) -> None:
    found = played(node, "ring", 256 * MIB, Scenario(slow={3: 2.0}))
    first, second = hottest(found, 2, relieved=1)
    assert {first.name, second.name} == {"chip 3 -> nvswitch 0", "nvswitch 0 -> chip 3"}
    assert {first.pairs, second.pairs} == {((3, 4),), ((2, 3),)}
    assert first.load == pytest.approx(1.0, rel=0.01)
    (only,) = relief(found)
    assert only.kind == "nvlink4"
    assert only.gain == pytest.approx(2.0, rel=0.02)


@pytest.mark.usefixtures("compiled_loops")
def test_seeds_give_a_range(fabric: System) -> None:
    jobs = shaped(fabric, "all_reduce", "ring", 64 * MIB, np.arange(64))
    seeds = [simulate(fabric, jobs, Scenario(seed=seed)).jobs[0] for seed in range(5)]
    found = Range.of([seeds[0], *over_seeds(fabric, jobs, Scenario(), 5)])
    assert found.median == sorted(seeds)[2]
    assert min(seeds) <= found.low < found.high <= max(seeds)


def test_the_form_says_where_it_is_less_exact(fabric: System, node: System) -> None:
    """Trees and rings that meet on a link, and rings where latency and bandwidth bind alike."""
    coupled = Scenario(engine="coupled")
    assert played(node, "ring", 256 * MIB, coupled).chosen.error == 0.03
    assert played(fabric, "tree", 256 * MIB, coupled).chosen.error == 0.06
    steps = [played(fabric, "ring", size * MIB, coupled).chosen.error for size in range(1, 33)]
    assert 0.10 in steps
    broken = replace(coupled, failed=0.05)
    steps = [played(fabric, "ring", size * MIB, broken).chosen.error for size in range(1, 33)]
    assert 0.25 in steps


@pytest.mark.parametrize("engine", ["coupled", "messages"])
def test_what_takes_longer_than_the_clock_counts_is_refused(node: System, engine: str) -> None:
    slow = Scenario(engine=engine, slow={3: 1e6})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="over its slowest link"):
        played(node, "ring", 2**60, slow)


@pytest.mark.parametrize("engine", ["coupled", "messages"])
def test_adding_that_takes_longer_than_the_clock_counts_is_refused(
    node: System, engine: str
) -> None:
    slow = Scenario(engine=engine, adding=100.0)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"B added at 100 B/s, .* at its slowest adding rate"):
        played(node, "ring", 2**30, slow)


def test_the_slowest_adding_that_is_played_takes_its_time(node: System) -> None:
    """Every chip adds 7/8 of the buffer at 2 kB/s."""
    found = played(node, "ring", 2**30, Scenario(engine="coupled", adding=2000.0))
    assert found.seconds == pytest.approx(2**30 * 7 / 8 / 2000, rel=0.01)


def test_steps_over_a_latency_longer_than_the_clock_counts_are_refused() -> None:
    far = system("dgx-h100:64", ["fabric.hop=900000 s"])
    with pytest.raises(InputError, match=r"steps over links that take .* of its longest latency"):
        played(far, "ring", MIB, Scenario())


def test_an_all_to_all_of_too_many_messages_is_refused_before_they_are_listed() -> None:
    large = system("rail-clos-h100:65536")
    scenario = Scenario(failed=0.01, failing=1e-3)
    with pytest.raises(InputError, match="4,294,901,760 messages"):
        played(large, "pairwise", MIB, scenario, "alltoall")


@pytest.mark.parametrize("queue_pairs", [1, 3])
@pytest.mark.parametrize("name", ["halving_doubling", "ring", "tree", "nvls_tree"])
def test_steps_compared_by_step_give_the_same(
    name: str, queue_pairs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of very many messages whole steps are compared, not pairs: paths and times are the same."""
    found = []
    for many in (1, 10**9):
        monkeypatch.setattr(work, "MANY", many)
        scenario = Scenario(engine="messages", queue_pairs=queue_pairs)
        found.append(played(system("dgx-h100:64"), name, 4 * MIB, scenario))
    one, other = found
    assert one.seconds == other.seconds
    assert np.array_equal(one.carried, other.carried)
    assert one.messages is not None
    assert other.messages is not None
    assert np.array_equal(one.messages.delivered, other.messages.delivered)


def test_of_very_many_messages_none_is_told_apart(
    pod: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = played(pod, "halving_doubling", MIB, Scenario(engine="messages"))
    monkeypatch.setattr(work, "MOST_TIMES", 1)
    monkeypatch.setattr(run, "MOST_TIMES", 1)
    many = played(pod, "halving_doubling", MIB, Scenario(engine="messages"))
    assert many.messages is None
    assert many.seconds == usual.seconds
