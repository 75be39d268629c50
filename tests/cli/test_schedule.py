"""``artery schedule`` on the command line: the drawing, timelines, interruptions."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from artery.cli import main

FIXTURES = Path(__file__).parents[1] / "fixtures"
JOBS = str(FIXTURES / "jobtrace-artery/jobs.csv")


def test_the_drawing_in_both_languages(capsys: pytest.CaptureFixture[str]) -> None:
    call = ["schedule", JOBS, "--on", "dgx-h100:64", "--size-for", "p90-queue=1min"]
    assert main([*call, "--lang", "en"]) == 0
    english = capsys.readouterr().out
    for word in ("mean queue", "where chip-time goes", "chips needed", "elastic-backfill", "next"):
        assert word in english
    assert main([*call, "--lang", "zh"]) == 0
    assert "平均排队" in capsys.readouterr().out


def test_pools_and_spot_are_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schedule", JOBS, "--on", "dgx-h100:64", "--serve", "chips=2,peak=4"]) == 0
    assert "a pool of its own takes 8" in capsys.readouterr().out
    spot = str(FIXTURES / "jobtrace-aws-spot/made-up.csv")
    assert main(["schedule", spot, "--on", "ethernet-10g:8", "--model", "resnet50"]) == 0
    assert "fixed, best size" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["line.csv", "line.json", "line.trace.json"])
def test_timelines(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / name
    call = ["schedule", JOBS, "--on", "dgx-h100:32", "--policy", "fifo", "--timeline", str(path)]
    assert main(call) == 0
    capsys.readouterr()
    text = path.read_text()
    if name.endswith(".csv"):
        rows: list[Any] = list(csv.DictReader(text.splitlines()))
    elif name == "line.json":
        rows = json.loads(text)
    else:
        rows = [
            {"job": e["name"], "what": e["cat"], "lane": e["tid"], "start_s": e["ts"] / 1e6,
             "end_s": (e["ts"] + e["dur"]) / 1e6}
            for e in json.loads(text)["traceEvents"]
            if e["ph"] == "X"
        ]  # fmt: skip
        lanes: dict[int, float] = {}
        for row in sorted(rows, key=lambda row: float(row["start_s"])):
            assert row["start_s"] >= lanes.get(row["lane"], 0.0)
            lanes[row["lane"]] = row["end_s"]
    runs = [row for row in rows if row["what"] == "run"]
    times = [(row["job"], float(row["start_s"]), float(row["end_s"])) for row in runs]
    # a and b run at once on 4 nodes; c needs all of them.
    assert sorted(times) == [("a", 0, 3600), ("b", 60, 1860), ("c", 3600, 4200)]


def test_two_outputs_in_one_place_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "x.json")
    assert main(["schedule", JOBS, "--on", "dgx-h100:64", "--timeline", path, "-o", path]) == 2
    assert "both write" in capsys.readouterr().err


def test_an_interruption_ends_with_130_and_says_how_far_it_was(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import artery.answers.schedule as answers

    def interrupted(*_: object, progress: Any, **__: object) -> None:
        progress("fifo", 1200, 5000, 3 * 86400.0)
        raise KeyboardInterrupt

    monkeypatch.setattr(answers, "schedule", interrupted)
    assert main(["schedule", JOBS, "--on", "dgx-h100:64"]) == 130
    assert "stopped at fifo: 1,200 of 5,000 jobs done, day 3.0" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--window", "3d"], 2),
        (["--policy", "first"], 2),
        (["--elastic", "2"], 2),
        (["--maintenance", "soon"], 2),
        (["--timeline", "fleet.txt"], 2),
        (["--model", "gpt2", "--tp", "64"], 2),
        (["--spot", "missing.csv"], 3),
    ],
)
def test_what_cannot_be(
    arguments: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["schedule", JOBS, "--on", "dgx-h100:64", *arguments]) == code
    assert "Traceback" not in capsys.readouterr().err


def test_every_bad_flag_is_said_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--elastic", "2", "--jobs", "0", "--max-wait", "soon", "--seed", "-1"]
    assert main(["schedule", JOBS, "--on", "dgx-h100:64", *flags]) == 2
    said = capsys.readouterr().err
    assert all(f"'{flag}'" in said for flag in flags[::2])
    assert "4 problems" in said


def test_policies_is_the_name_of_the_flag_and_policy_a_short_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shown = []
    for flag in ("--policies", "--policy"):
        assert main(["schedule", JOBS, "--on", "dgx-h100:64", flag, "fifo", "--json"]) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1]


def test_a_model_that_fits_no_number_of_instances_ends_with_4(
    capsys: pytest.CaptureFixture[str],
) -> None:
    spot = str(FIXTURES / "jobtrace-aws-spot/made-up.csv")
    call = ["schedule", spot, "--on", "ethernet-10g:8", "--model", "gpt3-175b"]
    assert main(call) == 4
    assert "fits no size" in " ".join(capsys.readouterr().out.split())
    assert main([*call, "--policy", "fifo"]) == 2


def test_names_go_on_in_a_next_line_and_loads_past_all_are_told_as_times(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spot = str(FIXTURES / "jobtrace-aws-spot/made-up.csv")
    assert main(["schedule", spot, "--on", "ethernet-10g:8", "--model", "resnet50"]) == 0
    assert "…" not in capsys.readouterr().out
    jobs = tmp_path / "jobs.csv"
    jobs.write_text("submit,run,chips\n0,3600,8\n10,3600,8\n")
    assert main(["schedule", str(jobs), "--on", "dgx-h100:64", "--policy", "fifo"]) == 0
    assert "2 jobs, which ask for 90 times the chips' time" in capsys.readouterr().out
