"""Intervals and windows of the study of fleets; its frozen figures hold together."""

from __future__ import annotations

from math import exp, log

import pytest

from accuracy.fleet import (
    LOADS,
    POLICIES,
    WINDOWS,
    Window,
    interval,
    play_window,
    rows,
    values,
    windows,
)
from artery.formats.jobs.rows import JobRow


def test_the_interval_of_ten_ratios() -> None:
    """Five of 2 and five of 8: the mean is 4, the deviation of the logarithms log(2)·sqrt(10/9)."""
    middle, low, high = interval([2.0] * 5 + [8.0] * 5)
    assert middle == pytest.approx(4.0)
    half = 2.262 * log(2) * (10 / 9) ** 0.5 / 10**0.5
    assert [low, high] == pytest.approx([4 * exp(-half), 4 * exp(half)])


def test_windows_have_equally_many_jobs_and_the_load_asked_for() -> None:
    jobs = [
        JobRow(str(n), 60.0 * n, None, None, 8.0, None, None, duration_s=600.0) for n in range(200)
    ]
    found = list(windows(jobs, 1.5))
    assert len(found) == WINDOWS
    # 20 jobs of a node for 600 s in 19 minutes: 12,000 node-seconds of 1.5·1,140 a node.
    assert {window.nodes for window in found} == {8}
    assert [window.begin for window in found] == [1200.0 * n for n in range(10)]


def test_a_window_of_a_trace_is_played() -> None:
    """Of the two jobs the second comes 48 min 52 s later: the window has the first only."""
    path = "tests/fixtures/jobtrace-philly/table.csv"
    answer = play_window(path, Window(0.0, 2900.0, 2))
    assert [each.policy.name for each in answer.played] == list(POLICIES)
    assert [job.chips for job in answer.jobs.jobs] == [8]
    assert answer.system.chips == 16


def test_the_figures_carried_are_whole() -> None:
    """Every window, load and policy has its figures; shares are shares."""
    for load in LOADS:
        for policy in POLICIES:
            assert len(values("philly", f"load {load}", policy, "mean_queue_s")) == WINDOWS
    needed = [len(values("philly", "load", policy, "chips_needed")) for policy in POLICIES]
    assert needed == [WINDOWS] * len(POLICIES)
    assert all(0 <= row.value <= 1 for row in rows() if row.measure == "blocked")
    # FIFO needs its own cluster, or less, for its own wait.
    own = values("philly", f"load {LOADS[-1]}", "", "chips")
    fifo = values("philly", f"load {LOADS[-1]}", "fifo", "chips_needed")
    assert all(a <= b for a, b in zip(fifo, own, strict=True))
