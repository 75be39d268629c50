"""Groups of a step on their real places: laid out, and timed against arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

from artery.catalog.systems import system
from artery.core.pricing import Collective
from artery.errors import InputError
from artery.simulator.groups import Shared, distinct, domain, groups, laid
from artery.simulator.loads import hottest
from artery.simulator.scenario import EngineName, Scenario
from artery.simulator.simulate import simulate
from artery.simulator.simulation import Simulation

H100 = system("dgx-h100:64", ())
CARD = 50e9 * 0.96
"""B/s of one ConnectX-7 at 400 Gb/s, at the share of it that the catalog's link class reaches."""

SIZE = 2**30
ENGINES: tuple[EngineName, ...] = ("coupled", "messages")


def played(shared: Shared, ranks: int, stride: int) -> Simulation:
    rows = groups(np.arange(64), ranks, stride)
    scenario = Scenario(engine="coupled", routing="static")
    return simulate(H100, laid(H100, shared, rows[distinct(H100, rows)]), scenario)


def test_groups_are_rows_of_ranks_a_stride_apart() -> None:
    rows = groups(np.arange(12), 3, 2)
    assert rows.tolist() == [[0, 2, 4], [1, 3, 5], [6, 8, 10], [7, 9, 11]]


def test_first_and_last_stage_have_groups_of_their_own() -> None:
    assert groups(np.arange(8), 2, 6).tolist() == [[0, 6], [1, 7]]


def test_the_order_says_which_chip_a_rank_is_on() -> None:
    assert groups(np.array([3, 2, 1, 0]), 2, 2).tolist() == [[3, 1], [2, 0]]


