"""A run's logs taken together, and its prediction beside it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import artery
from artery.answers.goodput.log import Against, MeasuredRun, measured_run
from artery.errors import InputError

BEGIN = 1_790_000_000.0


def phases(path: Path) -> str:
    """A run with one failure, every delay known; two ranks, the second a little slower to load."""
    rows: list[dict[str, object]] = []

    def add(phase: str, at: float, seconds: float, rank: int, attempt: int, **more: int) -> None:
        rows.append(
            {"schema": "artery.phases/1", "ts": BEGIN + at, "seconds": seconds, "rank": rank,
             "attempt": attempt, "phase": phase, **more}
        )  # fmt: skip

    add("start", 0, 4, -1, 0)
    for rank in (0, 1):
        add("rendezvous", 4, 1, rank, 0)
        for step in range(1, 11):
            add("step", 4 + step, 1, rank, 0, step=step)
        add("save", 15, 2, rank, 0)
        for step in range(11, 17):
            add("step", 6 + step, 1, rank, 0, step=step)
    add("detect", 23, 3, -1, 0)
    add("teardown", 26, 2, -1, 0)
    add("start", 28, 5, -1, 1)
    for rank in (0, 1):
        add("rendezvous", 33, 1, rank, 1)
        add("load", 34, 2, rank, 1)
        for step in range(11, 31):
            add("step", 25 + step, 1, rank, 1, step=step)
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return str(path)


def against(run: MeasuredRun, name: str) -> Against:
    (one,) = [each for each in run.against if each.name == name]
    return one


def test_every_class_comes_back_as_it_was_put_in(tmp_path: Path) -> None:
    run = measured_run([phases(tmp_path / "p.jsonl")])
    assert run.account.seconds == pytest.approx(
        {
            "start": 9, "rendezvous": 2, "step": 30, "save": 2, "redone": 6, "detect": 3,
            "teardown": 2, "load": 2,
        },
        rel=0.01,
    )  # fmt: skip
    assert run.account.wall == pytest.approx(56)
    assert (run.account.restarts, run.account.steps, run.account.redone_steps) == (1, 30, 6)
    assert run.mtbf == pytest.approx(56)
    assert run.restart == pytest.approx(3 + 2 + 5 + 1 + 2)
    assert run.gains[0].activity == "start"
    assert run.gains[0].ettr == pytest.approx(30 / (56 - 4.5))
    assert run.warnings == ()


def test_a_scheduler_fills_what_the_program_leaves_open(tmp_path: Path) -> None:
    sacct = tmp_path / "sacct.txt"
    sacct.write_text(
        "JobID|JobName|State|Submit|Start|End\n"
        "1|r|COMPLETED|2026-09-21T14:12:20|2026-09-21T14:13:10|2026-09-21T14:14:20\n",
        encoding="utf-8",
    )
    run = measured_run([phases(tmp_path / "p.jsonl"), str(sacct)], time_zone="UTC")
    assert run.account.seconds["queue"] == pytest.approx(50)
    assert run.account.seconds["step"] == pytest.approx(30)
    assert run.account.seconds["running"] == pytest.approx(70 - 56)
    assert [file.format for file in run.files] == ["artery-phases", "slurm-sacct"]
    assert any("not explained" in said for said in run.warnings)


def test_the_prediction_stands_beside(tmp_path: Path) -> None:
    predicted = artery.goodput("gpt2", "dgx-h100:8", restart_time=None)
    run = measured_run([phases(tmp_path / "p.jsonl")], predicted)
    assert against(run, "detect").measured == pytest.approx(3)
    assert against(run, "detect").predicted == pytest.approx(
        next(part.value for part in predicted.recovery if part.name == "detect")
    )
    assert against(run, "ettr").measured == pytest.approx(30 / 56)
    assert against(run, "step").measured == pytest.approx(1.0)
    assert against(run, "reschedule").measured is None


def test_what_tells_no_times_is_refused_and_so_are_two_runs(tmp_path: Path) -> None:
    silent = tmp_path / "sacct.txt"
    silent.write_text("JobID|JobName|State\n1|r|COMPLETED\n", encoding="utf-8")
    with pytest.raises(InputError, match="without times"):
        measured_run([str(silent)])
    old = tmp_path / "old.txt"
    old.write_text(
        "JobID|JobName|State|Submit|Start|End\n"
        "1|r|COMPLETED|2020-01-01T00:00:00|2020-01-01T01:00:00|2020-01-01T02:00:00\n",
        encoding="utf-8",
    )
    with pytest.raises(InputError, match="one run"):
        measured_run([phases(tmp_path / "p.jsonl"), str(old)], time_zone="UTC")
    with pytest.raises(InputError, match="nowhere"):
        measured_run([str(tmp_path / "nowhere")])


def test_the_same_log_twice_is_one_run(tmp_path: Path) -> None:
    path = phases(tmp_path / "p.jsonl")
    assert measured_run([path, path]).account == measured_run([path]).account


def test_lines_that_were_passed_over_are_said(tmp_path: Path) -> None:
    path = phases(tmp_path / "p.jsonl")
    with Path(path).open("a", encoding="utf-8") as file:
        file.write('\n{"schema": "artery.ph')
    assert "1 lines passed over" in measured_run([path]).warnings[0]


def sacct_of(path: Path, hours: int) -> str:
    """What Slurm says of the run of :func:`phases`, on a wall clock ``hours`` ahead of UTC."""
    path.write_text(
        "JobID|JobName|State|Submit|Start|End\n"
        f"1|r|COMPLETED|2026-09-21T{14 + hours}:12:20|2026-09-21T{14 + hours}:13:10|"
        f"2026-09-21T{14 + hours}:14:20\n",
        encoding="utf-8",
    )
    return str(path)


def test_logs_without_a_zone_are_not_joined_to_those_with_one_until_it_is_told(
    tmp_path: Path,
) -> None:
    both = [phases(tmp_path / "p.jsonl"), sacct_of(tmp_path / "sacct.txt", 8)]
    with pytest.raises(InputError, match="--time-zone") as refused:
        measured_run(both)
    (problem,) = refused.value.problems
    assert problem.file == both[1]
    expected = measured_run([both[0], sacct_of(tmp_path / "utc.txt", 0)], time_zone="UTC").account
    for zone in ("+08:00", "UTC+8", "Asia/Shanghai"):
        assert measured_run(both, time_zone=zone).account == expected
    assert measured_run([both[1]]).account.wall == 120  # alone it needs none


@pytest.mark.parametrize("zone", ["", "local", "+25:00", "../etc/passwd", "Mars/Olympus"])
def test_a_zone_that_there_is_not_is_refused(tmp_path: Path, zone: str) -> None:
    with pytest.raises(InputError, match="time_zone"):
        measured_run([sacct_of(tmp_path / "sacct.txt", 0)], time_zone=zone)


def test_work_while_the_scheduler_says_that_the_job_waits_is_said(tmp_path: Path) -> None:
    path = tmp_path / "sacct.txt"
    path.write_text(
        "JobID|JobName|State|Submit|Start|End\n"
        "1|r|COMPLETED|2026-09-21T14:13:10|2026-09-21T14:13:40|2026-09-21T14:14:20\n",
        encoding="utf-8",
    )
    run = measured_run([phases(tmp_path / "p.jsonl"), str(path)], time_zone="UTC")
    (said,) = [each for each in run.warnings if "clocks apart" in each]
    assert "p.jsonl works for 15.0 s while" in said
