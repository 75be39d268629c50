"""What cannot come to a good end is refused or said, and what was guessed is said too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import artery
from artery.answers.schedule.sense import chance_up, latest_end
from artery.cloud.fleet_job import FleetJob
from artery.errors import InputError

MIX = "synthetic:llm,jobs=200,days=2"


def listed(tmp_path: Path, *rows: str, columns: str = "submit,run,chips") -> str:
    path = tmp_path / "jobs.csv"
    path.write_text("\n".join([columns, *rows]) + "\n", encoding="utf-8")
    return str(path)


def test_jobs_that_fail_faster_than_they_return_are_refused_not_played(tmp_path: Path) -> None:
    one = listed(tmp_path, "0,86400,64")
    with pytest.raises(InputError, match="never ends") as refused:
        artery.schedule(one, "dgx-h100:64", node_failures_per_1000_days=1e6)
    nodes, time = refused.value.problems
    assert {nodes.field, time.field} == {"node_failures_per_1000_days"}
    assert nodes.found.startswith("a job takes 8 of 8 nodes")
    # 8 nodes fail 8,000 times a day, every 10.8 s; leaf switches hardly count.
    assert "every 10.8 s" in time.found
    for less in (50.0, 0.0):
        answer = artery.schedule(one, "dgx-h100:64", node_failures_per_1000_days=less)
        assert answer.played[0].outcome.finished == 1


def test_a_job_that_needs_more_nodes_than_are_ever_up_is_refused(tmp_path: Path) -> None:
    one = listed(tmp_path, "0,86400,64")
    with pytest.raises(InputError, match="takes 8 of 8 nodes, of which") as refused:
        artery.schedule(one, "dgx-h100:64", node_failures_per_1000_days=2000.0)
    assert "--repair-time" in str(refused.value)
    about: dict[str, Any] = {
        "node_failures_per_1000_days": 2000.0,
        "repair_time": 60.0,
        "restart_time": 60.0,
    }
    artery.schedule(one, "dgx-h100:64", **about)


def test_the_chance_that_enough_nodes_are_up() -> None:
    assert chance_up(8, 8, 0.5) == pytest.approx(0.5**8)
    assert chance_up(2, 1, 0.9) == pytest.approx(0.99)
    assert chance_up(100_000, 99_000, 0.992) == pytest.approx(1.0)
    assert chance_up(5, 0, 0.1) == chance_up(5, 5, 1.0) == 1.0


def test_every_play_ends() -> None:
    jobs = [FleetJob("a", 10.0, 100.0, 8, None, 0, ""), FleetJob("b", 20.0, 50.0, 8, None, 0, "")]
    assert latest_end(jobs, 16) == 20.0 + 1000.0 * (75.0 + 100.0)


def test_a_long_job_that_never_saves_is_refused_and_a_short_one_is_played(tmp_path: Path) -> None:
    about: dict[str, Any] = {"node_failures_per_1000_days": 500.0, "interval": 1e9}
    with pytest.raises(InputError, match="of its time trains"):
        artery.schedule(listed(tmp_path, "0,8640000,64"), "dgx-h100:64", **about)
    artery.schedule(listed(tmp_path, "0,3600,64"), "dgx-h100:64", **about)


def test_saves_that_cost_nothing_are_no_worse_than_saves_that_cost_something() -> None:
    def redone(save: float) -> int:
        answer = artery.schedule(
            MIX, "dgx-h100:1024", rate="rsc-1-jobs", save_time=save, policies=("backfill",)
        )
        return answer.played[0].outcome.accounts.redone

    assert redone(0.0) <= redone(10.0)


def test_a_model_that_does_not_fit_its_chips_is_said(tmp_path: Path) -> None:
    columns = "submit,run,chips,model,tp"
    jobs = listed(tmp_path, "0,60,8,llama3-405b,8", "0,60,8,llama3-8b,8", columns=columns)
    (said,) = [w for w in artery.schedule(jobs, "dgx-h100:64").warnings if "does not fit" in w]
    # 405 billion weights over 8 chips: 2 bytes each alone are 94 GiB.
    assert said.startswith("llama3-405b does not fit 1 job of 8 chips: it needs")


def test_a_size_that_was_not_found_says_why(tmp_path: Path) -> None:
    jobs = listed(tmp_path, "0,3600,64", "0,3600,64", "0,3600,64", "0,60,8")
    outage = ("0s:1d:0-7",)  # what is submitted first must wait a day for its nodes
    answer = artery.schedule(
        jobs, "dgx-h100:64", maintenance=outage, size_for="mean-queue=1s", policies=("fifo",)
    )
    assert answer.sizing is not None
    (row,) = answer.sizing.rows
    # On 32 nodes 24 are there: three jobs of 8 nodes start, the fourth waits an hour for them.
    assert row.chips is None
    assert row.why == "mean-queue is still 15.0 min on 256 chips, 4 times as many"
    assert f"fifo: no size found, {row.why}" in answer.warnings


def test_what_serving_was_not_told_is_said() -> None:
    def said(serve: str) -> list[str]:
        answer = artery.schedule(MIX, "dgx-h100:1024", serve=serve, policies=("fifo",))
        return [each for each in answer.warnings if each.startswith("serving")]

    assert (
        "serving: peak=16, replica=1 assumed; --serve chips=N,peak=N,replica=N says them"
        in said("chips=16")
    )
    (only,) = said("chips=16,peak=32,replica=8")
    assert "cosine" in only


def test_every_size_that_a_replica_does_not_divide_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError) as refused:
        artery.schedule(
            listed(tmp_path, "0,60,4", "0,60,12", "0,60,8"), "dgx-h100:64", model="gpt2", tp=8
        )
    assert [each.found for each in refused.value.problems] == ["4 for gpt2", "12 for gpt2"]


@pytest.mark.parametrize(
    ("alone", "beside"),
    [
        ({"age": 86400.0}, {"young_factor": 3.0}),
        ({"domain_nodes": 4}, {"domain_failures_per_1000_days": 1.0}),
    ],
)
def test_goodput_refuses_what_would_change_nothing(
    alone: dict[str, float], beside: dict[str, float]
) -> None:
    with pytest.raises(InputError, match="counts only beside"):
        artery.goodput("gpt2", "dgx-h100:64", **alone)
    without = artery.goodput("gpt2", "dgx-h100:64")
    assert artery.goodput("gpt2", "dgx-h100:64", **alone, **beside).ettr.value < without.ettr.value


def test_a_queue_time_without_a_run_to_wait_for_is_said() -> None:
    def said(**more: float) -> bool:
        answer = artery.goodput("gpt2", "dgx-h100:8", queue_time=3600.0, **more)
        return any("queue time" in each for each in answer.warnings)

    assert said()
    assert not said(tokens=1e12)


@pytest.mark.parametrize("text", ["p90-queue", "best=1h", "p90-queue=elastic", "mean-queue=-1h"])
def test_a_size_that_cannot_be_asked_for_is_refused_before_anything_is_read(text: str) -> None:
    with pytest.raises(InputError, match="size-for"):
        artery.schedule("missing.csv", "dgx-h100:64", policies=("fifo",), size_for=text)


def test_when_no_job_is_left_the_window_or_the_system_is_said(tmp_path: Path) -> None:
    jobs = listed(tmp_path, "0,60,128", "3600,60,256")
    with pytest.raises(InputError, match="jobs of 128 chips or more, on 64 chips") as refused:
        artery.schedule(jobs, "dgx-h100:64")
    assert refused.value.problems[0].file == jobs
    with pytest.raises(InputError, match=r"the last job comes 1\.00 h in") as refused:
        artery.schedule(jobs, "dgx-h100:512", window=(7200.0, 9000.0))
    assert refused.value.problems[0].field == "window"


def spotted(tmp_path: Path, *rows: str) -> str:
    path = tmp_path / "spot.csv"
    path.write_text("\n".join(rows) + "\n")
    return str(path)


RISING = ("0,2", "3600,2", "3600,16", "86400,16")


def test_a_model_that_fits_no_spot_instance_is_said_and_one_that_fits_many_runs_on_these(
    tmp_path: Path,
) -> None:
    trace = spotted(tmp_path, *RISING)
    none = artery.schedule(trace, "ethernet-10g:64", model="gpt3-175b")
    assert none.spot is not None
    assert not none.spot.fits
    assert any("gpt3-175b" in said and "fits no size" in said for said in none.warnings)
    some = artery.schedule(trace, "ethernet-10g:64", model="llama3-8b")
    assert some.spot is not None
    assert some.spot.fits
    least = min(way.instances for way in some.spot.fixed)
    assert least * 24 * 2**30 > 8.03e9 * 16
    assert any(f"below {least} instances" in said for said in some.warnings)
    small = artery.schedule(trace, "ethernet-10g:64", model="bert-large")
    assert small.spot is not None
    assert [way.instances for way in small.spot.fixed] == list(range(1, 17))
    assert small.spot.unfit == ()


@pytest.mark.parametrize(
    ("option", "value"),
    [("serve", "chips=1"), ("policies", ("fifo",)), ("size_for", "p90-queue=1h"), ("jobs", 5)],
)
def test_options_of_a_fleet_are_refused_beside_spot_instances(
    tmp_path: Path, option: str, value: Any
) -> None:
    with pytest.raises(InputError) as caught:
        artery.schedule(spotted(tmp_path, *RISING), "ethernet-10g:64", **{option: value})
    assert [one.field for one in caught.value.problems] == [option]


@pytest.mark.parametrize(("first", "last"), [("0,8", "64800,8"), ("0.000,8", "18.000,8")])
def test_a_spot_trace_without_an_end_says_that_it_needs_one(
    tmp_path: Path, first: str, last: str
) -> None:
    with pytest.raises(InputError) as caught:
        artery.schedule(spotted(tmp_path, first), "ethernet-10g:64")
    (only,) = caught.value.problems
    assert only.fix is not None
    assert only.fix.endswith(last)
    answer = artery.schedule(spotted(tmp_path, first, last), "ethernet-10g:64")
    assert answer.spot is not None
    assert answer.spot.duration == 18 * 3600


def test_a_peak_below_the_least_that_serves_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        artery.schedule(MIX, "dgx-h100:512", serve="chips=10,peak=5")
    (only,) = caught.value.problems
    assert (only.field, only.found) == ("serve", "peak=5 below 10 chips")


def test_a_policy_without_a_name_is_refused_once() -> None:
    with pytest.raises(InputError) as caught:
        artery.schedule(MIX, "dgx-h100:512", policies=("", ""))
    assert len(caught.value.problems) == 1


PODS = "name,cpu_milli,memory_mib,num_gpu,gpu_milli"


def test_pods_without_times_are_refused_with_the_columns_that_they_lack(tmp_path: Path) -> None:
    path = tmp_path / "pods.csv"
    path.write_text(f"{PODS}\na,1000,1024,1,460\nb,1000,1024,2,1000\nc,1000,1024,1,1000\n")
    with pytest.raises(InputError) as caught:
        artery.schedule(str(path), "dgx-h100:64")
    (only,) = caught.value.problems
    for column in ("creation_time", "scheduled_time", "deletion_time"):
        assert column in only.found


def test_jobs_that_share_a_chip_are_counted_among_those_that_are_played(tmp_path: Path) -> None:
    path = tmp_path / "pods.csv"
    head = f"{PODS},pod_phase,creation_time,deletion_time,scheduled_time"
    rows = [f"p{n},1000,1024,1,460,Running,{n},{n + 100},{n}" for n in range(20)]
    path.write_text("\n".join([head, *rows]) + "\n")
    answer = artery.schedule(str(path), "dgx-h100:64", jobs=5, policies=("fifo",))
    assert any(said.startswith("5 jobs share a chip") for said in answer.warnings)
