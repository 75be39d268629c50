"""``artery.schedule``: what is asked, what is answered, what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from artery import schedule
from artery.answers.pricing import closed_form
from artery.answers.schedule.jobs import asked_of
from artery.answers.schedule.outages import granted, losses, planned
from artery.answers.schedule.pools import STEP, _replicas
from artery.answers.schedule.speed import Prices, Rates, Told, levels_of, spread_over
from artery.answers.schedule.work import Kind, default_kind, sizes_of, training
from artery.answers.systems import system_of
from artery.cloud.intervals import best_complete
from artery.errors import InputError, UsageError
from artery.simulator.fleet.setting import Maintenance, Place

FIXTURES = Path(__file__).parents[2] / "fixtures"
JOBS = str(FIXTURES / "jobtrace-artery/jobs.csv")
SPOT = str(FIXTURES / "jobtrace-aws-spot/made-up.csv")


def write(tmp_path: Path, text: str) -> str:
    path = tmp_path / "jobs.csv"
    path.write_text(text)
    return str(path)


def test_an_empty_cluster_runs_every_job_at_once(tmp_path: Path) -> None:
    path = write(tmp_path, "submit,run,chips\n0,100,8\n10,100,8\n20,100,16\n")
    answer = schedule(path, "dgx-h100:64", policies=("fifo", "backfill"))
    for played in answer.played:
        found = played.outcome
        assert (found.mean_queue, found.mean_jct) == (0, 100)
        assert found.span == 120
        assert found.work == 100 * (8 + 8 + 16)
        assert found.utilisation == pytest.approx(3200 / (64 * 120))
        # 2.5 dollars a chip-hour.
        assert played.cost == pytest.approx(2.5 * 64 * 120 / 3600)


def test_a_part_filled_node_is_no_node_more(tmp_path: Path) -> None:
    """One chip runs one job after the other; of 12 chips only a whole node of 8 takes jobs."""
    path = write(tmp_path, "submit,run,chips\n0,100,1\n0,100,1\n")
    alone = schedule(path, "dgx-h100:1", policies=("fifo",)).played[0].outcome
    assert (alone.chips, alone.queue.tolist()) == (1, [0, 100])
    path = write(tmp_path, "submit,run,chips\n0,100,8\n0,100,8\n")
    answer = schedule(path, "dgx-h100:12", policies=("fifo",))
    assert answer.played[0].outcome.queue.tolist() == [0, 100]
    assert any("left out" in warning for warning in answer.warnings)


def test_a_full_cluster_by_hand(tmp_path: Path) -> None:
    """Two nodes. FIFO: the second waits for both, the third behind it; backfill lets it pass."""
    path = write(tmp_path, "submit,run,chips\n0,100,8\n1,50,16\n2,90,8\n")
    fifo, passing = schedule(path, "dgx-h100:16", policies=("fifo", "backfill")).played
    assert fifo.outcome.queue.tolist() == [0, 99, 148]
    assert passing.outcome.queue.tolist() == [0, 99, 0]
    assert passing.outcome.passed == 1


def test_sizing_finds_the_fewest_nodes(tmp_path: Path) -> None:
    """Four jobs of a node at once: one of ten may wait, so that all four nodes are needed."""
    path = write(tmp_path, "submit,run,chips\n" + "0,100,8\n" * 4)
    answer = schedule(path, "dgx-h100:64", policies=("fifo",), size_for="p90-queue=50s")
    assert answer.sizing is not None
    assert answer.sizing.rows[0].chips == 32
    answer = schedule(path, "dgx-h100:8", policies=("fifo",), size_for="mean-queue=50s")
    assert answer.sizing is not None
    # Two nodes: two wait nothing, two 100 s: a mean of 50.
    assert answer.sizing.rows[0].chips == 16
    assert answer.sizing.rows[0].reached == 50


def test_sizing_has_room_for_what_serves_beside(tmp_path: Path) -> None:
    """Two jobs of a node at once, and 8 chips that serve all the while: three nodes, not two."""
    path = write(tmp_path, "submit,run,chips\n0,1,8\n" + "10,7200,8\n" * 2)
    options: dict[str, Any] = {"policies": ("fifo",), "size_for": "p90-queue=50s"}
    alone = schedule(path, "dgx-h100:64", **options).sizing
    beside = schedule(path, "dgx-h100:64", serve="chips=8,peak=8", **options).sizing
    assert alone is not None
    assert beside is not None
    assert (alone.rows[0].chips, beside.rows[0].chips) == (16, 24)


def test_sizing_has_room_for_the_peak_though_nobody_trains_then(tmp_path: Path) -> None:
    """A job at midnight that would do with a node, and a peak of 24 chips at noon: three nodes."""
    path = write(tmp_path, "submit,run,chips\n0,3600,8\n50000,60,8\n")
    sizing = schedule(
        path, "dgx-h100:64", policies=("fifo",), size_for="mean-queue=1d", serve="chips=1,peak=24"
    ).sizing
    assert sizing is not None
    assert sizing.rows[0].chips == 24


def test_sizing_says_if_four_times_the_cluster_is_not_enough(tmp_path: Path) -> None:
    path = write(tmp_path, "submit,run,chips\n" + "0,100,8\n" * 9)
    answer = schedule(path, "dgx-h100:8", policies=("fifo",), size_for="p90-queue=1s")
    assert answer.sizing is not None
    assert answer.sizing.rows[0].chips is None


def test_the_books_of_an_answer_add_up() -> None:
    answer = schedule(
        "synthetic:llm,jobs=300,days=1", "dgx-h100:512", rate="rsc-1-jobs", spares=1, seed=3,
        max_wait=600, defragment=True, maintenance=("2h:1h:0-3",),
    )  # fmt: skip
    for played in answer.played:
        accounts = played.outcome.accounts
        assert accounts.total == round(played.outcome.span * 1e6) * 512
        assert accounts.maintenance == 4 * 8 * 3600 * 10**6
    again = schedule(
        "synthetic:llm,jobs=300,days=1", "dgx-h100:512", rate="rsc-1-jobs", spares=1, seed=3,
        max_wait=600, defragment=True, maintenance=("2h:1h:0-3",),
    )  # fmt: skip
    assert [p.outcome.digest for p in again.played] == [p.outcome.digest for p in answer.played]


def test_serving_beside_training() -> None:
    """A pool that is shared leaves training no worse off than one that is cut in two."""
    answer = schedule(
        "synthetic:llm,jobs=400,days=1,load=0.8", "dgx-h100:256", policies=("elastic-backfill",),
        serve="chips=10,peak=60",
    )  # fmt: skip
    pools = answer.pools
    assert pools is not None
    assert (pools.chips, pools.peak, pools.reserved) == (10, 60, 64)
    shared, apart = pools.shared[0].outcome, pools.apart[0].outcome
    assert apart.chips == 256 - 64
    assert len(shared.queue) == len(apart.queue) == 400
    assert shared.mean_jct <= apart.mean_jct
    assert len(shared.service) > 60


def test_replicas_follow_the_day() -> None:
    """From 2 at midnight to 4 at noon: two all day, a third most of it, a fourth half of it."""
    found = _replicas(2, 4, 1, 0.0, 86400.0)
    hours = [
        sum(job.run for job in found if job.id.startswith(f"serve-{n}-")) / STEP for n in range(4)
    ]
    assert hours[:2] == [24, 24]
    # 2 + 2·(1 - cos)/2 is above 3 between 6 and 18 h, above 2 whenever it is not midnight.
    assert hours[2:] == [23, 11]


def test_spot_instances_elastic_against_fixed() -> None:
    """0 to 10 min none, then 4, 3 from 20 min on, 8 from 80 min on, until 120 min.

    A fixed job of 8 runs 40 minutes of it; an elastic one all 110.
    """
    answer = schedule(SPOT, "ethernet-10g:8", model="resnet50")
    spot = answer.spot
    assert spot is not None
    assert (spot.most.instances, spot.elastic.instances) == (8, 8)
    assert spot.most.outcome.accounts.total == 7200 * 8 * 10**6
    busy = spot.most.outcome.accounts
    assert busy.total - busy.absent - busy.blocked <= 2400 * 8 * 10**6
    assert spot.elastic.steps > 1.3 * spot.most.steps
    assert spot.best.steps >= max(spot.most.steps, spot.mean.steps)


def test_defaults_by_size_and_the_sizes_of_elastic_jobs() -> None:
    system = system_of("dgx-h100:4096")
    kinds = {chips: default_kind(chips, system) for chips in (1, 8, 12, 128, 1024)}
    assert [kinds[n].model for n in kinds] == [
        "bert-large", "llama3-8b", "llama3-8b", "llama3-70b", "gpt3-175b",
    ]  # fmt: skip
    assert sizes_of(kinds[1024], 1024, system) == (256, 512, 1024, 2048)
    # A replica is 64 chips: 64 has none smaller; double the cluster there is not.
    assert sizes_of(kinds[1024], 64, system) == (64, 128)
    assert sizes_of(kinds[1024], 4096, system) == (1024, 2048, 4096)
    # Below a node, chips that a node can be cut into.
    assert sizes_of(kinds[8], 8, system) == (4, 8, 16)


def test_levels_of_systems() -> None:
    def levels(on: str) -> tuple[int, int]:
        found = levels_of(system_of(on))
        return found.leaf, found.pod

    assert levels("dgx-h100:100000") == (32, 8)
    assert levels("hgx-h100-roce:24576") == (2, 192)
    assert levels("gb200-nvl72:7200") == (18, 4)
    assert levels("tpu-v4-pod:4096") == (1024, 1)
    assert levels("dgx-h100:8") == (1, 1)


def test_a_played_step_follows_the_placement_and_is_played_once() -> None:
    """An all-reduce whose ranks lie in more leaves crosses more switches; little else changes."""
    system = system_of("dgx-h100:4096")
    kinds = [training(Kind("bert-large"), system)]
    closed = Rates(system, kinds, closed_form, levels_of(system))
    played = Rates(system, kinds, closed_form, levels_of(system), played=True)
    packed = played.packed(0, 256)
    apart = packed._replace(leaves=4, pods=2)
    assert played.step(packed) < played.step(apart) < 1.1 * played.step(packed)
    assert played.step(packed) == pytest.approx(closed.step(packed), rel=0.05)
    assert len(played.steps) == 2
    assert played.steps != closed.steps


def test_a_schedule_with_played_steps_is_the_same_twice() -> None:
    def digests(network: str) -> list[str]:
        answer = schedule(
            "synthetic:llm,jobs=60,days=1", "ethernet-10g:64", model="bert-large", network=network
        )
        return [each.outcome.digest for each in answer.played]

    assert digests("simulate") == digests("simulate")
    with pytest.raises(InputError, match="network"):
        digests("guess")


def test_a_job_over_more_pods_is_slower_where_these_are_joined_thinly() -> None:
    """1:7 above the pods of hgx-h100-roce; none between the leaves of one pod."""
    system = system_of("hgx-h100-roce:24576")
    rates = Rates(
        system, [training(Kind("gpt3-175b", 8, 8), system)], closed_form, levels_of(system)
    )
    together = rates.speed(Place(0, 1024, 1024, 64, 1))
    assert together == 1.0
    assert rates.speed(Place(0, 1024, 1024, 128, 8)) < 0.995
    # Twice the replicas of the same batch: faster, but not twice.
    assert 1.0 < rates.speed(Place(0, 1024, 2048, 128, 1)) < 2.0


def test_spread_over_keeps_the_links_and_changes_the_domains() -> None:
    system = system_of("dgx-h100:100000")
    found = spread_over(system, 1024, 8, 2)
    assert [(tier.name, tier.chips) for tier in found.tiers] == [
        ("nvlink", 8), ("leaf", 128), ("spine", 512), ("core", 1024),
    ]  # fmt: skip
    assert spread_over(system, 8, 1, 1).tiers[-1].name == "nvlink"


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"policies": ("first",)}, "policy"),
        ({"rate": "rsc-9"}, "failure rate"),
        ({"elastic": 1.5}, "elastic"),
        ({"window": (5.0, 5.0)}, "window"),
        ({"spares": 8}, "spares"),
        ({"serve": "chips=0"}, "serve"),
        ({"size_for": "p99=1h"}, "size-for"),
        ({"size_for": "p90-queue=soon"}, "size-for"),
        ({"maintenance": ("1h:2h",)}, "maintenance"),
        ({"maintenance": ("1h:2h:0-99",)}, "maintenance"),
        ({"tp": 8}, "tp"),
        ({"model": "gpt2", "tp": 3}, "chips"),
        ({"spot": JOBS}, None),
        ({"window": (1e9, 2e9)}, None),
    ],
)
def test_what_cannot_be_is_refused(options: dict[str, Any], field: str | None) -> None:
    with pytest.raises(InputError) as caught:
        schedule(JOBS, "dgx-h100:64", **options)
    said = " ".join(str(problem) for problem in caught.value.problems)
    assert field is None or field in said


def test_options_that_there_are_not() -> None:
    with pytest.raises(UsageError, match="no option"):
        schedule(JOBS, "dgx-h100:64", colour="red")
    with pytest.raises(UsageError, match="policies must be a list of texts"):
        schedule(JOBS, "dgx-h100:64", policies="fifo")


@pytest.mark.parametrize(
    "text",
    ["synthetic:none", "synthetic:llm,job=3", "synthetic:llm,jobs=x", "synthetic:llm,load=0"],
)
def test_mixes_that_there_are_not(text: str) -> None:
    with pytest.raises(InputError):
        asked_of(text, 1024, 0)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("synthetic:llm,large=2", "from 0 to 1"),
        ("synthetic:llm,load=0", "above 0, at most 10"),
        ("synthetic:philly,large=0.5", "a part of large jobs"),
    ],
)
def test_what_an_option_of_a_mix_may_be(text: str, rule: str) -> None:
    with pytest.raises(InputError, match=rule):
        asked_of(text, 4096, 0)
    assert asked_of("synthetic:llm,large=0", 4096, 0).large == 0.0


@pytest.mark.parametrize(
    ("chips", "large", "said"),
    [
        (8192, "0.5", "50.0 % of chip-time in"),
        (8192, "1", "100.0 % of chip-time in 100.0 % of the jobs, of 1,024 chips or more"),
        (8192, "0", "none of 1,024 chips or more"),
        (1024, "0.85", "none of 1,024 chips or more, as no job takes over 256 of 1,024"),
    ],
)
def test_the_large_part_that_was_made_up_is_said(chips: int, large: str, said: str) -> None:
    """Counted in the jobs themselves, not what the mix would have."""
    answer = schedule(
        f"synthetic:llm,large={large},jobs=1000,days=9", f"dgx-h100:{chips}", policies=("fifo",)
    )
    assert said in answer.jobs.source
    assert "85 %" not in answer.jobs.source


def test_jobs_on_spot_nodes_save_as_often_as_nodes_are_taken_back(tmp_path: Path) -> None:
    """One of 4·600 + 3·3600 + 8·2400 instance-seconds is lost: a job of two loses one in half."""
    assert losses(SPOT) == pytest.approx(1 / 32_400)
    path = write(tmp_path, "submit,run,chips\n0,5000,16\n")
    found = schedule(path, "dgx-h100:64", policies=("fifo",), model="bert-large", spot=SPOT)
    assert found.played[0].outcome.accounts.saving > 0
    system = system_of("dgx-h100:64")
    kinds = [training(Kind("bert-large"), system)]
    rates = Rates(system, kinds, closed_form, levels_of(system))
    costs = Prices(system, rates, None, Told(save=2.0, restart=60.0), losses(SPOT)).costs(0, 16)
    assert costs.interval == pytest.approx(best_complete(2.0, 16_200.0, 60.0)[0])


def test_a_mix_with_options() -> None:
    asked = asked_of("synthetic:philly,jobs=500,days=2,load=1.2,burst=0", 1024, 7)
    assert (asked.jobs, asked.days, asked.load, asked.burst, asked.seed) == (500, 2, 1.2, 0, 7)


def test_a_load_that_cannot_be_reached_is_said() -> None:
    answer = schedule("synthetic:philly,jobs=50,days=2", "dgx-h100:4096", policies=("fifo",))
    assert any("ask for more jobs" in warning for warning in answer.warnings)


def test_jobs_that_do_not_fit_are_left_out_and_said() -> None:
    answer = schedule(JOBS, "dgx-h100:24", policies=("fifo",))
    assert len(answer.jobs.jobs) == 2
    assert any("left out" in warning for warning in answer.warnings)


def test_planned_work_and_granted_nodes() -> None:
    assert planned(("2h:30min:4-7", "1h:30min:0"), 8) == (
        Maintenance(3600, 1800, 0, 0), Maintenance(7200, 1800, 4, 7),
    )  # fmt: skip
    assert granted(SPOT, 8) == ((0, 0), (600, 4), (1200, 3), (4800, 8))
    with pytest.raises(InputError, match="8 instances"):
        granted(SPOT, 4)
    assert granted(None, 4) == ()


def test_saves_all_the_time_and_two_rates_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text("id,submit,run,chips\na,0,60,8\n", encoding="utf-8")
    with pytest.raises(InputError, match="a second or more"):
        schedule(str(path), "dgx-h100:64", interval=1e-9)
    with pytest.raises(InputError, match="how often nodes fail"):
        schedule(str(path), "dgx-h100:64", rate="rsc-1", node_failures_per_1000_days=3.0)


def test_rows_that_are_no_jobs_and_limits_that_nobody_gave_are_said(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text("id,submit,run,chips\na,0,60,8\nb,0,60\nc,0,60,8\n", encoding="utf-8")
    answer = schedule(str(path), "dgx-h100:64", policies=("backfill-limits",))
    assert any("1 lines of" in said for said in answer.warnings)
    assert any("plays as backfill" in said for said in answer.warnings)


def test_replicas_start_before_training_that_comes_with_them(tmp_path: Path) -> None:
    # Two jobs of two nodes come to four, one of which serves for the hours until the first is done.
    path = write(tmp_path, "submit,run,chips\n0,3600,16\n0,3600,16\n")
    for on, waits in (("dgx-h100:40", [0, 0]), ("dgx-h100:32", [0, 3600])):
        found = schedule(path, on, policies=("fifo",), serve="chips=8,peak=8,replica=8")
        assert sorted(found.played[0].outcome.queue.tolist()) == waits


@pytest.mark.parametrize("how", [{"rate": "rsc-1"}, {"node_failures_per_1000_days": 5.0}])
def test_how_long_a_silent_error_goes_unnoticed_can_be_said(how: dict[str, Any]) -> None:
    cases: list[tuple[dict[str, Any], float]] = [({}, 3600.0), ({"notice_time": 60.0}, 60.0)]
    for told, seconds in cases:
        found = schedule("synthetic:llm,jobs=5", "dgx-h100:64", policies=("fifo",), **how, **told)
        assert found.failures is not None
        silent = [each for each in found.failures.classes if each.severity == "silent"]
        assert {each.duration for each in silent} == {seconds}
    with pytest.raises(InputError, match="notice_time"):
        schedule("synthetic:llm,jobs=5", "dgx-h100:64", notice_time=-1.0, **how)
