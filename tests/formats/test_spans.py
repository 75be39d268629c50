"""What schedulers and logs tell of a run's time, by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from artery.cloud.accounting import account
from artery.errors import InputError
from artery.formats.recognise import read

BEGIN = 1_790_000_000.0
FIXTURES = Path(__file__).parent.parent / "fixtures"


def test_a_requeued_job_waited_twice() -> None:
    reading = read(str(FIXTURES / "slurm-sacct" / "requeued.txt"))
    found = account(reading.spans)
    assert found.seconds == pytest.approx({"queue": 600, "running": 14400, "reschedule": 180})
    assert found.restarts == 1


def test_jobs_of_several_names_are_no_run() -> None:
    assert read(str(FIXTURES / "slurm-sacct" / "gpu.txt")).spans == ()


def test_a_pod_was_queued_started_and_died_once() -> None:
    reading = read(str(FIXTURES / "k8s-pods" / "pods.json"))
    assert (reading.format, reading.kind) == ("k8s-pods", "log")
    found = account(reading.spans)
    assert found.seconds == pytest.approx({"queue": 120, "start": 60 + 60, "running": 3600 + 6960})
    assert reading.fields["restarts"] == 1
    assert "OOMKilled: 1 times" in reading.warnings


def test_events_tell_of_a_pod_that_is_gone() -> None:
    reading = read(str(FIXTURES / "k8s-pods" / "events.json"))
    assert account(reading.spans).seconds == pytest.approx(
        {"queue": 300.5, "start": 59.5, "running": 7200}
    )


def test_a_training_log_tells_its_steps() -> None:
    reading = read(str(FIXTURES / "megatron-log" / "nano.log"))
    assert account(reading.spans).seconds["step"] == pytest.approx(1.01, abs=0.01)


def _phases(tmp_path: Path, *rows: Mapping[str, object]) -> str:
    path = tmp_path / "phases.jsonl"
    lines = [json.dumps({"schema": "artery.phases/1", "attempt": 0, **row}) for row in rows]
    path.write_text("\n".join([*lines, '{"schema": "artery.ph']), encoding="utf-8")
    return str(path)


def test_phases_of_two_ranks_and_their_supervisor(tmp_path: Path) -> None:
    both = [
        {"ts": BEGIN + 10.0 + i, "seconds": 1.0, "rank": rank, "phase": "step", "step": i + 2}
        for i in range(4)
        for rank in (0, 1)
    ]
    first = [
        {"ts": BEGIN + 7.0, "seconds": 3.0, "rank": rank, "phase": "first_step", "step": 1}
        for rank in (0, 1)
    ]
    start = {"ts": BEGIN, "seconds": 7.0, "rank": -1, "phase": "start"}
    save = {"ts": BEGIN + 14.0, "seconds": 1.0, "rank": 0, "phase": "save"}
    reading = read(_phases(tmp_path, start, *first, *both, save))
    found = account(reading.spans)
    assert found.seconds == pytest.approx(
        {"start": 7, "first_step": 2, "step": 5, "save": 1}
    )  # the other rank waits while the first saves
    assert (found.lanes, found.steps, found.restarts) == (0, 5, 0)
    assert reading.ignored[0].line == 13


def test_a_log_without_a_phase_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "phases.jsonl"
    path.write_text('{"schema": "artery.phases/1", "ts": \n', encoding="utf-8")
    with pytest.raises(InputError, match="no phase"):
        read(str(path))


def test_values_that_cannot_be_are_said_all_at_once_by_line_and_field(tmp_path: Path) -> None:
    good = {"ts": BEGIN, "seconds": 1.0, "rank": 0, "phase": "step", "step": 1}
    wrong = (
        {"ts": 10**400, "seconds": 10**400},
        {"seconds": -3.0},
        {"ts": 3.0},
        {"ts": BEGIN + 9e9},
        {"rank": -2},
        {"phase": 7},
        {"seconds": float("nan")},
    )
    with pytest.raises(InputError) as refused:
        read(_phases(tmp_path, good, *(good | each for each in wrong)))
    said = [(problem.line, problem.field) for problem in refused.value.problems]
    assert said == [
        (2, "ts"), (2, "seconds"), (3, "seconds"), (4, "ts"), (5, "ts"), (6, "rank"),
        (7, "phase"), (8, "seconds"),
    ]  # fmt: skip
    assert all(problem.fix and problem.rule for problem in refused.value.problems)
    with pytest.raises(InputError, match="10 more such values"):
        read(_phases(tmp_path, good, *[good | {"seconds": -1.0}] * 30))


def test_phases_that_stand_there_twice_count_once_and_are_said(tmp_path: Path) -> None:
    rows = [{"ts": BEGIN + i, "seconds": 1.0, "rank": 0, "phase": "step", "step": i + 1}
            for i in range(4)]  # fmt: skip
    reading = read(_phases(tmp_path, *rows, rows[1], rows[2]))
    assert reading.fields["rows"] == 4
    assert reading.warnings == ("line 5: 2 phases told before, counted once",)


def test_phases_of_one_rank_that_overlap_are_said_with_both_lines(tmp_path: Path) -> None:
    rows = [{"ts": BEGIN + i, "seconds": 1.0, "rank": 0, "phase": "step", "step": i + 1}
            for i in range(4)]  # fmt: skip
    save = {"ts": BEGIN + 1.25, "seconds": 0.5, "rank": 0, "phase": "save"}
    (said,) = read(_phases(tmp_path, *rows, save)).warnings
    assert said.startswith("line 5: save of rank 0 begins 500 ms before its step of line 2")
    former = {"ts": BEGIN + 9, "seconds": 1.0, "rank": 0, "phase": "step", "attempt": 1}
    later = {"ts": BEGIN + 10, "seconds": 1.0, "rank": 0, "phase": "step", "attempt": 0}
    (said,) = read(_phases(tmp_path, former, later)).warnings
    assert said.startswith("line 2: attempt 0 of rank 0 begins after attempt 1")


def test_a_container_that_came_back_restarted_the_job() -> None:
    assert account(read(str(FIXTURES / "k8s-pods" / "pods.json")).spans).restarts == 1


def test_a_job_that_still_runs_ends_with_what_has_passed(tmp_path: Path) -> None:
    path = tmp_path / "sacct.txt"
    path.write_text(
        "JobID|JobName|State|Submit|Start|End|Elapsed\n"
        "1|r|RUNNING|2026-03-03T09:00:00|2026-03-03T09:10:00|Unknown|01:00:00\n",
        encoding="utf-8",
    )
    assert account(read(str(path)).spans).seconds == {"queue": 600, "running": 3600}


def test_times_that_no_job_has_are_refused_by_line_and_column(tmp_path: Path) -> None:
    path = tmp_path / "sacct.txt"
    path.write_text(
        "JobID|JobName|State|Submit|Start|End\n"
        "1|r|COMPLETED|2026-03-03T09:00:00|2026-03-03T08:10:00|2026-03-03T08:00:00\n"
        "2|r|COMPLETED|1970-01-01T00:00:00|2026-03-03T09:10:00|2300-03-03T09:20:00\n",
        encoding="utf-8",
    )
    with pytest.raises(InputError) as refused:
        read(str(path))
    said = [(problem.line, problem.field) for problem in refused.value.problems]
    assert said == [(2, "Start"), (2, "End"), (3, "Submit"), (3, "End")]
    path.write_text(path.read_text() + path.read_text().splitlines()[1].join("\n\n") * 30)
    with pytest.raises(InputError, match="44 more such times"):
        read(str(path))


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "sacct.txt"
    row = "1|r|COMPLETED|2026-03-03T09:00:00|2026-03-03T09:10:00|2026-03-03T09:20:00\n"
    path.write_text("JobID|JobName|State|Start|Start|End\n" + row, encoding="utf-8")
    with pytest.raises(InputError, match="2 columns of that name") as refused:
        read(str(path))
    (problem,) = refused.value.problems
    assert (problem.line, problem.field) == (1, "start")


def test_a_log_whose_clock_goes_back_or_far_on_says_where(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    times = ["09:00:00", "09:00:10", "08:30:00", "09:00:30", "09:00:40"]
    lines = [
        f"[2026-03-03 {time}] iteration {i:8d}/ 100 | elapsed time per iteration (ms): 10000.0 |"
        for i, time in enumerate(times, 1)
    ]
    lines.append(lines[-1].replace("2026-03-03", "2026-03-06").replace("   5/", "   6/"))
    path.write_text("\n".join(lines), encoding="utf-8")
    said = [each for each in read(str(path)).warnings if each.startswith("line ")]
    assert said[0].startswith("line 3: its time is 30.2 min before")
    assert said[1].startswith("line 6: 3.00 d pass without a line")


def phases(path: Path, *rows: dict[str, object]) -> str:
    usual = {"schema": "artery.phases/1", "ts": BEGIN, "seconds": 1.0, "rank": 0, "phase": "step"}
    path.write_text("".join(json.dumps({**usual, **row}) + "\n" for row in rows), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("step", [10**30, -1, 2.5, True, "7"])
def test_a_step_that_cannot_be_is_refused(tmp_path: Path, step: object) -> None:
    with pytest.raises(InputError) as caught:
        read(phases(tmp_path / "phases.jsonl", {"step": 1}, {"ts": BEGIN + 2, "step": step}))
    (only,) = caught.value.problems
    assert (only.line, only.field) == (2, "step")


def test_phases_that_nobody_knows_are_named(tmp_path: Path) -> None:
    strange = [{"phase": "defrag", "ts": BEGIN + 1 + n} for n in range(3)]
    found = read(phases(tmp_path / "phases.jsonl", {"step": 1}, *strange))
    (said,) = found.warnings
    assert said.startswith("line 2: phases of unknown names")
    assert '"defrag" (3)' in said
