from __future__ import annotations

import json
from pathlib import Path

import pytest

from artery.cli import main

PLAN = ["--tp", "1", "--pp", "1", "--cp", "1", "--dp", "16", "--micro-batch", "4"]


def asked(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    assert main(["goodput", *arguments, "--json"]) == 0
    document: dict[str, object] = json.loads(capsys.readouterr().out)
    return document


def test_times_and_rates_take_units(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--save-time", "30s", "--restart-time", "10min", "--interval", "1h", "--blocking-save",
             "--store-bandwidth", "2 TB/s", "--repair-time", "1d"]  # fmt: skip
    found = asked(capsys, "gpt2", "--on", "dgx-h100:16", *PLAN, *given)
    request = found["request"]
    assert isinstance(request, dict)
    assert (request["save_time"], request["restart_time"], request["interval"]) == (30, 600, 3600)
    assert (request["store_bandwidth"], request["repair_time"]) == (2e12, 86400)
    assert found["checkpoint_interval_s"] == 3600
    assert found["restart_s"] == 600


def test_the_request_has_only_what_was_given(capsys: pytest.CaptureFixture[str]) -> None:
    found = asked(capsys, "gpt2", "--on", "dgx-h100:16", *PLAN)
    request = found["request"]
    assert isinstance(request, dict)
    assert request.keys() == {"model", "on", "tp", "pp", "cp", "dp", "micro_batch"}


def test_a_saved_plan_is_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "plan.json")
    assert main(["plan", "gpt2", "--on", "dgx-h100:16", *PLAN, "--json", "-o", path]) == 0
    found = asked(capsys, "--from", path, "--rate", "llama-3")
    assert found["model"] == "gpt2"
    assert found["mtbf_s"] == pytest.approx(54 * 86400 * 2048 / 419 / 2, rel=0.05)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--rate", "rsc"], 2, "did you mean"),
        (["--checkpoint", "tape,shared"], 2, "known: memory, local, shared"),
        (["--checkpoint", "memory,shared"], 2, "needs a second node"),
        (["--save-time", "30"], 2, "needs a unit"),
        (["--spare-risk", "2"], 2, "--spare-risk"),
        (["--node-failures-per-1000-days", "-1"], 2, "--node-failures-per-1000-days"),
        (["--node-failures-per-1000-days", "nan"], 2, "node_failures_per_1000_days"),
        (["--set", "chip.\u00b2=3"], 3, "--set"),
        (["--set", f"chip.{'9' * 5000}=3"], 3, "--set"),
        (["--node-failures-per-1000-days", "1e300"], 2, "0 or more, at most 1e+15"),
    ],
)
def test_what_is_wrong_is_said_with_the_fix(
    arguments: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["goodput", "gpt2", "--on", "dgx-h100:8", *arguments]) == code
    assert said in capsys.readouterr().err


def test_a_restart_that_takes_no_time_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["gpt2", "--on", "dgx-h100:16", *PLAN, "--restart-time", "0s", "--lang", "en"]
    assert main(["goodput", *arguments]) == 0
    assert "a restart after the loss of a node" in capsys.readouterr().out


def test_a_plan_that_does_not_fit_ends_with_four(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["goodput", "llama3-405b", "--on", "dgx-h100:8"]) == 4
    assert "does not fit in memory" in capsys.readouterr().out
