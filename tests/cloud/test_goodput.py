from __future__ import annotations

from dataclasses import replace
from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from artery.cloud.checkpoints import Tier
from artery.cloud.goodput import (
    at,
    availability,
    best,
    mean_restart,
    replicas,
    restart_of,
    scaled,
    shares,
    tier_of,
)
from artery.cloud.intervals import best_complete
from artery.cloud.recovery import recovery
from tests.cloud.jobs import failures, job

MEMORY = Tier("memory", 1.0, 1.0, 2.0)
STORE = Tier("shared", 30.0, 30.0, 60.0)


def test_with_one_tier_it_is_the_complete_model() -> None:
    found = best(job(node=1 / 6000))
    tau, share = best_complete(30.0, 6000.0, 600.0)
    assert found.productive == pytest.approx(share)
    assert found.intervals[0] == pytest.approx(tau, rel=1e-3)


def test_the_shares_add_up_and_restarting_is_the_time_since_the_last_failure() -> None:
    found = best(job(node=1 / 6000))
    parts = (found.productive, found.saving, found.redone, found.restarting, found.waiting)
    assert sum(parts) == pytest.approx(1.0)
    assert found.restarting == pytest.approx(1 - exp(-0.1))
    assert found.saving == pytest.approx(found.productive * 30 / found.intervals[0])


@given(
    mtbf=st.floats(600.0, 1e6),
    save=st.floats(0.1, 300.0),
    restart=st.floats(0.0, 1800.0),
    tau=st.floats(1.0, 1e5),
)
def test_no_other_interval_is_better(mtbf: float, save: float, restart: float, tau: float) -> None:
    one = job(save, restart, node=1 / mtbf)
    least = max(tau, save)  # a copy must be safe before the next
    assert shares(one, [least]).productive <= best(one).productive + 1e-9


def test_a_nearer_tier_helps_and_serves_what_it_survives() -> None:
    one = job(node=0.9 / 6000, domain=0.1 / 6000)
    two = replace(one, tiers=(MEMORY, STORE))
    assert best(two).productive > best(one).productive + 0.02
    assert tier_of(two, "node").name == "memory"
    assert tier_of(two, "domain").name == tier_of(two, "silent").name == "shared"
    near, far = best(two).intervals
    assert near < far


def test_failures_that_the_near_tier_does_not_survive_cost_more() -> None:
    two = replace(job(node=0.9 / 6000, domain=0.1 / 6000), tiers=(MEMORY, STORE))
    harder = replace(two, failures=failures(node=0.5 / 6000, domain=0.5 / 6000))
    assert best(harder).productive < best(two).productive


def test_loading_comes_on_top_from_the_tier_that_is_loaded_from() -> None:
    parts = recovery(1024, 5.0)
    whole = sum(part.value for part in parts)
    two = replace(job(node=1e-4, domain=1e-5), parts=parts, tiers=(MEMORY, STORE), loads=True)
    assert restart_of(two, "node") == pytest.approx(whole + 2.0)
    assert restart_of(two, "domain") == pytest.approx(whole + 60.0)
    assert restart_of(two, "process") == pytest.approx(whole - 50.0 + 2.0)
    assert mean_restart(two) == pytest.approx(whole + (2.0 * 10 + 60.0) / 11)


def test_a_copy_that_is_not_safe_yet_loses_work() -> None:
    one = job(node=1 / 6000)
    late = replace(one, tiers=(Tier("shared", 30.0, 330.0, 0.0),))
    assert shares(late, [600.0]).productive == pytest.approx(
        shares(one, [600.0]).productive / (1 + 300 / 6000)
    )
    assert best(late).intervals[0] >= 330.0


def test_stalls_slow_nodes_and_silent_errors_stretch_time() -> None:
    calm = best(job(node=1e-4)).productive
    stalled = best(job(node=1e-4, stall=1e-4))
    assert stalled.waiting == pytest.approx(1 - 1 / 1.006)
    assert stalled.productive == pytest.approx(calm / 1.006, rel=1e-6)
    slow = best(job(node=1e-4, slow=1e-3))
    assert slow.productive == pytest.approx(calm / (2 - exp(-0.06)), rel=1e-6)
    both = best(job(node=1e-4, silent=1e-5)).productive
    assert both == pytest.approx(best(job(node=1.1e-4)).productive / 1.0006, rel=1e-6)


def test_without_failures_only_saves_cost() -> None:
    found = best(job(node=0.0))
    assert found.productive == pytest.approx(1 - 30 / (30 * 86400 + 30), rel=1e-6)
    assert found.restarting == 0.0


def test_failing_all_the_time_trains_nothing() -> None:
    found = shares(job(node=1.0), [3600.0])
    assert found.productive == 0.0
    assert found.restarting == pytest.approx(1.0)
    two = replace(job(node=0.5, domain=0.5), tiers=(MEMORY, STORE))
    assert shares(two, [3600.0, 7200.0]).productive == 0.0


def test_a_given_interval_is_kept() -> None:
    assert best(job(node=1e-4), 1234.0).intervals == (1234.0,)


def test_rates_can_be_scaled_and_taken_at_either_end() -> None:
    found = failures(node=1e-4, stall=1e-3)
    assert scaled(found, 0.5).rate() == pytest.approx(5e-5)
    assert at(found, "low").rate() == pytest.approx(5e-5)
    assert at(found, "high").rate(("stall",)) == pytest.approx(2e-3)


def test_replicas_never_do_worse_than_nothing() -> None:
    assert replicas(1000.0, 100.0, 1000.0, 10) == pytest.approx(0.8)
    assert replicas(10.0, 100.0, 1000.0, 10) == 0.0


def test_availability_is_the_chance_that_no_failure_was_within_the_restart() -> None:
    assert availability(6000.0, 600.0) == pytest.approx(exp(-0.1))
    assert availability(float("inf"), 600.0) == 1.0


@given(
    mtbf=st.floats(900.0, 1e6),
    save=st.floats(0.1, 60.0),
    restart=st.floats(10.0, 1200.0),
    tiers=st.sampled_from([(STORE,), (MEMORY, STORE)]),
)
def test_fewer_failures_shorter_saves_and_restarts_never_hurt(
    mtbf: float, save: float, restart: float, tiers: tuple[Tier, ...]
) -> None:
    store = replace(STORE, save=save, persist=save)
    one = replace(
        job(30.0, restart, node=0.9 / mtbf, domain=0.1 / mtbf), tiers=(*tiers[:-1], store)
    )
    now = best(one).productive
    assert best(replace(one, failures=scaled(one.failures, 0.5))).productive >= now
    shorter = replace(one.parts[0], value=restart / 2)
    assert best(replace(one, parts=(shorter,))).productive >= now
    quicker = replace(store, save=save / 2, persist=save / 2)
    assert best(replace(one, tiers=(*one.tiers[:-1], quicker))).productive >= now - 1e-6
