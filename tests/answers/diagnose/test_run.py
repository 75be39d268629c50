"""A training run against its own plan: figures, verdict, the flags that differ, where time went."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from artery.answers.diagnose import diagnose
from artery.answers.diagnose.run import RunHeld
from artery.answers.plan import plan
from artery.cli import main
from artery.errors import InputError, UsageError
from tests.formats.readings import FIXTURES
from tests.report.test_schemas import schema

SCRIPT = str(FIXTURES / "megatron-args/launch.sh")
ON = "dgx-a100:1024"
AS_LAUNCHED = {
    "tp": 8, "pp": 16, "dp": 8, "micro_batch": 1, "global_batch": 1536, "seq": 2048, "zero": 1,
    "vpp": 1, "cp": 1, "recompute": "none", "dtype": "bf16", "sequence_parallel": True,
    "framework": "megatron-core",
}  # fmt: skip
"""What the script says (tests of its reader)."""


def expected() -> float:
    answer = plan(SCRIPT, ON, explained=False, **AS_LAUNCHED)  # type: ignore[arg-type]
    return float(answer.plans[0].time.root.value)


def log(folder: Path, seconds: float, *, flops: float | None = None) -> str:
    cell = "" if flops is None else f" throughput per GPU (TFLOP/s/GPU): {flops / 1e12:.2f} |"
    lines = [
        f" iteration {step}/ 500 | consumed samples: {1536 * step} | elapsed time per iteration "
        f"(ms): {1000 * seconds:.1f} |{cell} global batch size: 1536 | lm loss: 2.0E+00 |"
        for step in range(1, 11)
    ]
    file = folder / "train.log"
    file.write_text("\n".join(lines) + "\n", "utf-8")
    return str(file)


def held(*paths: str, **options: object) -> RunHeld:
    answer = diagnose(*paths, on=ON, plan_from=SCRIPT, **options)  # type: ignore[arg-type]
    assert answer.run is not None
    return answer.run


@pytest.mark.parametrize(
    ("factor", "verdict", "whole"),
    [(1.0, "as_planned", "healthy"), (1.5, "slower", "degraded"), (0.3, "faster", "unknown")],
)
def test_the_step_is_held_against_what_plan_says(
    factor: float, verdict: str, whole: str, tmp_path: Path
) -> None:
    step = expected()
    answer = diagnose(log(tmp_path, factor * step), on=ON, plan_from=SCRIPT)
    run = answer.run
    assert run is not None
    assert (run.verdict, answer.diagnosis.verdict) == (verdict, whole)
    assert run.step.expected == pytest.approx(step)
    assert run.step.ratio == pytest.approx(factor, rel=1e-3)
    assert sum(seconds for _, seconds in run.terms) == pytest.approx(step)


def model_flops(seconds: float) -> float:
    """Return FLOP/s a GPU of 96 layers of 12,288 at that time: Narayanan et al., SC 2021, eq. 3.

    96·B·s·l·h²·(1 + s/6h + V/16lh), of which a quarter is recomputation.
    """
    batch, length, layers, hidden, vocabulary, chips = 1536, 2048, 96, 12288, 51200, 1024
    more = 1 + length / (6 * hidden) + vocabulary / (16 * layers * hidden)
    return 72 * batch * length * layers * hidden**2 * more / seconds / chips


def test_flops_that_do_not_follow_from_the_time_of_a_step_are_a_contradiction(
    tmp_path: Path,
) -> None:
    seconds = expected()
    right = held(log(tmp_path, seconds, flops=model_flops(seconds)))
    assert right.verdict == "as_planned"
    assert not right.contradictions
    answer = diagnose(
        log(tmp_path, seconds, flops=2 * model_flops(seconds)), on=ON, plan_from=SCRIPT
    )
    assert answer.run is not None
    assert answer.run.verdict == "contradicts"
    (one,) = answer.run.contradictions
    assert one.name == "flop_per_s_per_chip"
    assert one.follows == pytest.approx(model_flops(seconds), rel=0.1)
    assert answer.diagnosis.verdict == "unknown"
    assert [fact.fact for fact in answer.diagnosis.missing] == ["step"]


def test_a_script_among_the_files_is_the_plan_of_the_log(tmp_path: Path) -> None:
    answer = diagnose(log(tmp_path, expected()), SCRIPT, on=ON)
    assert answer.run is not None
    assert answer.run.verdict == "as_planned"


def test_a_log_alone_asks_for_its_plan(tmp_path: Path) -> None:
    found = diagnose(log(tmp_path, 20.0)).diagnosis
    assert found.verdict == "unknown"
    assert [fact.fact for fact in found.missing] == ["plan"]


@pytest.mark.parametrize(
    ("without", "missing"),
    [
        (("--vocab-size 50257",), ["vocab_size"]),
        (("--vocab-size 50257", "--hidden-size 12288"), ["hidden_size", "vocab_size"]),
    ],
)
def test_a_script_without_a_size_of_the_model_says_which(
    without: tuple[str, ...], missing: list[str], tmp_path: Path
) -> None:
    text = Path(SCRIPT).read_text("utf-8")
    for one in without:
        assert one in text
        text = text.replace(one, "")
    script = tmp_path / "run.sh"
    script.write_text(text, "utf-8")
    with pytest.raises(InputError) as caught:
        diagnose(log(tmp_path, 20.0), on=ON, plan_from=str(script))
    assert [one.field for one in caught.value.problems] == missing
    assert "--vocab-size" in caught.value.problems[-1].fix


def test_flops_a_chip_are_those_of_the_model(tmp_path: Path) -> None:
    """The peak of an A100 in bf16 is 312 TFLOP/s (its datasheet, dense)."""
    run = held(log(tmp_path, 20.0, flops=150e12))
    (flops,) = [one for one in run.compared if one.name == "flop_per_s_per_chip"]
    assert flops.measured == pytest.approx(150e12)
    assert flops.expected == pytest.approx(run.given.mfu * 312e12)


def test_the_flags_that_differ_from_the_best_plan(tmp_path: Path) -> None:
    """Of 16 stages with 192 micro-batches the bubble is 15/192; fewer stages wait less."""
    run = held(log(tmp_path, 24.0))
    assert run.best is not None
    assert run.best.time.root.value < run.given.time.root.value
    told = {one.flag: one for one in run.differs}
    assert told["pp"].given == "16"
    for one in run.differs:
        assert one.best == str(getattr(run.best.plan, one.flag))
    fewer = told["pp"]
    alone = {**AS_LAUNCHED, "pp": int(fewer.best)}
    alone.pop("dp")
    right = plan(SCRIPT, ON, explained=False, **alone).plans[0]  # type: ignore[arg-type]
    assert fewer.alone == pytest.approx(right.time.root.value)


def test_a_trace_says_where_the_time_went(tmp_path: Path) -> None:
    """The trace: 0.06 ms computing and 0.03 communicating alone, of 0.1."""
    run = held(log(tmp_path, 24.0), str(FIXTURES / "kineto/small.json"))
    shares = {one.name: one for one in run.compared if one.name.endswith("_share")}
    assert shares["compute_share"].measured == pytest.approx(0.6)
    assert shares["exposed_communication_share"].measured == pytest.approx(0.3)
    assert sum(one.expected for one in shares.values()) == pytest.approx(1.0)


def test_what_is_missing_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="give its training log"):
        diagnose(str(FIXTURES / "nccl-tests/results.csv"), on=ON, plan_from=SCRIPT)
    with pytest.raises(UsageError, match="add --on"):
        diagnose(log(tmp_path, 20.0), plan_from=SCRIPT)
    config = str(FIXTURES / "deepspeed-config/stage3.json")
    with pytest.raises(UsageError, match="add --model"):
        diagnose(log(tmp_path, 20.0), on=ON, plan_from=config)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_on_the_command_line(
    language: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["diagnose", log(tmp_path, 40.0), "--from", SCRIPT, "--on", ON]
    assert main([*asked, "--lang", language]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert {"en": "slower than the plan says", "zh": "比计划慢"}[language] in out
    assert "--pp 16 ->" in out
    assert main([*asked, "--json", "--anonymise"]) == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, schema("diagnose"))
    assert document["run"]["verdict"] == "slower"
