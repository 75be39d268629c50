"""The figures of ``accuracy/data/fleet.csv`` on the traces that they were made from."""

from __future__ import annotations

import pytest

from accuracy.fleet import LOADS, MODELS, play_window, values, windows
from artery import schedule
from artery.formats.recognise import read
from tests.conftest import shared_folder

TRACES = shared_folder() / "traces"
PHILLY = str(TRACES / "philly_jobs.csv")
SPOT = "g4dn-xlarge-us-east-1c-2020-11-20-1930-to-2020-11-21-2200"


def test_philly_is_the_trace_that_is_cited() -> None:
    """82,247 jobs, 978,078 GPU hours; counted apart from this project."""
    found = read(PHILLY)
    assert len(found.jobs) == 82_247
    assert found.fields["gpu_s"] / 3600 == pytest.approx(978_078, abs=1)
    assert found.fields["gpus_per_job"]["1"] == 76_627


def test_a_saturated_window_gives_the_figures_that_are_carried() -> None:
    which, load = 4, LOADS[-1]
    window = list(windows(read(PHILLY).jobs, load))[which]
    answer = play_window(PHILLY, window)
    for played in answer.played:
        (carried,) = values(
            "philly", f"load {load} window {which}", played.policy.name, "mean_queue_s"
        )
        assert played.outcome.mean_queue == pytest.approx(carried, rel=1e-4)
        assert played.outcome.finished == len(answer.jobs.jobs)


def test_spot_instances_lost_and_gained() -> None:
    """24.5 h, 8.2 instances on average, 85 lost, 92 gained; counted apart from this project."""
    path = str(TRACES / "aws_spot" / f"aws-spot-instances-{SPOT}.csv")
    said = read(path).fields
    assert (said["lost"], said["gained"]) == (85, 92)
    assert said["mean_instances"] == pytest.approx(8.2, abs=0.05)
    spot = schedule(path, "ethernet-10g:64", model=MODELS[0]).spot
    assert spot is not None
    for way in spot.ways:
        (carried,) = values("spot", f"{SPOT} {MODELS[0]}", way.name, "steps")
        assert way.steps == pytest.approx(carried, rel=1e-4)


def test_openb_pods_run_one_node_each() -> None:
    path = str(TRACES / "alibaba_openb_pods_default.csv")
    answer = schedule(path, "dgx-1v:512", policies=("backfill",), jobs=1500)
    found = answer.played[0].outcome
    assert found.finished == len(answer.jobs.jobs)
    assert max(job.chips for job in answer.jobs.jobs) <= 8
