"""The benchmark of fleets, on a small one: it plays, twice alike, with everything on."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.fleet import CASES


def test_a_small_fleet_is_played_twice_alike() -> None:
    everything = replace(CASES[2], trace="synthetic:llm,jobs=300,days=2", on="dgx-h100:2048")
    first, second = everything.play(), everything.play()
    assert first.digest == second.digest
    assert first.seconds > 0
    assert "300 jobs" in first.detail


def test_the_benchmark_is_the_one_that_is_told_of() -> None:
    """100,000 jobs, 110 days, load 0.85, 85 % large; everything on in one of the cases."""
    assert "jobs=100000,days=110,load=0.85,large=0.85" in CASES[0].trace
    assert CASES[0].on == "dgx-h100:100000"
    assert CASES[2].options["policies"] == ("elastic-backfill",)
    assert CASES[2].options["node_failures_per_1000_days"] == 6.5
