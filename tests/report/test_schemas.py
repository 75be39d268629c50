"""Every command's document keeps to the JSON Schema that is published for it."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest

from artery.cli import main
from artery.cli.commands import COMMANDS
from artery.simulator.choice import Engine, Why

CALLS = [
    ["plan", "gpt2", "--on", "dgx-h100:8", "--top", "2", "--tokens", "1B"],
    ["plan", "resnet50", "--on", "ethernet-10g:4"],
    ["plan", "--tp", "2", "gpt2", "--on", "dgx-h100:8", "--overlap", "dp", "--set", "node.chips=8"],
    ["plan", "gpt2", "--on", "dgx-h100:16", "--network", "simulate"],
    ["plan", "gpt2", "--on", "dgx-h100:16", "--network", "simulate", "--seeds", "2"],
    ["plan", "gpt2", "--on", "tpu-v4-pod:16", "--network", "simulate"],
    ["explain", "gpt2", "--on", "dgx-h100:8"],
    ["explain", "gpt2", "--on", "dgx-h100:8", "step.compute", "memory.other"],
    ["scale", "gpt2", "--on", "dgx-h100", "--chips", "1,8,7", "--parallel-fraction", "0.9"],
    ["scale", "gpt3-175b", "--on", "dgx-a100", "--chips", "1,64"],
    ["expect", "all_reduce", "--on", "dgx-h100:16", "--sizes", "8:1G:x32"],
    ["simulate", "all_reduce", "--on", "dgx-h100:16", "--size", "1M", "--algorithm", "best"],
    [
        "simulate",
        "alltoall",
        "--on",
        "dgx-h100:16",
        "--size",
        "1M",
        "--background",
        "all_reduce:1M:0-7",
        "--slow",
        "3=2x",
        "--seeds",
        "2",
    ],
    ["simulate", "all_reduce", "--on", "dgx-h100:1"],
    ["simulate", "all_reduce", "--on", "dgx-h100:8"],
    ["simulate", "alltoall", "--on", "dgx-h100:32", "--engine", "sampled"],
    ["simulate", "all_reduce", "--on", "dgx-h100:16", "--offload", "bf3", "--reduce-rate", "chip"],
    ["simulate", "--work", "tests/fixtures/chakra/step", "--on", "dgx-h100:8"],
    ["goodput", "gpt2", "--on", "dgx-h100:16", "--tokens", "1B", "--checkpoint", "memory,shared"],
    ["goodput", "resnet50", "--on", "ethernet-10g:4", "--slow-nodes-per-1000-days", "1"],
    ["goodput", "gpt2", "--on", "dgx-h100:8", "--node-failures-per-1000-days", "0"],
    ["goodput", "--log", "tests/fixtures/slurm-sacct/requeued.txt", "--time-zone", "UTC"],
    ["goodput", "gpt2", "--on", "dgx-h100:8", "--log", "tests/fixtures/megatron-log/steps.log"],
    [
        *("schedule", "synthetic:llm,jobs=200,days=0.5", "--on", "dgx-h100:512"),
        *("--rate", "rsc-1", "--size-for", "p90-queue=fifo"),
    ],
    [
        *("schedule", "tests/fixtures/jobtrace-artery/jobs.csv", "--on", "dgx-h100:64"),
        "--network",
        "simulate",
        *("--policy", "priority", "--serve", "chips=2,peak=4"),
    ],
    ["schedule", "tests/fixtures/jobtrace-aws-spot/made-up.csv", "--on", "ethernet-10g:8"],
    ["catalog"],
    ["catalog", "list", "chips"],
    ["catalog", "show", "h100-sxm"],
    ["fabric", "design", "--chips", "16384"],
    ["fabric", "export", "dgx-h100:64", "--to", "slurm"],
    ["fabric", "design", "--chips", "9", "--rails", "1", "--port", "100G", "--radix", "7"],
    ["diagnose", "tests/fixtures/diagnose/ring-instead-of-nvls.log"],
    ["diagnose", "tests/fixtures/diagnose/wrong-results.log"],
    ["demo", "--no-train"],
    ["lint", "tests/fixtures/lint/train.sbatch", "tests/fixtures/lint/jobset.yaml"],
    ["lint", "--rules"],
    ["calibrate", "tests/fixtures/calibrate/slower-cloud.log", "--on", "aws-p5"],
    ["lab", "down", "--name", "never-up"],
    ["train", "tests.runner.tiny:mlp", "--steps", "4", "--ranks", "1", "--spares", "0"],
    ["doctor"],
    ["bench", "chip", "--shapes", "32,4x8x16", "--array", "64K", "--repeats", "2"],
    ["read", str(Path(__file__).parents[1] / "fixtures/nccl-tests/edited.log")],
    ["tour", "amdahl", "memory", "wiring", "--lang", "zh"],
]


def schema(command: str) -> dict[str, Any]:
    text = files("artery.report").joinpath(f"schemas/{command}.json").read_text("utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


@pytest.mark.parametrize("arguments", CALLS, ids=" ".join)
def test_the_document_keeps_to_its_schema(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, "--json"]) == 0
    jsonschema.validate(json.loads(capsys.readouterr().out), schema(arguments[0]))


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_a_schema_that_names_it(command: str) -> None:
    known = schema(command)
    jsonschema.Draft202012Validator.check_schema(known)
    assert f'"artery.{command}/1"' in json.dumps(known)
    assert command in {arguments[0] for arguments in CALLS}


@pytest.mark.parametrize(
    ("name", "known"), [("engine", get_args(Engine)), ("engine_reason", get_args(Why))]
)
def test_every_engine_and_reason_that_can_be_taken_is_in_the_schema(
    name: str, known: tuple[str, ...]
) -> None:
    (played,) = (
        one["properties"]
        for one in schema("simulate")["anyOf"]
        if "engine_reason" in one.get("properties", {})
    )
    assert set(played[name]["enum"]) == set(known)
