"""``plan --from`` a script or a configuration: what it lacks, what it asks for, what cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from artery.cli import main

SCRIPT = """#!/bin/bash
#SBATCH --nodes=16
torchrun --nnodes=16 --nproc_per_node=8 pretrain_gpt.py --tensor-model-parallel-size 8 \\
  --pipeline-model-parallel-size 2 --num-layers 32 --hidden-size 4096 --num-attention-heads 32 \\
  --seq-length 4096 --max-position-embeddings 4096 --micro-batch-size 1 --global-batch-size 256 \\
  --bf16 {vocabulary}
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "train.sh"
    path.write_text(SCRIPT.format(vocabulary="--vocab-size 32000"), "utf-8")
    return path


@pytest.mark.parametrize(("on", "chips", "said"), [("dgx-a100:64", 64, True),
                                                   ("dgx-a100:128", 128, False)])  # fmt: skip
def test_a_plan_for_other_chips_than_the_script_asks_for_says_so(
    script: Path, capsys: pytest.CaptureFixture[str], on: str, chips: int, said: bool
) -> None:
    assert main(["plan", "--from", str(script), "--on", on, "--json"]) == 0
    warnings = json.loads(capsys.readouterr().out)["warnings"]
    found = [one for one in warnings if "asks for 128 chips" in one]
    assert bool(found) is said
    assert all(f"the plan is for {chips}" in one for one in found)


def test_plan_and_diagnose_name_what_the_model_in_a_script_lacks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "train.sh"
    path.write_text(SCRIPT.format(vocabulary=""), "utf-8")
    log = tmp_path / "train.log"
    log.write_text(
        " iteration      100/  1000 | consumed samples:        25600 | elapsed time per iteration"
        " (ms): 5000.0 | learning rate: 1.0E-04 | global batch size:   256 | lm loss: 2.0E+00 |\n",
        "utf-8",
    )
    told = []
    for asked in (["plan", "--from", str(path), "--on", "dgx-a100:128"],
                  ["diagnose", str(log), "--from", str(path), "--on", "dgx-a100:128"]):  # fmt: skip
        assert main(asked) == 3
        told.append(capsys.readouterr().err)
    for one in told:
        assert "vocab_size" in one
        assert "the model in the script has no step without it" in " ".join(one.split())
    assert "or MODEL here" in " ".join(told[0].split())
    assert "or --model NAME here" in " ".join(told[1].split())


def deepspeed(folder: Path, **sections: object) -> str:
    path = folder / "ds.json"
    path.write_text(json.dumps({"zero_optimization": {"stage": 1}, **sections}), "utf-8")
    return str(path)


def test_a_configuration_from_which_no_run_starts_is_refused_with_all_reasons(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = deepspeed(
        tmp_path, train_batch_size=512, train_micro_batch_size_per_gpu=4,
        gradient_accumulation_steps=3, fp16={"enabled": True}, bf16={"enabled": True},
    )  # fmt: skip
    assert main(["plan", "llama2-7b", "--from", path, "--on", "dgx-a100:64"]) == 3
    said = " ".join(capsys.readouterr().err.split())
    assert "train_batch_size is no multiple of micro-batch · accumulation" in said
    assert "fp16 and bf16 are both enabled" in said


def test_what_a_configuration_leaves_open_is_said_to_be_assumed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = deepspeed(
        tmp_path, train_batch_size=512, train_micro_batch_size_per_gpu=4,
        gradient_accumulation_steps=2, bf16={"enabled": True},
    )  # fmt: skip
    asked = ["plan", "llama2-7b", "--from", path, "--on", "dgx-a100:64", "--json"]
    assert main(asked) == 0
    said = json.loads(capsys.readouterr().out)
    assert any("deepspeed-2021 with eager attention was assumed" in one for one in said["warnings"])
    assert main([*asked, "--attention", "flash2"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert not any("was assumed; --framework" in one for one in said["warnings"])
