"""The log of phases, and the account of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from artery.runner.phases import PhaseLog, account, read


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
    first, second = read(place)
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
        [
            row("start", 0.0, 2.0, -1),
            row("rendezvous", 2.0, 1.5, -1),  # the supervisor waits while rank 0 meets and loads
            row("rendezvous", 2.25, 0.5),
            row("load", 2.75, 0.25),
            row("step", 3.0, 1.5, step=1, attempt=1),
            row("step", 4.5, 1.0, step=2, attempt=1),
            row("step", 5.5, 1.5, step=3, attempt=1),
            row("step", 3.5, 9.0, 1),  # others do not count
            row("persist", 3.0, 2.0),  # beside the steps
            row("lost_work", 8.0, 0.0, -1, step=1, steps=3, attempt=2),  # step 4 was not logged
            row("finish", 8.0, 2.0, -1),
        ]
    )
    assert found.total == pytest.approx(10.0)
    assert found.phases == pytest.approx(
        {"start": 2.0, "rendezvous": 0.75, "load": 0.25, "step": 4.0, "finish": 2.0}
    )
    assert found.lost_work == 2.5
    assert found.unexplained == pytest.approx(1.0)
    assert found.unexplained_share == pytest.approx(0.1)


def test_an_empty_log_has_no_time() -> None:
    assert account([]).unexplained_share == 0.0