def test_groups_inside_nodes_are_played_once_per_kind_of_node() -> None:
    assert domain(H100) == 8
    assert distinct(H100, groups(np.arange(64), 4, 1)).tolist() == [0, 1]
    assert len(distinct(H100, groups(np.arange(64), 4, 8))) == 16
    swapped = np.arange(64)
    swapped[[1, 2]] = [2, 1]  # the first node pairs its chips in another way
    assert distinct(H100, groups(swapped, 2, 1)).tolist() == [0, 1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize(
    ("collective", "algorithm", "factor"),
    [
        ("all_reduce", "ring", 2 * 7 / 8),
        ("all_gather", "ring", 7 / 8),
        ("reduce_scatter", "pat", 7 / 8),
        ("all_gather", "pat", 7 / 8),
        ("alltoall", "grouped", 7 / 8),
        ("sendrecv", "sendrecv", 1.0),
    ],
)
def test_one_member_per_node_fills_its_own_card(
    collective: Collective, algorithm: str, factor: float
) -> None:
    found = played(Shared(collective, algorithm, SIZE), 8, 8)
    assert len(found.jobs) == 8
    for seconds in found.jobs:
        assert seconds == pytest.approx(factor * SIZE / CARD, rel=2e-3)


@pytest.mark.parametrize(("stride", "members"), [(1, 8), (2, 4), (4, 2), (8, 1)])
def test_a_ring_uses_the_cards_of_all_its_members(stride: int, members: int) -> None:
    found = played(Shared("all_reduce", "ring", SIZE), 64 // stride, stride)
    ranks = 64 // stride
    alone = 2 * (ranks - 1) / ranks * SIZE / (members * CARD)
    assert found.seconds == pytest.approx(alone, rel=0.02)


def test_a_ring_through_uneven_nodes_passes_each_of_them_once() -> None:
    row = np.array([[0, 8, 1, 9, 2, 16]])
    (ring,) = laid(H100, Shared("all_gather", "ring", SIZE), row)
    assert sorted(ring.chips.tolist()) == sorted(row[0].tolist())
    nodes = ring.chips // 8
    assert np.count_nonzero(nodes != np.roll(nodes, 1)) == 3


@pytest.mark.parametrize("order", [np.arange(64), np.random.default_rng(0).permutation(64)])
@pytest.mark.parametrize(
    ("collective", "algorithm"), [("all_gather", "ring"), ("alltoall", "grouped")]
)
def test_groups_as_variables_take_as_long_as_their_messages(
    collective: Collective, algorithm: str, order: np.ndarray
) -> None:
    """Another engine, which plays every message, on packed and on shuffled ranks."""
    jobs = laid(H100, Shared(collective, algorithm, 2**24), groups(order, 8, 8))
    both = [
        simulate(H100, jobs, Scenario(engine=engine, routing="static")).seconds
        for engine in ENGINES
    ]
    assert both[0] == pytest.approx(both[1], rel=0.01)


def test_two_jobs_interleaved_on_the_same_leaves_slow_each_other_where_hashes_collide() -> None:
    """Packed rings stay on their leaf; dealt over two leaves, every hop of both jobs leaves it.

    A leaf has as many cables up as down: it is the hashes that make them meet.
    """
    on = system("dgx-h100:512", ())
    node = np.arange(512).reshape(2, 32, 8)  # leaf, node of the leaf, chip
    packed = [node[0].ravel(), node[1].ravel()]
    dealt = [node[:, first::2].transpose(1, 0, 2).ravel() for first in (0, 1)]
    shared = Shared("all_reduce", "ring", SIZE)

    def run(*orders: np.ndarray) -> Simulation:
        jobs = [
            placed
            for number, order in enumerate(orders)
            for placed in laid(on, shared, groups(order, 32, 8), first=8 * number)
        ]
        return simulate(on, tuple(jobs), Scenario(engine="coupled", routing="ecmp", queue_pairs=16))

    alone = 2 * 31 / 32 * SIZE / CARD
    assert run(*packed).seconds == pytest.approx(alone, rel=2e-3)
    together = run(*dealt)
    assert together.seconds > 1.2 * max(run(order).seconds for order in dealt) > 1.2 * alone
    (link,) = hottest(together, 1, pairs=1000)
    assert "leaf" in link.name
    assert "spine" in link.name
    assert {(chip // 8) % 2 for pair in link.pairs for chip in pair} == {0, 1}


def on_torus(collective: Collective, ranks: int, stride: int, chips: int = 64) -> Simulation:
    torus = system(f"tpu-v4-pod:{chips}", ())
    rows = groups(np.arange(chips), ranks, stride)
    name = "torus" if collective not in ("sendrecv", "alltoall") else "grouped"
    jobs = laid(torus, Shared(collective, name, SIZE), rows)
    return simulate(torus, jobs, Scenario(routing="static", engine="coupled"))


@pytest.mark.parametrize(
    ("ranks", "stride", "sides"),
    [(4, 1, 1), (4, 4, 1), (4, 16, 1), (16, 1, 2), (16, 4, 2), (64, 1, 3)],
)
def test_groups_on_a_torus_fill_both_ways_of_each_of_their_sides(
    ranks: int, stride: int, sides: int
) -> None:
    # 4x4x4, all sides rings: (n-1)/n of the bytes over two links a side, all of them busy.
    found = on_torus("all_gather", ranks, stride)
    rate = int(found.network.rate[0])
    assert found.seconds == pytest.approx((ranks - 1) / ranks * SIZE / (2 * sides * rate), rel=0.02)


def test_stages_far_apart_on_a_torus_share_the_links_on_the_way() -> None:
    # Two stages half a side of four apart: each cable on the way carries two messages.
    found = on_torus("sendrecv", 2, 32)
    near = on_torus("sendrecv", 2, 1)
    assert found.seconds == pytest.approx(2 * near.seconds, rel=0.02)


def test_a_group_that_fills_no_box_of_a_torus_is_said() -> None:
    torus = system("tpu-v4-pod:64", ())
    row = np.array([[0, 1, 2, 4]])
    with pytest.raises(InputError, match="fill no box"):
        laid(torus, Shared("all_reduce", "torus", SIZE), row)


def test_a_group_inside_a_mesh_goes_round_on_the_links_between_its_members() -> None:
    """Every second chip of eight that are all joined: each of its three links is in two of six."""
    mesh = system("mi300x-8:8", ())
    (tier,) = mesh.tiers
    jobs = laid(mesh, Shared("all_reduce", "ring", SIZE), np.array([[0, 2, 4, 6]]))
    found = simulate(mesh, jobs, Scenario(engine="coupled"))
    each = SIZE / 3 * 2 * 3 / 4
    assert found.seconds == pytest.approx(each / (tier.pair * tier.link.efficiency), rel=2e-3)


def test_trees_on_direct_links_pass_on_along_them() -> None:
    """On a DGX-1 ranks in order are not all joined: a chain in their order would cross PCIe."""
    cube = system("dgx-1v:8", ())
    jobs = laid(cube, Shared("all_reduce", "tree", SIZE), np.arange(8)[None, :])
    found = simulate(cube, jobs, Scenario(engine="coupled"))
    crossed = {found.network.links[found.network.kind[link]].kind
               for link in np.flatnonzero(found.carried)}  # fmt: skip
    assert {kind[:6] for kind in crossed} == {"nvlink"}


@pytest.mark.parametrize("size", [1, 7, 63, 64, 100, 1000])
def test_an_all_to_all_of_few_bytes_sends_these_and_no_more(size: int) -> None:
    """As many on every link as when each message is cut and played."""
    jobs = laid(H100, Shared("alltoall", "grouped", size), np.arange(64)[None, :])
    coupled, explicit = (
        simulate(H100, jobs, Scenario(engine=engine, routing="static")).carried
        for engine in ENGINES
    )
    assert np.array_equal(coupled, explicit)
