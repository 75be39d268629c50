"""Failures in a fleet: what is lost, who takes over, and the closed form as an oracle."""

from __future__ import annotations

from typing import Any

import pytest

from artery.cloud.fleet_job import FleetJob
from artery.cloud.intervals import complete
from artery.core.failure import FailureClass, Severity
from artery.simulator.fleet.failing import strike
from artery.simulator.fleet.fleet import Fleet
from artery.simulator.fleet.setting import Maintenance, Setting
from tests.simulator.fleet.fleets import Watched, costs, failing, job, setting

HOUR = {"costs": lambda _, __: costs(60.0, 100.0, resize=20.0), "repair": 3600.0}
"""A restart takes 60 s, 100 s of work lie between checkpoints that cost nothing."""


def struck(one: Setting, jobs: list[FleetJob], *hits: tuple[float, int, Severity]) -> Watched:
    """A run in which nodes are hit at given times (s)."""
    watched = Watched(one, jobs)
    for when, node, severity in hits:
        kind: FailureClass = failing(1.0, severity, duration=30.0).classes[0]

        def hit(fleet: Fleet, now: int, what: Any, where: int) -> None:
            strike(fleet, what, where, now)

        watched.fleet.at(round(when * 1e6), hit, kind, node)
    return watched.play()


def test_a_dead_process_costs_a_restart_and_the_work_since_the_checkpoint() -> None:
    """At 250 s, 50 s are lost: 1000 + 60 + 50."""
    found = struck(setting(2, 8, "fifo", **HOUR), [job("a", 0, 1000, 16)], (250, 1, "process"))
    assert found.job("a").end == 1_110_000_000
    assert found.fleet.accounts.redone == 50 * 16 * 10**6
    assert found.fleet.accounts.restarting == 60 * 16 * 10**6
    assert not found.fleet.cluster.down


def test_a_lost_node_is_replaced_by_a_spare_and_comes_back() -> None:
    one = setting(3, 8, "fifo", **HOUR, spares=1)
    found = struck(one, [job("a", 0, 5000, 16)], (250, 0, "node"), (251, 0, "node"))
    assert found.of("replaced") == [(250, "a")]
    assert found.job("a").end == (5000 + 60 + 50) * 10**6
    assert found.fleet.accounts.down == 3600 * 8 * 10**6
    assert found.of("repaired") == [(3850, "")]


def test_a_spare_is_given_to_no_new_job() -> None:
    one = setting(3, 8, "fifo", **HOUR, spares=1)
    found = Watched(one, [job("a", 0, 1000, 16), job("b", 1, 10, 8)]).play()
    assert found.job("b").first_start == 1000 * 10**6
    assert found.fleet.accounts.spare == 8 * found.fleet.clock


def test_a_rigid_job_without_a_spare_waits_for_the_repair() -> None:
    """Lost at 250 s, repaired at 3850 s: 800 s of work are left then, and a restart."""
    found = struck(setting(2, 8, "fifo", **HOUR), [job("a", 0, 1000, 16)], (250, 1, "node"))
    assert found.of("requeued") == [(250, "a")]
    assert found.job("a").end == (3850 + 60 + 800) * 10**6


def test_an_elastic_job_without_a_spare_goes_on_with_fewer_replicas() -> None:
    one = setting(2, 8, "elastic", **HOUR, speeds=lambda place: place.chips / place.asked)
    found = struck(one, [job("a", 0, 1000, 16, sizes=(8, 16))], (250, 1, "node"))
    assert found.of("shrunk") == [(250, "a")]
    assert found.job("a").end == (250 + 60 + 1600) * 10**6


def test_a_leaf_switch_takes_all_nodes_behind_it() -> None:
    one = setting(4, 8, "fifo", **HOUR, leaf=2)
    found = struck(one, [job("a", 0, 1000, 8), job("b", 0, 1000, 8)], (250, 1, "domain"))
    assert found.fleet.lost_nodes == 2
    assert sorted(who for _, who in found.of("replaced")) == ["a", "b"]


def test_a_silent_error_costs_the_time_until_it_was_noticed() -> None:
    """Noticed at 250 s, 30 s late: the checkpoint of 200 s is good; at 220 s that of 100 s is."""
    for when, lost in ((250, 50), (220, 120)):
        one = setting(3, 8, "fifo", **HOUR, spares=1)
        found = struck(one, [job("a", 0, 1000, 16)], (when, 1, "silent"))
        assert found.job("a").end == (1000 + 60 + lost) * 10**6


def test_a_stall_only_delays() -> None:
    found = struck(setting(2, 8, "fifo", **HOUR), [job("a", 0, 1000, 16)], (250, 1, "stall"))
    assert found.job("a").end == 1_030_000_000
    assert found.fleet.accounts.stalled == 30 * 16 * 10**6


def test_planned_work_loses_nothing() -> None:
    """Nodes 0 and 1 are out from 250 s to 750 s: a moves to the other two and pauses 60 s."""
    one = setting(4, 8, "fifo", **HOUR, maintenance=(Maintenance(250.0, 500.0, 0, 1),))
    found = Watched(one, [job("a", 0, 1000, 16)]).play()
    assert found.job("a").end == 1_060_000_000
    assert found.fleet.accounts.redone == 0
    assert found.fleet.accounts.maintenance == 2 * 8 * 500 * 10**6


def test_capacity_that_a_provider_takes_is_absent_until_it_grants_it_again() -> None:
    one = setting(4, 8, "fifo", **HOUR, capacity=((0.0, 4), (250.0, 3), (1250.0, 4)))
    found = Watched(one, [job("a", 0, 1000, 32)]).play()
    # 50 s since the checkpoint are lost, and it waits until it has all four nodes again.
    assert found.job("a").end == (1250 + 60 + 800) * 10**6
    assert found.fleet.accounts.absent == 8 * 1000 * 10**6


@pytest.mark.parametrize(
    ("mtbf", "save", "interval", "restart"),
    [(10_000.0, 20.0, 600.0, 300.0), (3000.0, 30.0, 400.0, 600.0), (50_000.0, 5.0, 700.0, 60.0)],
)
def test_one_long_job_trains_as_much_as_the_complete_model_says(
    mtbf: float, save: float, interval: float, restart: float
) -> None:
    """Daly's complete model, failures during saves and restarts included; about 4,000 failures."""
    one = setting(
        64, 8, "fifo", costs=lambda _, __: costs(restart, interval, save),
        failures=failing(1 / mtbf / 64, "process", count=64), seed=4,
    )  # fmt: skip
    expected = complete(interval, save, mtbf, restart)
    fleet = Watched(one, [job("a", 0, 4000 * mtbf * expected, 512)]).play().fleet
    assert fleet.accounts.useful / fleet.accounts.total == pytest.approx(expected, rel=0.02)
