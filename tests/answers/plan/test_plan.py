"""``plan``: searched, given, partly given, impossible, too big; every kind of model."""

from __future__ import annotations

import json
import subprocess
import sys
from math import ceil
from pathlib import Path
from typing import Any

import pytest

import artery
from artery.answers.plan import plan
from artery.answers.plan.result import PlanAnswer, PlanResult
from artery.catalog import model, system
from artery.core.plan import Plan
from artery.errors import InputError, UnknownNameError, UsageError
from artery.step import PARTS
from artery.step.legality import problems
from tests.formats.hf_config.configs import COUNTED

WHOLE: dict[str, Any] = {
    "tp": 2, "pp": 2, "vpp": 1, "cp": 1, "ep": 1, "etp": 1, "dp": 4, "dp_replicate": 1, "zero": 1,
    "micro_batch": 1, "global_batch": 64, "recompute": "none", "sequence_parallel": True,
}  # fmt: skip


def best(name: str, on: str, **options: Any) -> PlanResult:
    return plan(name, on, **options).plans[0]


def check(answer: PlanAnswer) -> None:
    """What holds for every answer."""
    assert answer.plans
    assert answer.fitting <= answer.searched
    for result in answer.plans:
        step = result.time.root
        assert problems(answer.workload, result.plan) == ()
        assert result.plan.chips == answer.system.chips
        assert [part.name for part in step.children] == list(PARTS)
        assert sum(part.value for part in step.children) == pytest.approx(step.value)
        assert step.low < step.value < step.high
        room = result.memory.root
        assert sum(kind.value for kind in room.children) == pytest.approx(room.value)
        assert 0 < result.mfu <= result.hfu < 1
        assert result.limited_by
        assert result.samples_per_s == pytest.approx(result.plan.global_batch / step.value)


SYSTEMS = ("dgx-h100:16", "gb200-nvl72:64", "tpu-v4-pod:64", "ethernet-10g:8", "dgx-1v",
           "rtx3090x2", "h100-sxm")  # fmt: skip
MODELS = ("gpt2", "mixtral-8x7b", "resnet50", "alexnet", "bert-large", "t5-11b", "vit-l-16",
          "mlp-mnist")  # fmt: skip


@pytest.mark.parametrize("on", SYSTEMS)
@pytest.mark.parametrize("name", MODELS)
def test_every_kind_of_model_on_every_kind_of_system(name: str, on: str) -> None:
    answer = plan(name, on, explained=False)
    check(answer)
    result = answer.plans[0]
    if answer.fitting:
        assert result.memory.root.value <= result.capacity
    else:
        assert result.fits != "yes"
    assert (result.tokens_per_s is None) == (answer.workload.row_kind != "token")


def test_a_batch_that_keeps_chips_from_being_data_parallel_is_said() -> None:
    """Ten chips do not divide the published batch of 256; 32 samples for each are 320."""
    on = str(Path(__file__).parents[2] / "fixtures" / "systems" / "four-and-six.toml")
    poor = plan("resnet50", on)
    (said,) = [one for one in poor.warnings if "no multiple of 10 chips" in one]
    assert "--global-batch 320" in said
    wider = plan("resnet50", on, global_batch=320)
    assert wider.plans[0].samples_per_s > 1.05 * poor.plans[0].samples_per_s
    assert not any("no multiple" in one for one in wider.warnings)
    assert not any("no multiple" in one for one in plan("resnet50", "dgx-h100:8").warnings)


def test_a_searched_plan_is_no_slower_than_one_that_is_given() -> None:
    searched = best("llama3-8b", "dgx-h100:16", global_batch=64)
    given = plan("llama3-8b", "dgx-h100:16", **WHOLE)
    assert given.given
    assert given.searched == 1
    assert given.plans[0].plan == Plan(
        tp=2, pp=2, dp=4, zero=1, global_batch=64, sequence=8192, sequence_parallel=True,
        attention="flash3",
    )  # fmt: skip
    slower = given.plans[0].time.root.value
    assert searched.time.root.value * searched.penalty <= slower * given.plans[0].penalty


def test_what_is_given_is_kept_and_the_rest_is_searched() -> None:
    answer = plan("llama3-8b", "dgx-h100:16", tp=4, zero=3, top=3)
    assert not answer.given
    assert {(result.plan.tp, result.plan.zero) for result in answer.plans} == {(4, 3)}
    assert len(answer.plans) == 3
    check(answer)


def test_more_plans_come_best_first_and_only_the_first_is_explained() -> None:
    answer = plan("gpt2", "dgx-h100:16", top=10)
    ranked = [result.time.root.value * result.penalty for result in answer.plans]
    assert ranked == sorted(ranked)
    assert len({result.plan for result in answer.plans}) == 10
    assert answer.plans[0].levers
    assert all(result.levers == () for result in answer.plans[1:])
    assert plan("gpt2", "dgx-h100:16", top=1).plans[0] == answer.plans[0]


