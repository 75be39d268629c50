"""Slices through trees, played in any order: sums are right, and nobody holds more than he may."""

from __future__ import annotations

import numpy as np
import pytest

from artery.catalog import system
from artery.collective.schedules import schedule
from artery.core.schedule import Schedule
from artery.native.gates import Opener
from artery.simulator.explicit.slices import (
    SLOTS,
    Flow,
    coarse,
    flow,
    pieces,
    sizes,
    slices_of,
    wanted,
)
from artery.simulator.placed import Placed
from artery.simulator.scenario import Scenario
from artery.simulator.shapes import shaped
from artery.simulator.simulate import simulate

MIB = 2**20
CASES: dict[str, tuple[Schedule, int]] = {
    "trees of nodes": (schedule("tree", "all_reduce", 16, per_node=4, slices=3), 4),
    "many slices": (schedule("tree", "all_reduce", 7, slices=12), 3),
    "broadcast": (schedule("tree", "broadcast", 9, slices=4), 2),
    "switches in nodes": (schedule("nvls", "all_reduce", 8), 5),
    "both": (schedule("nvls_tree", "all_reduce", 24, per_node=4, slices=2), 2),
    "switches between": (schedule("collnet", "all_reduce", 20, radix=4, slices=3), 2),
}


def added_up(found: Flow, one: Schedule, many: int, seed: int) -> np.ndarray:
    """Play the transfers, delivered in random order; return who is in each sum, as bits.

    By rank, chunk and piece. Nothing is added twice. A sum that a switch made is put beside what
    other ranks sent meanwhile.
    """
    actors = one.ranks + one.switches
    held = np.zeros((actors, one.chunks, many), dtype=object)
    for rank in range(one.ranks):
        held[rank] = 1 << rank if one.collective == "all_reduce" or not rank else 0
    under_way: list[tuple[int, int]] = []

    def begin(transfer: int, _: int) -> None:
        place = found.source[transfer], found.chunk[transfer], found.piece[transfer]
        under_way.append((transfer, held[place]))

    gates = Opener(found.gates, begin)
    gates.open_roots()
    random = np.random.default_rng(seed)
    while under_way:
        transfer, value = under_way.pop(int(random.integers(len(under_way))))
        place = found.target[transfer], found.chunk[transfer], found.piece[transfer]
        if found.adds[transfer]:
            assert not held[place] & value
        held[place] |= value
        gates.signal(gates.delivered[transfer], 0)
        gates.signal(gates.sent[transfer], 0)
    assert (gates.closed() >= 0).all()
    return held[: one.ranks]


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("name", CASES)
def test_whatever_the_order_everything_is_added_once(name: str, seed: int) -> None:
    one, many = CASES[name]
    held = added_up(flow(one, many), one, many, seed)
    every = 1 if one.collective == "broadcast" else (1 << one.ranks) - 1
    assert (held == every).all()


@pytest.mark.parametrize("name", CASES)
def test_as_many_transfers_as_chunks_cross_edges(name: str) -> None:
    one, many = CASES[name]
    found = flow(one, many)
    crossing = sum(int(one.step(k).count.sum()) for k in range(one.steps))
    assert len(found.source) == crossing * many
    if one.pipes:
        assert slices_of(Placed(one, 1000, np.arange(one.ranks))) == crossing


def test_pieces_of_all_chunks_are_the_buffer() -> None:
    one, many = CASES["trees of nodes"]
    job = Placed(one, 1_000_003, np.arange(16))
    found = flow(one, many)
    size = sizes(job, found, many)
    down = found.source[~found.adds], found.target[~found.adds], size[~found.adds]
    received = np.bincount(down[1], down[2], 16)
    # All but the roots of the two halves get the whole result.
    assert max(received.tolist()) == 1_000_003
    assert size.max() - size.min() <= 1


@pytest.mark.parametrize("slots", [SLOTS, 3 * SLOTS])
def test_a_rank_sends_no_further_ahead_than_the_next_has_slots(slots: int) -> None:
    """Rank 1 never gets rid of anything: its child sends as many slices as it has room for."""
    one = schedule("tree", "broadcast", 3, slices=4 * SLOTS)
    found = flow(one, 1, slots)
    started: list[int] = []
    gates = Opener(found.gates, lambda transfer, _: started.append(transfer))
    gates.open_roots()
    forwards = {(int(a), int(b)) for a, b in zip(found.source, found.target, strict=True) if a}
    seen = 0
    while seen < len(started):
        transfer = started[seen]
        seen += 1
        gates.signal(gates.delivered[transfer], 0)
        if not found.source[transfer]:
            gates.signal(gates.sent[transfer], 0)
    for source, target in forwards:
        sent = [t for t in started if (found.source[t], found.target[t]) == (source, target)]
        assert len(sent) == 1
        fed = [t for t in started if found.target[t] == source]
        tree = {int(found.chunk[t]) // (4 * SLOTS) for t in sent}
        assert max(sum(int(found.chunk[t]) // (4 * SLOTS) in tree for t in fed), 1) <= slots


@pytest.mark.usefixtures("compiled_loops")
def test_messages_pass_on_in_the_slices_of_a_library() -> None:
    """A chain of trees filled once: each slice more adds what the slowest link takes for it."""
    built = system("dgx-h100:64")
    scenario = Scenario(engine="messages", routing="static")
    found = []
    for size in (64 * MIB, 128 * MIB, 256 * MIB):
        jobs = shaped(built, "all_reduce", "tree", size, np.arange(64))
        assert not coarse(jobs)
        assert all(job.total // job.schedule.chunks // wanted(job) <= 2**19 for job in jobs)
        found.append(simulate(built, jobs, scenario).seconds)
    first, second = found[1] - found[0], found[2] - found[1]
    # Four of a channel's halves go through each card, one way: 64 MiB more are 16 MiB on each.
    rate = int(simulate(built, jobs, scenario).network.rate.min())
    assert first == pytest.approx(16 * MIB / rate, rel=0.02)
    assert second == pytest.approx(2 * first, rel=0.02)


@pytest.mark.usefixtures("compiled_loops")
@pytest.mark.parametrize("algorithm", ["tree", "nvls_tree", "nvls"])
def test_played_one_by_one_or_as_pipes_it_takes_about_as_long(algorithm: str) -> None:
    built = system("dgx-h100:8" if algorithm == "nvls" else "dgx-h100:64")
    jobs = shaped(built, "all_reduce", algorithm, 256 * MIB, np.arange(built.chips))
    one, other = (
        simulate(built, jobs, Scenario(engine=engine, routing="static")).seconds
        for engine in ("messages", "coupled")
    )
    assert one == pytest.approx(other, rel=0.04)


def test_slices_are_coarser_where_there_would_be_too_many() -> None:
    built = system("dgx-h100:64")
    large = shaped(built, "all_reduce", "tree", 2**36, np.arange(64))
    assert coarse(large)
    assert sum(slices_of(job) * many for job, many in zip(large, pieces(large), strict=True)) < 1e6
