"""Elastic jobs: who gives, who gets, and what a resize costs; by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from artery.cloud.policies import POLICIES
from artery.simulator.fleet.setting import Place
from tests.simulator.fleet.fleets import Watched, costs, job, setting


def linear(place: Place) -> float:
    """Twice the chips, twice the speed."""
    return place.chips / place.asked


ELASTIC = {"speeds": linear, "costs": lambda _, __: costs(0.0, float("inf"), resize=20.0)}


def test_a_job_starts_smaller_on_what_is_free_and_grows_when_it_can() -> None:
    """a holds three of four nodes until 1000; b asks for two and starts on one at once.

    At the tick of 1200 s, after its hold, b has worked 1100 of 4000 s·(1/2): done 550. It grows to
    two nodes, pauses 20 s, and needs 3450 s more: ends at 1200 + 20 + 3450.
    """
    jobs = [job("a", 0, 1000, 24), job("b", 100, 4000, 16, sizes=(8, 16))]
    watched = Watched(setting(4, 8, "elastic", **ELASTIC), jobs).play()
    assert watched.of("resized") == [(1200, "b")]
    assert watched.job("b").end == (1200 + 20 + 3450) * 10**6
    assert watched.fleet.accounts.resizing == 20 * 16 * 10**6


def test_what_a_job_has_beyond_its_own_is_given_back_at_once() -> None:
    """a asks for one node of two and grows to both at 600; b comes at 700 and gets its node."""
    jobs = [job("a", 0, 10_000, 8, sizes=(8, 16)), job("b", 700, 100, 8)]
    no_headroom = setting(2, 8, "elastic", **ELASTIC)
    watched = Watched(no_headroom, jobs).play()
    assert watched.of("resized")[:2] == [(600, "a"), (700, "a")]
    assert watched.of("started") == [(0, "a"), (700, "b")]


def test_a_full_cluster_shrinks_one_step_for_who_waits() -> None:
    """a holds all four nodes, b needs one: a goes down to two, b starts, a may not give twice."""
    jobs = [
        job("a", 0, 10_000, 32, sizes=(8, 16, 32)),
        job("b", 1000, 5000, 8),
        job("c", 1001, 5000, 16),
    ]
    watched = Watched(setting(4, 8, "elastic", **ELASTIC), jobs).play()
    started = {who: when for when, who in watched.of("started")}
    assert started["b"] == 1000
    assert next(when for when, who in watched.of("resized") if who == "a") == 1000
    # One node is left beside b; c needs two, and a gives again at the first tick after its hold.
    assert started["c"] == 1800


def test_what_a_small_job_waits_for_may_partly_be_loose_already() -> None:
    """On one node a has four chips and b two, so that two are loose: c, of four, gets two of a's.

    Without the loose ones two are not enough, and c waited for b.
    """
    jobs = [
        job("a", 0, 10_000, 4, sizes=(2, 4)),
        job("b", 0, 5000, 2),
        job("c", 1000, 100, 4),
    ]
    watched = Watched(setting(1, 8, "elastic", **ELASTIC), jobs).play()
    assert watched.of("started")[-1] == (1000, "c")
    assert watched.of("resized")[0] == (1000, "a")


def test_nobody_shrinks_for_chips_that_do_not_come_together() -> None:
    """Two nodes, each with six chips taken for good and two of a job that could give one.

    The two chips of c are then one on each node, which helps nobody.
    """
    jobs = [
        job("w", 0, 50_000, 6),
        job("x", 0, 50_000, 6),
        job("a", 1, 50_000, 2, sizes=(1, 2)),
        job("b", 1, 50_000, 2, sizes=(1, 2)),
        job("c", 1000, 100, 2),
    ]
    watched = Watched(setting(2, 8, "elastic", **ELASTIC), jobs).play()
    assert not [one for one in watched.of("resized") if one[0] < 50_000]


def test_a_resize_loses_no_work_but_its_pause() -> None:
    jobs = [job("a", 0, 10_000, 32, sizes=(16, 32)), job("b", 1000, 9_000_000, 16)]
    fleet = Watched(setting(4, 8, "elastic", **ELASTIC), jobs).play().fleet
    assert fleet.accounts.redone == 0
    # 1000 s at full speed, 20 s of pause, then 9000 s of work at half.
    assert fleet.jobs[0].end == (1000 + 20 + 18_000) * 10**6


def test_a_job_grows_on_the_chips_beside_it_on_its_own_node() -> None:
    """a gives two of four chips for c at 100; c ends at 500, and b holds the other half on.

    Its hold ends at 700: at the tick of 1200 it has done 100 + 1080/2 and takes its chips back.
    """
    jobs = [
        job("a", 0, 10_000, 4, sizes=(2, 4)),
        job("b", 0, 90_000, 4),
        job("c", 100, 400, 2),
    ]
    watched = Watched(setting(1, 8, "elastic", **ELASTIC), jobs).play()
    assert watched.of("resized") == [(100, "a"), (1200, "a")]
    assert watched.job("a").end == (1200 + 20 + 10_000 - 640) * 10**6


def test_a_job_grows_on_another_node_in_use() -> None:
    """a starts on the two chips that x leaves; y ends, and beside z there is room for four."""
    jobs = [
        job("x", 0, 90_000, 6),
        job("z", 0, 90_000, 4),
        job("y", 0, 500, 4),
        job("a", 10, 10_000, 4, sizes=(2, 4)),
    ]
    watched = Watched(setting(2, 8, "elastic", **ELASTIC), jobs).play()
    assert watched.of("resized") == [(600, "a")]
    # 590 s at half speed did 295 s of work.
    assert watched.job("a").end == (600 + 20 + 10_000 - 295) * 10**6


def test_a_job_alone_on_a_part_of_its_node_grows_to_all_of_it() -> None:
    """a gives half of its node for c, and takes the whole one again when c is gone."""
    jobs = [job("a", 0, 10_000, 8, sizes=(4, 8)), job("c", 100, 400, 4)]
    watched = Watched(setting(1, 8, "elastic", **ELASTIC), jobs).play()
    assert watched.of("resized") == [(100, "a"), (1200, "a")]
    assert watched.job("a").end == (1200 + 20 + 10_000 - 640) * 10**6


def test_a_job_grows_on_what_it_leaves_unused_of_its_nodes() -> None:
    """12 chips lie on both nodes of eight: no node is free, and four chips are its own."""
    jobs = [job("a", 0, 10_000, 12, sizes=(12, 16))]
    watched = Watched(setting(2, 8, "elastic", **ELASTIC), jobs).play()
    assert watched.of("resized") == [(600, "a")]
    assert watched.job("a").end == (600 + 20 + 7050) * 10**6


def test_jobs_grown_beside_others_keep_their_chips_where_they_would_not_help() -> None:
    """a grows from 2 chips to 4 on the node of b; c needs a whole node, which that makes none."""
    jobs = [
        job("b", 0, 90_000, 4),
        job("d", 0, 9_000, 8),
        job("a", 0, 10_000, 2, sizes=(2, 4)),
        job("c", 1000, 100, 8),
    ]
    watched = Watched(setting(2, 8, "elastic", **ELASTIC), jobs).play()
    assert watched.of("resized") == [(600, "a")]
    assert watched.job("c").first_start == 9_000 * 10**6


def test_growth_that_would_not_pay_is_left_alone() -> None:
    """200 s are left at the tick: half of it saved is less than twice a pause of 60 s."""
    dear = {**ELASTIC, "costs": lambda _, __: costs(0.0, float("inf"), resize=60.0)}
    jobs = [job("a", 0, 800, 8, sizes=(8, 16))]
    assert Watched(setting(2, 8, "elastic", **dear), jobs).play().of("resized") == []


def slow_apart(place: Place) -> float:
    """Half the speed over more leaves than needed."""
    return 1.0 if place.leaves == -(-place.chips // 16) else 0.5


@pytest.mark.parametrize(("wait", "start", "split"), [(0.0, 10, True), (500.0, 100, False)])
def test_a_job_waits_a_bounded_time_for_one_leaf(wait: float, start: int, split: bool) -> None:
    """Two leaves of two nodes; one node of each is held, the first until 100 s, then 9000 s."""
    jobs = [
        job("a", 0, 9000, 8),
        job("x", 0, 5, 8),
        job("b", 1, 100 - 1, 8),
        job("c", 10, 1000, 16),
    ]
    policy = replace(POLICIES["fifo"], max_wait=wait)
    watched = Watched(setting(4, 8, policy, leaf=2, speeds=slow_apart), jobs).play()
    assert watched.job("c").first_start == start * 10**6
    assert watched.job("c").wide is split


def test_patience_ends() -> None:
    """Nothing better comes within 50 s: the job takes what there is."""
    jobs = [job("a", 0, 9000, 8), job("x", 0, 5, 8), job("b", 1, 9000, 8), job("c", 10, 1000, 16)]
    policy = replace(POLICIES["fifo"], max_wait=50.0)
    watched = Watched(setting(4, 8, policy, leaf=2, speeds=slow_apart), jobs).play()
    assert watched.job("c").first_start == 60 * 10**6


def test_a_placement_that_costs_nothing_is_not_waited_for() -> None:
    jobs = [job("a", 0, 9000, 8), job("x", 0, 5, 8), job("b", 1, 9000, 8), job("c", 10, 1000, 16)]
    policy = replace(POLICIES["fifo"], max_wait=50.0)
    watched = Watched(setting(4, 8, policy, leaf=2), jobs).play()
    assert watched.job("c").first_start == 10 * 10**6


def test_a_split_job_is_moved_together_when_that_pays() -> None:
    """c runs over two leaves at half speed; b ends at 100, and the tick at 600 moves it."""
    jobs = [job("a", 0, 90_000, 8), job("x", 0, 5, 8), job("b", 1, 99, 8), job("c", 10, 5000, 16)]
    policy = replace(POLICIES["fifo"], defragment=True)
    more = {**ELASTIC, "speeds": slow_apart}
    watched = Watched(setting(4, 8, policy, leaf=2, **more), jobs).play()
    assert watched.of("moved") == [(600, "c")]
    # 590 s at half speed did 295 s of work.
    assert watched.job("c").end == (600 + 20 + 5000 - 295) * 10**6
