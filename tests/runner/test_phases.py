"""The log of phases, and the account of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from artery.cloud.accounting import account
from artery.formats.own.phases import read_rows, spans_of
from artery.runner.phases import PhaseLog


def row(phase: str, ts: float, seconds: float, rank: int = 0, **more: object) -> dict[str, Any]:
    return {"phase": phase, "ts": ts, "seconds": seconds, "rank": rank, **more}


def test_rows_are_appended_and_a_torn_last_line_is_left_out(tmp_path: Path) -> None:
    place = tmp_path / "phases.jsonl"
    log = PhaseLog(place, rank=1, attempt=2)
    log.write("step", 100.0, 0.25, 7, compute_s=0.2)
    with log.timed("save", 7, bytes=5):
        pass
    log.close()
    with place.open("a") as file:
        file.write('{"schema": "artery.phases/1", "ts": 1')
    first, second = read_rows(place)
    assert first == {
        "schema": "artery.phases/1", "ts": 100.0, "seconds": 0.25, "rank": 1, "attempt": 2,
        "phase": "step", "step": 7, "compute_s": 0.2,
    }  # fmt: skip
    assert (second["phase"], second["bytes"]) == ("save", 5)


def test_without_a_place_nothing_is_written() -> None:
    log = PhaseLog(None)
    log.write("step", 0.0, 1.0)
    log.close()


def test_each_moment_counts_once_for_rank_0_before_the_supervisor() -> None:
    found = account(
        spans_of(
            [
                row("start", 0.0, 2.0, -1, attempt=1),
                row("rendezvous", 2.0, 1.5, -1, attempt=1),  # it waits: rank 0 meets and loads
                row("rendezvous", 2.25, 0.5, attempt=1),
                row("load", 2.75, 0.25, attempt=1),
                row("first_step", 3.0, 1.5, -1, step=1, attempt=1),
                row("first_step", 3.0, 1.5, step=1, attempt=1),  # 1.0 is usual, 0.5 warming up
                row("step", 4.5, 1.0, step=2, attempt=1),
                row("step", 5.5, 1.0, step=3, attempt=1),
                row("step", 3.5, 9.0, 1, attempt=1),  # others do not count
                row("persist", 3.0, 2.0, attempt=1),  # beside the steps
                row("detect", 6.5, 1.0, -1, attempt=1),
                row("first_step", 8.0, 1.25, step=2, attempt=2),
                row("lost_work", 8.0, 0.0, -1, step=1, steps=3, attempt=2),  # step 4 never ended
                row("finish", 9.25, 0.75, -1, attempt=2),
            ]
        )
    )
    assert found.wall == pytest.approx(10.0)
    assert found.seconds == pytest.approx(
        {
            "start": 2.0,
            "rendezvous": 0.75,  # of the supervisor's 1.5 rank 0 tells better of 1.25
            "load": 0.25,
            "first_step": 0.75,
            "step": 2.0,  # step 1, and step 2 the second time
            "redone": 2.0,  # step 2 the first time, and step 3, which was lost with it
            "detect": 1.0,
            "teardown": 0.75,
            "unexplained": 0.5,
        }
    )
    assert found.redone_steps == 2
    assert found.events["rendezvous"] == pytest.approx((0.75,))


def test_an_empty_log_has_no_time() -> None:
    assert spans_of([]) == []
