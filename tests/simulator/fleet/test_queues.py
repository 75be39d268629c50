"""Queueing theory and backfill's promise as oracles."""

from __future__ import annotations

from heapq import heappop, heappush
from math import factorial
from random import Random

import pytest

from artery.cloud.fleet_job import FleetJob
from artery.simulator.fleet.outcome import outcome
from tests.simulator.fleet.fleets import Watched, job, mixed, setting


def poisson(count: int, load: float, servers: int, seed: int, *, fixed: bool) -> list[FleetJob]:
    """Jobs of one chip with a mean run of 100 s, exponential or fixed."""
    draw = Random(seed)
    jobs, now = [], 0.0
    for number in range(count):
        now += draw.expovariate(load * servers / 100.0)
        time = 100.0 if fixed else draw.expovariate(0.01)
        jobs.append(job(str(number), now, time, 1))
    return jobs


def erlang_c(servers: int, load: float) -> float:
    """Mean wait over mean service of M/M/c: C(c, a)/(c·(1 - load)) (Erlang, 1917)."""
    offered = servers * load
    last = offered**servers / factorial(servers) / (1 - load)
    others = sum(offered**k / factorial(k) for k in range(servers))
    return last / (others + last) / (servers * (1 - load))


def walked(jobs: list[FleetJob], servers: int) -> list[float]:
    """Each job's wait, by the recursion of Kiefer and Wolfowitz (1955): the first free server."""
    free, waits = [0.0] * servers, []
    for each in jobs:
        start = max(each.submit, heappop(free))
        waits.append(start - each.submit)
        heappush(free, start + each.run)
    return waits


@pytest.mark.parametrize(("servers", "load"), [(1, 0.5), (3, 0.7), (8, 0.8)])
def test_waiting_is_that_of_m_m_c(servers: int, load: float) -> None:
    """Every single wait is that of the recursion; its mean over many jobs is Erlang's."""
    jobs = poisson(4000, load, servers, 1, fixed=False)
    found = outcome(Watched(setting(servers, 1, "fifo"), jobs).play().fleet)
    assert found.queue.tolist() == pytest.approx(walked(jobs, servers), abs=0.01)
    many = walked(poisson(300_000, load, servers, 2, fixed=False), servers)
    assert sum(many) / len(many) == pytest.approx(100.0 * erlang_c(servers, load), rel=0.04)


@pytest.mark.parametrize("policy", ["fifo", "backfill", "elastic", "priority"])
def test_of_jobs_that_come_at_once_the_first_of_the_queue_starts(policy: str) -> None:
    # One node for one of them; who is listed first is no matter, what it is worth is.
    jobs = [job("low", 0.0, 50.0, 8), job("high", 0.0, 100.0, 8, priority=1)]
    for order in (jobs, jobs[::-1]):
        fleet = Watched(setting(1, 8, policy), order).play().fleet
        assert {each.priority: each.first_start for each in fleet.jobs} == {1: 0, 0: 100_000_000}


def test_waiting_is_that_of_m_d_1() -> None:
    """Pollaczek and Khinchine: load/(2·(1 - load)) of the service time."""
    jobs = poisson(30_000, 0.6, 1, 7, fixed=True)
    found = outcome(Watched(setting(1, 1, "fifo"), jobs).play().fleet).mean_queue
    assert found == pytest.approx(100.0 * 0.6 / (2 * 0.4), rel=0.05)


def test_chips_of_one_node_are_servers_too() -> None:
    jobs = poisson(9000, 0.8, 8, 3, fixed=False)
    one = outcome(Watched(setting(1, 8, "fifo"), jobs).play().fleet)
    other = outcome(Watched(setting(8, 1, "fifo"), jobs).play().fleet)
    assert one.mean_queue == other.mean_queue


def test_fifo_starts_in_the_order_of_submission() -> None:
    jobs = [each._replace(priority=0) for each in mixed(400, 4)]
    watched = Watched(setting(9, 8, "fifo"), jobs)
    started = [who for _, who in watched.play().of("started")]
    assert started == watched.names


@pytest.mark.parametrize("seed", range(12))
def test_backfill_never_delays_the_first_in_the_queue(seed: int) -> None:
    """With true run times the head starts no later than it was first promised."""
    jobs = [each._replace(sizes=(each.chips,), priority=0) for each in mixed(400, seed, gap=40.0)]
    watched = Watched(setting(8, 8, "backfill", leaf=3), jobs).play()
    promised: dict[str, float] = {}
    for _, event, who, number in watched.events:
        if event == "promised":
            promised.setdefault(who, number / 1e6)
    started = {who: when for when, who in watched.of("started")}
    assert len(promised) > 10
    assert watched.fleet.backed > 20
    assert all(started[who] <= when + 1e-6 for who, when in promised.items())


def test_backfill_fills_the_gap_and_keeps_the_promise() -> None:
    """Four nodes. a holds three until 100, b needs four; c (1 node, 90 s) passes, d (110 s) not."""
    jobs = [
        job("a", 0, 100, 24),
        job("b", 1, 50, 32),
        job("d", 2, 110, 8),
        job("c", 3, 90, 8),
    ]
    watched = Watched(setting(4, 8, "backfill"), jobs).play()
    started = {who: when for when, who in watched.of("started")}
    assert started == {"a": 0, "c": 3, "b": 100, "d": 150}


def test_what_is_left_beside_the_head_may_run_longer() -> None:
    """a holds three of four nodes until 100, b needs two: one node is extra, d may keep it."""
    jobs = [job("a", 0, 100, 24), job("b", 1, 50, 16), job("d", 2, 500, 8)]
    watched = Watched(setting(4, 8, "backfill"), jobs).play()
    started = {who: when for when, who in watched.of("started")}
    assert started == {"a": 0, "d": 2, "b": 100}


def test_users_limits_hold_back_what_true_run_times_let_pass() -> None:
    """c runs 90 s but its user asked for 120: by limits it may not pass b."""
    jobs = [
        job("a", 0, 100, 24, limit=100),
        job("b", 1, 50, 32, limit=50),
        job("c", 3, 90, 8, limit=120),
    ]
    for policy, start in (("backfill", 3), ("backfill-limits", 150)):
        assert Watched(setting(4, 8, policy), jobs).play().job("c").first_start == start * 10**6


def test_a_higher_priority_stops_a_lower_one() -> None:
    jobs = [job("low", 0, 100, 32), job("high", 10, 30, 32, priority=5)]
    watched = Watched(setting(4, 8, "priority"), jobs).play()
    assert watched.of("preempted") == [(10, "low")]
    assert watched.job("high").end == 40_000_000
    # It saved before it went: 90 s are left.
    assert watched.job("low").end == 130_000_000
