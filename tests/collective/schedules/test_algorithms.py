"""What the papers say about each algorithm, held against the schedule as it plays."""

from __future__ import annotations

from math import ceil, log2

import numpy as np
import pytest

from artery.collective.schedules import messages, schedule
from artery.collective.schedules.ring import ring_orders
from artery.collective.schedules.tree import binary_tree, rooted_trees, twin_trees
from artery.collective.verify import verify
from artery.core.pricing import Collective
from artery.core.schedule import Schedule


def played(name: str, collective: Collective, ranks: int, /, **shape: object) -> Schedule:
    built = schedule(name, collective, ranks, **shape)
    assert verify(built).faults == ()
    return built


@pytest.mark.parametrize("ranks", [2, 3, 8, 13])
def test_ring_takes_2_n_minus_1_steps_of_an_nth_of_the_size(ranks: int) -> None:
    built = played("ring", "all_reduce", ranks)
    assert built.steps == 2 * (ranks - 1)
    assert built.wire / built.chunks == pytest.approx(2 * (ranks - 1) / ranks)


def test_rings_change_nodes_on_one_rail() -> None:
    for order in ring_orders(32, 8, 8):
        away = np.flatnonzero(order // 8 != np.roll(order, -1) // 8)
        assert len(away) == 4
        assert (order[away] % 8 == np.roll(order, -1)[away] % 8).all()
    entering = ring_orders(32, 8, 8)[:, 0]
    assert sorted(entering) == list(range(8))


def test_rings_of_a_part_filled_last_node_are_rings() -> None:
    played("ring", "all_reduce", 13, channels=3, per_node=4)
    played("ring", "broadcast", 13, channels=3, per_node=4, slices=2, root=5)


def test_given_rings_are_taken() -> None:
    cube = [[0, 1, 2, 3], [0, 3, 2, 1]]
    built = played("ring", "all_gather", 4, orders=cube)
    assert [pipe.source.tolist() for pipe in built.pipes] == cube
    assert built.ports == 2


def test_a_chain_is_pipelined() -> None:
    built = played("ring", "broadcast", 8, slices=5)
    assert built.steps == 7 - 1 + 5
    assert built.wire == built.chunks == 5


@pytest.mark.parametrize(("ranks", "steps"), [(8, 3), (9, 5), (13, 5), (16, 4)])
def test_recursive_doubling_folds_what_is_no_power_of_two(ranks: int, steps: int) -> None:
    assert played("recursive_doubling", "all_reduce", ranks).steps == steps


@pytest.mark.parametrize("ranks", [2, 3, 6, 8, 13, 16, 40])
def test_halving_doubling_takes_2_log_n_steps(ranks: int) -> None:
    built = played("halving_doubling", "all_reduce", ranks)
    power = 2 ** int(log2(ranks))
    extra = 0 if power == ranks else 1
    assert built.steps == 2 * ceil(log2(ranks))
    assert built.wire / built.chunks == pytest.approx(2 * (power - 1) / power + extra)


def test_halving_sends_the_largest_half_to_the_neighbour() -> None:
    built = schedule("halving_doubling", "all_reduce", 16)
    step = built.step(0)
    assert (step.source ^ step.target == 1).all()
    assert (step.count == 8).all()
    last = built.step(7)
    assert (last.source ^ last.target == 1).all()


def test_a_huge_group_needs_one_transfer_per_rank_and_step() -> None:
    built = schedule("halving_doubling", "all_reduce", 131_072)
    assert built.steps == 34
    for k in (0, 16, 33):
        assert len(built.step(k).source) == 131_072


@pytest.mark.parametrize("ranks", [2, 3, 5, 8, 13])
def test_bruck_gathers_in_log_n_steps_rounded_up(ranks: int) -> None:
    built = played("bruck", "all_gather", ranks)
    assert built.steps == ceil(log2(ranks))
    assert built.wire == ranks - 1


def test_bruck_exchanges_n_log_n_halves() -> None:
    built = played("bruck", "alltoall", 8)
    assert (built.steps, built.wire) == (3, 3 * 8 / 2)


@pytest.mark.parametrize("ranks", [2, 3, 5, 8, 13])
def test_pat_is_bruck_the_other_way_round(ranks: int) -> None:
    built = played("pat", "all_gather", ranks)
    assert built.steps == ceil(log2(ranks))
    assert built.wire == ranks - 1
    far = built.step(0)
    assert ((far.target - far.source) % ranks == 2 ** (built.steps - 1)).all()


def test_pat_with_small_buffers_takes_more_steps() -> None:
    assert [played("pat", "all_gather", 16, buffers=b).steps for b in (1, 2, 4, 8)] == [15, 8, 5, 4]


@pytest.mark.parametrize("window", [1, 3, 7, 100])
def test_a_window_of_messages_at_a_time(window: int) -> None:
    built = played("windowed", "alltoall", 8, window=window)
    assert built.steps == ceil(7 / window)
    assert verify(built).fan_out == min(window, 7)


def test_pairwise_and_grouped_are_the_extremes() -> None:
    assert played("pairwise", "alltoall", 6).steps == 5
    assert played("grouped", "alltoall", 6).steps == 1


# NCCL, src/graph/trees.cc: the tree over 14 ranks that its comment draws.
NCCL_14 = {8: 0, 4: 8, 12: 8, 2: 4, 6: 4, 10: 12, 13: 12,
           1: 2, 3: 2, 5: 6, 7: 6, 9: 10, 11: 10}  # fmt: skip


def test_the_tree_is_nccls() -> None:
    one = binary_tree(14)
    assert dict(zip(one.child.tolist(), one.parent.tolist(), strict=True)) == NCCL_14


# The second trees that it draws over 12 and 13 ranks.
MIRRORED = {3: 11, 1: 3, 7: 3, 5: 7, 9: 7, 0: 1, 2: 1, 4: 5, 6: 5, 8: 9, 10: 9}
SHIFTED = {9: 1, 5: 9, 0: 9, 3: 5, 7: 5, 11: 0, 2: 3, 4: 3, 6: 7, 8: 7, 10: 11, 12: 11}


def test_the_second_tree_is_mirrored_or_shifted() -> None:
    for size, drawn in ((12, MIRRORED), (13, SHIFTED)):
        second = twin_trees(size)[1]
        assert dict(zip(second.child.tolist(), second.parent.tolist(), strict=True)) == drawn


@pytest.mark.parametrize("size", [4, 5, 8, 13, 16, 31])
def test_who_is_inside_one_tree_is_a_leaf_of_the_other(size: int) -> None:
    for trees in (twin_trees(size), rooted_trees(size)):
        inside = [set(one.parent.tolist()) for one in trees]
        tops = [set(one.parent.tolist()) - set(one.child.tolist()) for one in trees]
        assert not (inside[0] - tops[0]) & (inside[1] - tops[1])


@pytest.mark.parametrize("ranks", [2, 3, 5, 8, 13, 40])
def test_trees_take_twice_their_depth(ranks: int) -> None:
    built = played("tree", "all_reduce", ranks)
    assert built.steps == 2 * ceil(log2(ranks))
    assert played("tree", "all_reduce", ranks, slices=4).steps == built.steps + 3
    assert played("tree", "broadcast", ranks, root=1).steps == ceil(log2(ranks))


@pytest.mark.parametrize("ranks", [4, 6, 9, 16, 33])
def test_a_two_tree_broadcast_sends_the_size_once(ranks: int) -> None:
    built = played("tree", "broadcast", ranks, slices=2)
    assert built.wire / built.chunks == 1


def test_hierarchical_keeps_most_bytes_inside() -> None:
    built = played("hierarchical", "all_reduce", 64, levels=(8, 8))
    verdict = verify(built)
    crosses = verdict.source // 8 != verdict.target // 8
    inside, across = verdict.carried[~crosses].sum(), verdict.carried[crosses].sum()
    assert inside / across == pytest.approx((2 * 7 / 8) / (2 * 7 / 8 / 8))
    assert built.steps == 2 * (7 + 7)


def test_three_levels() -> None:
    built = played("hierarchical", "all_reduce", 2 * 3 * 4, levels=(2, 3, 4))
    assert built.steps == 2 * (1 + 2 + 3)
    assert built.wire == 2 * 23


def test_rail_aligned_messages_leave_a_node_on_the_rail_of_their_target() -> None:
    built = played("rail_aligned", "alltoall", 32, per_node=8)
    verdict = verify(built)
    crosses = verdict.source // 8 != verdict.target // 8
    assert (verdict.source[crosses] % 8 == verdict.target[crosses] % 8).all()
    assert (messages(built, 1, 32_000).size == 8 * 1000).all()


def test_a_torus_uses_every_link_both_ways() -> None:
    built = played("torus", "all_reduce", 64, dims=(4, 4, 4))
    verdict = verify(built)
    assert len(verdict.carried) == 64 * 6
    assert verdict.carried.max() == verdict.carried.min()
    assert built.steps == 2 * 3 * 2


def test_a_torus_is_left_by_links_only() -> None:
    verdict = verify(schedule("torus", "alltoall", 12, dims=(3, 4)))
    apart = np.array([np.unravel_index(rank, (4, 3)) for rank in range(12)])
    step = np.abs(apart[verdict.source] - apart[verdict.target])
    hops = np.minimum(step, [4, 3] - step).sum(axis=1)
    assert (hops == 1).all()


@pytest.mark.parametrize(
    ("dims", "closed"),
    [
        ((4,), (False,)),
        ((2, 4), (False, False)),
        ((3, 5), (False, True)),
        ((3, 3, 4), (False,) * 3),
    ],
)
@pytest.mark.parametrize("collective", ["all_gather", "reduce_scatter", "all_reduce", "alltoall"])
def test_open_sides_of_a_torus_are_not_gone_round(
    collective: Collective, dims: tuple[int, ...], closed: tuple[bool, ...]
) -> None:
    """No message goes from one end of an open side to the other, but an all-to-all's own."""
    ranks = int(np.prod(dims))
    verdict = verify(schedule("torus", collective, ranks, dims=dims, closed=closed))
    assert verdict.faults == ()
    source, target = (np.array(np.unravel_index(ends, dims[::-1]))[::-1]
                      for ends in (verdict.source, verdict.target))  # fmt: skip
    for axis, (size, ring) in enumerate(zip(dims, closed, strict=True)):
        apart = np.abs(source[axis] - target[axis])
        if not ring and collective != "alltoall":
            assert apart.max() == 1
        assert (np.count_nonzero(source != target, axis=0) == 1).all()
        assert apart.max() < size


@pytest.mark.parametrize("collective", ["all_gather", "reduce_scatter"])
def test_the_middle_of_an_open_side_carries_all_that_its_ends_lack(collective: Collective) -> None:
    """Over a link of a line of eight go as many blocks as there are chips behind it."""
    verdict = verify(schedule("torus", collective, 8, dims=(8,), closed=(False,)))
    upwards = verdict.target > verdict.source
    behind = verdict.source[upwards] + 1 if collective == "all_gather" else (
        7 - verdict.source[upwards])  # fmt: skip
    assert (verdict.carried[upwards] == 2 * behind).all()


@pytest.mark.parametrize(("ranks", "radix", "switches"), [(64, 64, 1), (65, 64, 3), (16, 4, 5)])
def test_switches_of_a_radix(ranks: int, radix: int, switches: int) -> None:
    built = played("collnet", "all_reduce", ranks, radix=radix)
    assert built.switches == switches
    assert built.wire == built.chunks
    verdict = verify(built)
    for switch in range(ranks, ranks + switches):
        assert (verdict.target == switch).sum() <= radix + 1


def test_nvls_sends_the_size_and_an_nth() -> None:
    built = played("nvls", "all_reduce", 8)
    assert built.wire / built.chunks == 1 + 1 / 8
    assert any("fp16" in limit for limit in built.limits)


def test_nvls_trees_join_nodes() -> None:
    built = played("nvls_tree", "all_reduce", 32, per_node=8)
    assert built.steps == 2 + 2 * 2 + 2
    assert built.switches == 4


@pytest.mark.parametrize(("ranks", "per_node", "heads"), [(12, 8, 4), (19, 8, 3), (9, 4, 1)])
def test_nvls_trees_have_as_many_heads_as_the_emptiest_node_has_ranks(
    ranks: int, per_node: int, heads: int
) -> None:
    """NCCL's ``ncclTopoPostset`` connects the least number of heads that a node has."""
    built = played("nvls_tree", "all_reduce", ranks, per_node=per_node)
    verdict = verify(built)
    node = np.r_[np.arange(ranks) // per_node, np.full(built.switches, -1)]
    between = (node[verdict.source] != node[verdict.target]) & (node[verdict.source] >= 0)
    between &= node[verdict.target] >= 0
    assert {*(verdict.source[between] % per_node)} == {*range(heads)}
    # A head writes its share of the result to the switch, besides its own data; others do not.
    up = (verdict.source == 0) & (verdict.target >= ranks)
    assert verdict.carried[up].sum() / built.chunks == 1 + 1 / heads
    if heads < per_node:
        up = (verdict.source == per_node - 1) & (verdict.target >= ranks)
        assert verdict.carried[up].sum() / built.chunks == 1