def test_what_does_not_fit_is_an_answer() -> None:
    answer = plan("llama3-70b", "dgx-h100:8", micro_batch=2, top=2)
    assert answer.fitting == 0
    first, second = answer.plans
    assert first.fits == "no"
    assert first.capacity < first.memory.root.value <= second.memory.root.value
    assert any("nothing fits" in text for text in answer.warnings)


def test_at_the_limit_is_said() -> None:
    answer = plan("llama3-8b", "ethernet-10g:8")
    assert answer.plans[0].fits == "at_limit"
    assert any("may or may not fit" in text for text in answer.warnings)


def fields(name: str, on: str, **options: Any) -> list[str | None]:
    with pytest.raises(InputError) as caught:
        plan(name, on, **options)
    assert all(problem.rule and problem.fix for problem in caught.value.problems)
    return [problem.field for problem in caught.value.problems]


def test_everything_that_is_wrong_with_a_plan_is_said_at_once() -> None:
    wrong = {**WHOLE, "tp": 3, "dp": 4, "ep": 2, "dp_replicate": 3, "micro_batch": 7}
    assert set(fields("llama3-8b", "dgx-h100:16", **wrong)) == {
        "tp·pp·cp·dp", "global_batch", "tp", "ep", "dp_replicate",
    }  # fmt: skip


def test_degrees_that_do_not_make_the_chips() -> None:
    assert fields("llama3-8b", "dgx-h100:16", tp=4, dp=3) == ["tp·dp"]
    assert fields("llama3-8b", "dgx-h100:16", tp=2, pp=2, cp=2, dp=4) == ["tp·pp·cp·dp"]


def test_a_batch_that_the_chips_cannot_share() -> None:
    assert fields("resnet50", "dgx-h100:8", pp=1, global_batch=7) == ["global_batch"]


def test_unknown_names_come_together() -> None:
    with pytest.raises(InputError) as caught:
        plan("lama3-8b", "dgx-h1000")
    first, second = caught.value.problems
    assert "llama3-8b" in first.fix
    assert "dgx-h100" in second.fix
    with pytest.raises(UnknownNameError, match="did you mean"):
        plan("lama3-8b", "dgx-h100")
    with pytest.raises(UnknownNameError, match="did you mean"):
        plan("llama3-8b", "dgx-h1000")


def test_no_plans_are_no_answer() -> None:
    with pytest.raises(UsageError, match="top"):
        plan("gpt2", "h100-sxm", top=0)


@pytest.mark.parametrize("name", ["clip", "mamba"])
def test_what_is_only_counted_is_refused_with_the_reason(name: str, tmp_path: Path) -> None:
    config = COUNTED[name][0]
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        plan(str(path), "dgx-h100:8")
    (problem,) = caught.value.problems
    assert problem.field == "model"
    assert problem.rule


def test_a_v100_trains_in_half_precision() -> None:
    result = best("gpt2", "dgx-1v")
    assert (result.plan.dtype, result.plan.attention) == ("fp16", "flash1")


def test_unknown_power_and_price_are_warnings_and_no_numbers() -> None:
    answer = plan("gpt2", "ethernet-10g:8", tokens=1e9)
    assert answer.system.chip_hour_price is None
    result = answer.plans[0]
    assert result.cost_per_hour is None
    assert result.run is not None
    assert result.run.cost is None
    assert any("price" in text and "unknown" in text for text in answer.warnings)
    lone = plan("gpt2", "h100-sxm")
    known = lone.system.node_power is not None and lone.system.chip.power is not None
    assert (lone.plans[0].energy_per_step is None) == (not known)
    assert any("power" in text for text in lone.warnings) == (not known)


def test_tokens_make_a_run() -> None:
    result = best("llama3-8b", "dgx-h100:16", tokens=15e12)
    step, run = result.time.root.value, result.run
    assert run is not None
    assert run.steps == ceil(15e12 / (result.plan.global_batch * 8192))
    assert run.seconds == pytest.approx(run.steps * step)
    place = system("dgx-h100:16")
    assert place.chip.power is not None
    assert place.node_power is not None
    watts = 16 * place.chip.power + 2 * place.node_power
    assert result.energy_per_step == pytest.approx(watts * step)
    assert run.energy == pytest.approx(watts * run.seconds)
    if place.chip_hour_price is not None:
        dollars = 16 * place.chip_hour_price * run.seconds / 3600
        assert run.cost == pytest.approx(dollars)
    assert best("llama3-8b", "dgx-h100:16").run is None


def test_utilisation_is_of_the_dtypes_peak() -> None:
    result = best("llama3-8b", "dgx-h100:16", **WHOLE)
    flop = 64 * 8192 * (6 * 7_504_658_432 + 12 * 32 * 8192 * 4096)
    # 7,504,658,432: all weights but the embedding, of which norms are 266,240.
    peak = 16 * model_peak("bf16")
    assert result.mfu == pytest.approx(flop / (result.time.root.value * peak), rel=1e-4)
    assert result.hfu == result.mfu
    full = best("llama3-8b", "dgx-h100:16", **{**WHOLE, "recompute": "full"})
    assert full.hfu / full.mfu == pytest.approx(4 / 3, rel=0.05)


