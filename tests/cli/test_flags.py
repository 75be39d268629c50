from __future__ import annotations

import json
from pathlib import Path

import pytest

from artery.cli import main
from artery.cli.flags import Request, request
from artery.errors import UsageError
from artery.report.plan.payload import plan_payload
from artery.report.writing.json import document
from tests import factories


@pytest.fixture
def saved(tmp_path: Path) -> str:
    path = tmp_path / "plan.json"
    asked = {"model": "toy-70b", "on": "toy-pod:64", "tokens": 5}
    path.write_text(document("plan", plan_payload(factories.answer(), asked)), encoding="utf-8")
    return str(path)


def test_flags_that_are_not_given_are_left_out() -> None:
    asked = request("m", "s", None, {"tp": 8, "pp": None, "overrides": (), "overlap": None})
    assert asked.options == {"tp": 8}


def test_no_overlap_is_something_else_than_overlap_not_given() -> None:
    assert request("m", "s", None, {"overlap": ()}).options == {"overlap": ()}


def test_flags_replace_what_a_saved_plan_says(saved: str) -> None:
    asked = request(None, "other:64", saved, {"tp": 2, "dp": 8})
    assert (asked.model, asked.on) == ("toy-70b", "other:64")
    assert (asked.options["tp"], asked.options["dp"], asked.options["pp"]) == (2, 8, 4)


@pytest.mark.parametrize("flags", [{"tp": 2}, {"pp": 2}, {"cp": 2}, {"micro_batch": 2}])
def test_the_saved_data_parallel_degree_follows_the_others(
    saved: str, flags: dict[str, object]
) -> None:
    asked = request(None, None, saved, flags)
    assert ("dp" in asked.options) == ("micro_batch" in flags)
    assert "dp" not in request(None, "other:64", saved, {}).options
    assert request(None, "other:64", saved, {"dp": 2}).options["dp"] == 2


def test_what_is_typed_beside_a_saved_plan_is_typed_again(saved: str) -> None:
    assert request(None, None, saved, {"tp": 2}).typed() == f"--from {saved} --tp 2"
    assert request(None, "s:8", saved, {}).typed() == f"--from {saved} --on s:8"
    assert request("m", "s", saved, {"tp": 2}).typed().startswith("m --on s --tp 2 --pp 4")


@pytest.mark.parametrize(("model", "on", "missing"), [(None, "s", "MODEL"), ("m", None, "--on")])
def test_a_model_and_a_system_are_needed(model: str | None, on: str | None, missing: str) -> None:
    with pytest.raises(UsageError, match=missing):
        request(model, on, None, {})


def test_a_request_can_be_typed_again() -> None:
    options = {
        "tp": 8,
        "sequence_parallel": False,
        "overlap": ("dp", "tp"),
        "overrides": ("chip.memory.bandwidth=4 TB/s", "node.chips=4"),
        "tokens": 10,
        "global_batch": 64,
    }
    assert Request("my model", "s:8", options).typed() == (
        "'my model' --on s:8 --tp 8 --no-sequence-parallel --overlap dp,tp "
        "--set 'chip.memory.bandwidth=4 TB/s' --set node.chips=4 --global-batch 64"
    )
    assert Request("m", "s", {"overlap": ()}).typed() == "m --on s --overlap none"
    assert Request("m", "s", {}, saved="plan.json").typed() == "--from plan.json"


def test_the_document_keeps_the_request_as_keyword_arguments() -> None:
    kept = json.loads(document("plan", Request("m", "s", {"overlap": ("dp",)}).document()))
    assert kept == {"schema": "artery.plan/1", "model": "m", "on": "s", "overlap": ["dp"]}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--tp", "0"], "from 1 to"),
        (["--tp", "1e30"], "from 1 to"),
        (["--tp", "-1"], "from 1 to"),
        (["--tp", "²"], "from 1 to"),
        (["--tp", "9" * 30], "from 1 to"),
        (["--tp", "8.5"], "whole number"),
        (["--zero", "4"], "'0', '1', '2', '3'"),
        (["--overlap", "dp,tx"], '"tx" must be none or some of dp, tp, pp, cp, ep'),
        (["--network", "measured"], "'closed', 'simulate'"),
        (["--task", "inference"], "leave it out to plan training"),
        (["--recompute", "all"], "'selective'"),
        (["--tokens", "many"], "15T"),
        (["--set", "bandwidth"], "PATH=VALUE"),
        (["--tpp", "8"], "--tp"),
    ],
)
@pytest.mark.parametrize("command", ["plan", "explain", "scale"])
def test_wrong_flags_are_usage_errors_that_say_what_would_do(
    command: str, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, "gpt2", "--on", "dgx-h100:8", *arguments]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("counts", ["", "0", "a", "8,,16", "1e3", "-8", "99999999999", "²"])
def test_counts_of_chips_that_are_none(counts: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scale", "gpt2", "--on", "dgx-h100", "--chips", counts]) == 2
    assert "for example 1,8,64" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["plan", "explain", "scale", "tour"])
def test_help_opens_with_examples_one_a_line(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    examples = lines.index("  Examples:")
    assert lines[examples + 1].startswith(f"    artery {command}")
    assert lines[examples + 2].startswith(f"    artery {command}")
    assert examples < 8


def test_scale_says_by_its_exit_code_that_no_size_fits(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scale", "llama3-405b", "--on", "rtx3090x2", "--chips", "1,2"]) == 4
    assert "memory" in capsys.readouterr().out
