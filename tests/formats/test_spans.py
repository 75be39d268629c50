"""What schedulers and logs tell of a run's time, by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from artery.cloud.accounting import account
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
