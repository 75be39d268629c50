"""What schedulers and logs tell of a run's time, by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from artery.cloud.accounting import account
from artery.errors import InputError
from artery.formats.recognise import read

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
        {"ts": 10.0 + i, "seconds": 1.0, "rank": rank, "phase": "step", "step": i + 2}
        for i in range(4)
        for rank in (0, 1)
    ]
    first = [
        {"ts": 7.0, "seconds": 3.0, "rank": rank, "phase": "first_step", "step": 1}
        for rank in (0, 1)
    ]
    start = {"ts": 0.0, "seconds": 7.0, "rank": -1, "phase": "start"}
    save = {"ts": 14.0, "seconds": 1.0, "rank": 0, "phase": "save"}
    reading = read(_phases(tmp_path, start, *first, *both, save))
    found = account(reading.spans)
    assert found.seconds == pytest.approx(
        {"start": 7, "first_step": 2, "step": 5, "save": 1}
    )  # the other rank waits while the first saves
    assert (found.lanes, found.steps, found.restarts) == (0, 5, 0)
    assert reading.ignored[0].line == 13


def test_a_log_without_a_phase_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "phases.jsonl"
    path.write_text('{"schema": "artery.phases/1", "ts": "x"}\n', encoding="utf-8")
    with pytest.raises(InputError, match="no phase"):
        read(str(path))


def test_times_beyond_all_clocks_are_no_phases(tmp_path: Path) -> None:
    huge = {"ts": 10**400, "seconds": 10**400, "rank": 0, "phase": "step", "step": 1}
    good = {"ts": 1.0, "seconds": 1.0, "rank": 0, "phase": "step", "step": 1}
    assert len(read(_phases(tmp_path, huge, good)).spans) == 1


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