def model_peak(dtype: str) -> float:
    return system("dgx-h100").chip.peaks[dtype]


def test_fp8_is_faster_and_its_utilisation_of_fp8() -> None:
    wide, narrow = (best("llama3-8b", "dgx-h100:16", **WHOLE, dtype=d) for d in ("bf16", "fp8"))
    speedup = wide.time.root.value / narrow.time.root.value
    assert 1 < speedup < 2
    assert narrow.mfu == pytest.approx(
        wide.mfu * speedup * model_peak("bf16") / model_peak("fp8"), rel=1e-9
    )


def test_overlap_none_exposes_everything() -> None:
    none, some, usual = (
        best("llama3-8b", "dgx-h100:16", **WHOLE, overlap=overlap)
        for overlap in ((), ("dp",), None)
    )
    parts = [{p.name: p.value for p in r.time.root.children} for r in (none, some, usual)]
    assert parts[0]["dp"] > parts[1]["dp"] == parts[2]["dp"]
    assert parts[0]["tp"] == parts[1]["tp"] > parts[2]["tp"]


def test_hybrid_sharding_and_context_parallelism_can_be_asked_for() -> None:
    hybrid = plan("llama3-8b", "dgx-h100:16", tp=1, pp=1, zero=3, dp_replicate=2, global_batch=64)
    check(hybrid)
    flat = plan("llama3-8b", "dgx-h100:16", tp=1, pp=1, zero=3, dp_replicate=1, global_batch=64)
    assert hybrid.plans[0].plan.dp_replicate == 2
    assert flat.plans[0].plan.dp_replicate == 1
    ringed = plan("llama3-8b", "dgx-h100:16", cp=4, seq=131072, global_batch=8)
    check(ringed)
    assert ringed.plans[0].plan.cp == 4
    assert ringed.plans[0].plan.sequence == 131072


def test_experts_are_spread_as_asked() -> None:
    answer = plan("mixtral-8x7b", "dgx-h100:32", ep=8)
    check(answer)
    assert answer.plans[0].plan.ep == 8
    parts = {part.name: part.value for part in answer.plans[0].time.root.children}
    assert parts["ep"] > 0


def test_worse_placement_is_never_faster() -> None:
    fixed = {**WHOLE, "tp": 8, "pp": 1, "dp": 2}
    packed, apart = (
        best("llama3-8b", "dgx-h100:16", **fixed, placement=placement)
        for placement in ("packed", "interleaved")
    )
    assert packed.time.root.value < apart.time.root.value


def test_an_override_reaches_the_plan() -> None:
    usual = best("llama3-8b", "dgx-h100:16", **WHOLE)
    slow = plan("llama3-8b", "dgx-h100:16", **WHOLE, overrides=("chip.peaks.bf16=100 TFLOP/s",))
    assert slow.system.chip.peaks["bf16"] == 100e12
    assert slow.plans[0].time.root.value > 3 * usual.time.root.value


def test_the_front_door_is_this_plan() -> None:
    assert artery.plan("gpt2", "h100-sxm").plans == plan("gpt2", "h100-sxm").plans


def test_a_partly_filled_last_node_is_said() -> None:
    answer = plan("gpt2", "dgx-h100:12", global_batch=12)
    check(answer)
    assert answer.system.nodes == 2
    assert any("node" in text for text in answer.warnings)


def test_the_models_notes_are_warnings() -> None:
    assert set(model("moe-10t").notes) <= set(plan("moe-10t", "dgx-h100:8", tp=8).warnings)


def test_the_largest_mixture_needs_many_chips() -> None:
    large = plan("deepseek-v3", "gb200-nvl72:72", explained=False)
    check(large)
    assert large.fitting > 0
    assert plan("deepseek-v3", "dgx-h100:8", explained=False).fitting == 0


def test_a_given_plan_in_doubt_is_an_answer_that_fits_perhaps() -> None:
    def given(micro_batch: int) -> PlanAnswer:
        whole = {**WHOLE, "pp": 1, "micro_batch": micro_batch, "global_batch": 4 * micro_batch}
        return plan("llama3-8b", "dgx-h100:8", **whole)

    fits = [(answer.plans[0].fits, answer.fitting) for answer in map(given, (1, 2, 3))]
    assert fits == [("yes", 1), ("at_limit", 1), ("no", 0)]
    assert given(3).warnings[-1] == "the plan given does not fit in memory"


def test_a_plan_from_the_catalog_loads_no_reader_of_files() -> None:
    code = (
        "import sys; from artery.answers.plan import plan; plan('gpt2', 'dgx-h100:16');"
        "print([m for m in ('pydantic', 'ruamel.yaml', 'rich', 'ijson') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("on", "same"), [("ethernet-10g:4", True), ("dgx-h100:8", True), ("dgx-h100:16", False)]
)
def test_a_placement_that_changes_nothing_is_told(on: str, same: bool) -> None:
    said = "placement interleaved puts every rank where packed does: it changes nothing"
    found = artery.plan("gpt2", on, placement="interleaved", explained=False)
    assert (said in found.warnings) == same
    assert said not in artery.plan("gpt2", on, explained=False).warnings
