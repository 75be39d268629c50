"""What artery goodput refuses on its command line, and with which code."""

from __future__ import annotations

from pathlib import Path

import pytest

from artery.cli import main

HERE = ["goodput", "gpt2", "--on", "dgx-h100:16"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--age", "3d", "--domain-nodes", "2"], ["--young-factor", "--domain-failures"]),
        (["--checkpoint", "tape,disk", "--rate", "none"], ["tape", "disk", "shared", '"none"']),
        (["--lemon-nodes", "3", "--young-factor", "0"], ["--lemon-nodes", "--young-factor"]),
        (["--time-zone", "UTC"], ["--log"]),
    ],
)
def test_all_wrong_flags_are_said_at_once_as_wrong_usage(
    arguments: list[str], said: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*HERE, *arguments]) == 2
    shown = capsys.readouterr().err
    assert all(word in shown for word in said)


def test_a_wrong_zone_is_wrong_usage_and_a_wrong_file_wrong_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "sacct.txt"
    row = "r|COMPLETED|2026-03-03T09:00:00|2026-03-03T09:10:00|2026-03-03T09:20:00"
    table.write_text(f"JobID|JobName|State|Submit|Start|End\n1|{row}\n", encoding="utf-8")
    assert main(["goodput", "--log", str(table), "--time-zone", "Mars"]) == 2
    assert "time_zone" in capsys.readouterr().err
    with table.open("a", encoding="utf-8") as file:
        file.write(f"2|another-{row}\n")
    assert main(["goodput", "--log", str(table)]) == 3
    assert "jobs of 2 names" in capsys.readouterr().err


def test_a_job_that_never_ends_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*HERE, "--node-failures-per-1000-days", "1e9"]) == 0
    assert "such a job never ends" in " ".join(capsys.readouterr().out.split())


def test_flags_of_a_prediction_are_refused_beside_logs_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "phases.jsonl"
    row = '{"schema": "artery.phases/1", "ts": 1790000000, "seconds": 1, "rank": 0, "phase": '
    log.write_text(f'{row}"step", "step": 1}}\n', encoding="utf-8")
    flags = ["--tokens", "1T", "--interval", "10min", "--rate", "rsc-2"]
    assert main(["goodput", "--log", str(log), *flags]) == 2
    shown = capsys.readouterr().err
    assert all(flag in shown for flag in flags[::2])
    assert main(["goodput", "--log", str(log), "--lang", "en"]) == 0
