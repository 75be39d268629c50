"""Nothing is lost and nothing used twice, whatever happens to a fleet."""

from __future__ import annotations

from dataclasses import replace

import pytest

from artery.cloud.policies import POLICIES
from artery.simulator.fleet.cluster import Cluster
from artery.simulator.fleet.job import Job
from artery.simulator.fleet.play import play
from artery.simulator.fleet.setting import Maintenance
from tests.simulator.fleet.fleets import Watched, costs, failing, job, mixed, setting


def check_nodes(cluster: Cluster) -> None:
    """Every node is at just one place, and every counter says what the lists say."""
    seen: list[int] = [*cluster.down, *cluster.tenants]
    for leaf, ids in enumerate(cluster.free):
        assert all(node // cluster.leaf == leaf for node in ids)
        seen += ids
    for users in cluster.users:
        for ids in users.values():
            seen += ids
    assert sorted(seen) == list(range(cluster.nodes))
    assert cluster.free_nodes == sum(map(len, cluster.free))
    loose = 0
    for node, tenants in cluster.tenants.items():
        left = cluster.per_node - sum(tenants.values())
        assert tenants
        assert left == cluster.chips_left[node]
        assert left >= 0
        loose += left
    assert loose == cluster.loose_chips


EVERYTHING = {
    "costs": lambda _, __: costs(120.0, 600.0, 2.0, resize=60.0),
    "repair": 7200.0,
    "spares": 1,
    "maintenance": (Maintenance(20_000.0, 5000.0, 3, 6),),
    "capacity": ((0.0, 20), (30_000.0, 14), (60_000.0, 19)),
    "seed": 3,
}


@pytest.mark.parametrize("severity", ["process", "node", "domain", "silent", "stall", "slow"])
@pytest.mark.parametrize("name", POLICIES)
def test_chip_time_by_state_adds_up_and_no_node_is_used_twice(name: str, severity: str) -> None:
    policy = replace(POLICIES[name], max_wait=300.0, defragment=True)
    model = failing(1e-6, severity, count=20, duration=90.0)  # type: ignore[arg-type]
    one = setting(20, 8, policy, **EVERYTHING, failures=model)
    watched = Watched(replace(one, leaf=4, pod=2), mixed(600, seed=5))
    fleet = watched.fleet
    beyond: list[float] = []

    def note(now: int, event: str, job: Job | None, _: int) -> None:
        if event in {"submitted", "finished", "granted", "repaired"}:
            check_nodes(fleet.cluster)
        if job is not None and event == "finished":
            beyond.append(job.done / job.work)

    fleet.record = note
    watched.play()
    assert fleet.finished == 600
    assert fleet.accounts.total == fleet.clock * 20 * 8
    assert all(abs(done - 1) < 1e-6 for done in beyond)


def test_jobs_that_time_cuts_short_are_counted_too() -> None:
    one = setting(4, 8, "backfill", until=5000.0)
    fleet = Watched(one, mixed(200, seed=9)).play().fleet
    assert fleet.clock == 5_000_000_000
    assert fleet.finished < 200
    assert fleet.accounts.total == 5_000_000_000 * 32


def test_the_work_done_is_the_work_that_the_jobs_brought() -> None:
    jobs = mixed(300, seed=2)
    fleet = Watched(setting(20, 8, "fifo"), jobs).play().fleet
    brought = sum(one.run * one.chips for one in jobs)
    assert fleet.accounts.useful / 1e6 == pytest.approx(brought, rel=1e-6)
    assert fleet.accounts.unused == 0
    assert fleet.accounts.total == fleet.clock * 160


def test_replicas_that_serve_count_in_no_figure_of_jobs() -> None:
    """Two jobs of a node of four: at the second's submission 500 s of one are done, a quarter.

    What serves comes later, waits, and lies over two leaves.
    """
    jobs = [job("a", 0, 1000, 8, tenant="t"), job("b", 500, 1000, 8, tenant="t")]
    serving = [
        job(name, submit, run_time, chips, service=True, tenant="serving")
        for name, submit, run_time, chips in (
            ("s1", 5000, 1000, 8),
            ("s2", 5000, 100, 8),
            ("s3", 5001, 1000, 8),
            ("s4", 5200, 1000, 16),
            ("s5", 5300, 1000, 8),
        )
    ]
    found = play(setting(4, 8, "backfill", leaf=2), [*jobs, *serving])
    assert len(found.service) == 5
    assert max(found.service) > 0
    assert (found.jobs, found.finished, found.unstarted) == (2, 2, 0)
    assert found.arriving == 500 * 8 / (500 * 32)
    assert (found.split, found.fairness) == (0.0, 1.0)


def test_the_same_seed_gives_the_same_run() -> None:
    def once() -> list[tuple[float, str, str, int]]:
        one = setting(20, 8, "elastic-backfill", **EVERYTHING, failures=failing(1e-5, "node"))
        return Watched(one, mixed(200, seed=1)).play().events

    assert once() == once()
