"""``artery plan``, ``explain`` and ``scale`` as typed, on the catalog's own models and systems."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from artery.cli import main

JOB = ["llama3-8b", "--on", "dgx-h100:16"]


def run(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert main(list(arguments)) == code
    return capsys.readouterr().out


def answer(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(run(capsys, *arguments, "--json", code=code))
    return loaded


@pytest.fixture
def saved(tmp_path: Path) -> str:
    path = str(tmp_path / "plan.json")
    assert main(["plan", *JOB, "--tokens", "1T", "--json", "-o", path]) == 0
    return path


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_answer_fits_the_terminal_and_ends_with_what_to_ask_next(
    language: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = run(capsys, "plan", *JOB, "--top", "3", "--tokens", "1T", "--lang", language)
    assert max(map(cell_len, lines.splitlines())) <= 80
    assert "\x1b" not in lines
    assert "artery plan llama3-8b --on dgx-h100:16 --json" in lines.splitlines()[-1]


def test_the_breakdown_sums_to_the_step(capsys: pytest.CaptureFixture[str]) -> None:
    for result in answer(capsys, "plan", *JOB, "--top", "5")["plans"]:
        assert sum(result["breakdown_s"].values()) == pytest.approx(result["step_time_s"])
        assert result["step_time_low_s"] <= result["step_time_s"] <= result["step_time_high_s"]
        held = [v for k, v in result["memory"].items() if k[:-6] in HELD]
        assert sum(held) == pytest.approx(result["memory"]["total_bytes"])


HELD = ("weights", "gradients", "optimizer", "activations", "other")


def test_the_factors_of_a_plan_are_the_chips(capsys: pytest.CaptureFixture[str]) -> None:
    for result in answer(capsys, "plan", *JOB, "--top", "20")["plans"]:
        plan = result["parallelism"]
        assert plan["tp"] * plan["pp"] * plan["cp"] * plan["dp"] == plan["chips"] == 16


def test_what_is_given_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--tp", "4", "--pp", "2", "--micro-batch", "2", "--recompute", "full", "--zero", "0"]
    plan = answer(capsys, "plan", *JOB, *given)["plans"][0]["parallelism"]
    assert (plan["tp"], plan["pp"], plan["micro_batch"], plan["zero"]) == (4, 2, 2, 0)
    assert plan["recompute"] == "full"


def test_the_run_is_the_steps_times_the_step(capsys: pytest.CaptureFixture[str]) -> None:
    best = answer(capsys, "plan", *JOB, "--tokens", "1T")["plans"][0]
    rows = best["parallelism"]["global_batch"] * best["parallelism"]["sequence"]
    assert best["run"]["tokens"] == 1e12
    assert best["run"]["steps"] == -(-(10**12) // rows)
    assert best["run"]["seconds"] == pytest.approx(best["run"]["steps"] * best["step_time_s"])


def test_what_does_not_fit_is_answered_and_ends_in_4(capsys: pytest.CaptureFixture[str]) -> None:
    big = ["gpt3-175b", "--on", "dgx-h100:8"]
    found = answer(capsys, "plan", *big, code=4)
    assert found["fitting"] == 0
    assert found["plans"][0]["memory"]["fits"] == "no"
    assert "Nothing fits" in run(capsys, "plan", *big, code=4)


def test_a_saved_plan_gives_the_same_answer_again(
    saved: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = json.loads(Path(saved).read_text(encoding="utf-8"))
    again = answer(capsys, "plan", "--from", saved)
    assert again["plans"][0]["parallelism"] == before["plans"][0]["parallelism"]
    assert again["plans"][0]["step_time_s"] == before["plans"][0]["step_time_s"]
    assert again["plans"][0]["run"] == before["plans"][0]["run"]


def test_a_saved_plan_can_be_changed(saved: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = json.loads(Path(saved).read_text(encoding="utf-8"))["plans"][0]["parallelism"]
    changed = answer(capsys, "plan", "--from", saved, "--recompute", "full")["plans"][0]
    assert changed["parallelism"] == {**before, "recompute": "full"}


def test_a_trace_is_as_long_as_the_step(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "step.json"
    given = ["--pp", "4", "--tp", "2", "--trace", str(path)]
    step = answer(capsys, "plan", *JOB, *given)["plans"][0]["step_time_s"]
    events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    end = max(event["ts"] + event["dur"] for event in events if event["ph"] == "X")
    assert end / 1e6 == pytest.approx(step, rel=0.01)
    assert {event["pid"] for event in events} == {0, 1, 2, 3}


def test_a_terms_value_is_that_of_the_plan(capsys: pytest.CaptureFixture[str]) -> None:
    best = answer(capsys, "plan", *JOB)["plans"][0]
    paths = ["step", "step.compute", "memory.weights"]
    terms = {term["path"]: term for term in answer(capsys, "explain", *JOB, *paths)["terms"]}
    assert terms["step"]["value"] == pytest.approx(best["step_time_s"])
    assert terms["step.compute"]["value"] == pytest.approx(best["breakdown_s"]["compute"])
    assert terms["memory.weights"]["value"] == pytest.approx(best["memory"]["weights_bytes"])
    assert terms["memory.weights"]["unit"] == "B"


def test_every_term_can_be_opened_and_says_how(capsys: pytest.CaptureFixture[str]) -> None:
    pending, seen = ["step", "memory"], set()
    while pending:
        terms = answer(capsys, "explain", *JOB, *pending)["terms"]
        seen |= set(pending)
        assert all(term["formula"] for term in terms)
        pending = [path for term in terms for path in term["children"] if path not in seen]
    assert {"step.tp", "step.dp", "step.bubble", "memory.activations"} <= seen


def test_a_saved_plan_is_explained(saved: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = json.loads(Path(saved).read_text(encoding="utf-8"))["plans"][0]
    (term,) = answer(capsys, "explain", "--from", saved, "step.dp")["terms"]
    assert term["value"] == pytest.approx(before["breakdown_s"]["dp"])


def test_an_unknown_term_is_answered_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", *JOB, "step.bublle"]) == 3
    assert 'did you mean "step.bubble"' in capsys.readouterr().err


def test_scaling_on_the_catalog(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "scale", "llama3-8b", "--on", "dgx-h100", "--chips", "1,8,64")
    strong = [point for point in found["points"] if point["mode"] == "strong"]
    assert [point["chips"] for point in strong] == [1, 8, 64]
    assert strong[0]["breaks"] == "memory"  # 8 billion parameters at 16 bytes: 128 GB
    assert found["reference_chips"]["strong"] == 8
    assert 1 < strong[2]["speedup"] < 8 * 1.2


def test_a_model_from_a_folder_and_a_system_by_chip(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = {
        "model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_layer": 2, "n_head": 2,
        "n_embd": 64, "n_positions": 128, "vocab_size": 512,
    }  # fmt: skip
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    found = answer(capsys, "plan", str(tmp_path), "--on", "h100-sxm", "--global-batch", "4")
    assert found["system"]["chips"] == 1
    assert found["plans"][0]["memory"]["fits"] == "yes"
