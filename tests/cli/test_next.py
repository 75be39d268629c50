"""The commands that an answer prints as the next ones run as they are printed."""

from __future__ import annotations

import json
import shlex
from itertools import pairwise
from pathlib import Path

import pytest

from artery.answers.systems import system_of
from artery.cli import main

FOUR = """\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\tNUMA Affinity
GPU0\t X \tNV12\tNV12\tNV12\t0-63\t0
GPU1\tNV12\t X \tNV12\tNV12\t0-63\t0
GPU2\tNV12\tNV12\t X \tNV12\t0-63\t0
GPU3\tNV12\tNV12\tNV12\t X \t0-63\t0
"""
ONE = "\tGPU0\tCPU Affinity\tNUMA Affinity\nGPU0\t X \t0-19\t0\n"
OWN = 'base = "dgx-h100"\ntitle = "mine"\n[node]\nbandwidth = "400 GB/s per direction"\n'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, content in (("four.txt", FOUR), ("one.txt", ONE), ("my own.toml", OWN)):
        Path(name).write_text(content, "utf-8")


@pytest.mark.parametrize("system", [
    ["dgx-h100:32"], ["dgx-h100:1"], ["h100-sxm"], ["tpu-v4-pod:4x4x4"], ["my own.toml:32"],
    ["./my own.toml"], ["my own.toml:1"], ["one.txt", "--set", "chip=h100-sxm"],
    ["four.txt", "--set", "chip=a100-80g"], ["four.txt:2", "--set", "chip=h100-sxm"],
    ["dgx-h100:16", "--set", "fabric.nic.bandwidth=200 Gb/s"],
], ids=" ".join)  # fmt: skip
@pytest.mark.parametrize("command", ["expect", "simulate"])
def test_what_is_printed_as_next_runs(
    command: str, system: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    size = ["--size", "1M"]
    if main([command, "all_reduce", *size, "--on", *system]) != 0:
        pytest.skip(f"{command} has no answer for {system[0]}")
    told = " ".join(capsys.readouterr().out.rpartition("\nnext ")[2].split())
    commands = [shlex.split(one) for one in told.split("artery ") if one.strip()]
    assert commands
    for one in commands:
        assert main(one if "--size" in one else [*one, *size]) == 0, one
        capsys.readouterr()


@pytest.mark.parametrize(
    "asked", ["all_reduce --size 1", "alltoall --size 7", "alltoall --size 20"]
)
def test_what_is_printed_after_a_few_bytes_runs(
    asked: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", *asked.split(), "--on", "dgx-h100:16"]) == 0
    told = " ".join(capsys.readouterr().out.rpartition("\nnext ")[2].split())
    for one in told.split("artery ")[1:]:
        assert main(shlex.split(one)) == 0, one
        capsys.readouterr()


@pytest.mark.parametrize("asked", [
    ["tpu-v5e-pod:1x8"], ["tpu-v5e-pod:8x2"], ["tpu-v5e-pod:8"], ["tpu-v4-pod:2x2x8"],
    ["dgx-h100"], ["dgx-h100:13"], ["dgx-h100", "--set", "chips=16"], ["my own.toml:24"],
    ["four.txt:2", "--set", "chip=a100-80g"],
], ids=" ".join)  # fmt: skip
@pytest.mark.parametrize("command", ["expect", "simulate"])
def test_what_is_printed_as_next_speaks_of_the_same_chips_in_the_same_shape(
    command: str, asked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    words = [command, "all_reduce", "--size", "1M", "--on", *asked]
    assert main(words) == 0
    told = " ".join(capsys.readouterr().out.rpartition("\nnext ")[2].split())
    commands = [shlex.split(one) for one in told.split("artery ") if one.strip()]
    assert commands
    ranks, shape = _system_of(words, capsys)
    for one in commands:
        assert _system_of(one, capsys) == (ranks, shape), one


def _system_of(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> tuple[object, tuple[int, ...]]:
    """Run a command; return the ranks that it answers for, and the shape of what it is --on."""
    size = [] if "--size" in words else ["--size", "1M"]
    assert main([*words, *size, "--json"]) == 0, words
    ranks = json.loads(capsys.readouterr().out)["ranks"]
    sets = [value for flag, value in pairwise(words) if flag == "--set"]
    system = system_of(words[words.index("--on") + 1], sets)
    return ranks, system.router.radix


def test_expect_keeps_the_chips_of_a_node_the_version_and_the_type(
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = ["--chips-per-node", "2", "--nccl", "2.23", "--dtype", "half"]
    words = ["expect", "all_reduce", "--on", "dgx-h100:16", "--size", "1M", *given]
    assert main(words) == 0
    told = " ".join(capsys.readouterr().out.rpartition("\nnext ")[2].split())
    for one in told.split("artery ")[1:]:
        assert " ".join(given) in one
        assert _system_of(shlex.split(one), capsys)[0] == 4


@pytest.mark.parametrize(("chip", "said"), [("h100-sxm", True), ("a100-80g", False)])
def test_a_chip_with_more_links_than_the_file_shows_is_remarked(
    capsys: pytest.CaptureFixture[str], chip: str, said: bool
) -> None:
    assert main(["expect", "all_reduce", "--on", "four.txt", "--set", f"chip={chip}"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert ("12 NVLinks of each chip to the switches, h100-sxm has 18" in told) is said


def test_too_many_chips_of_a_file_are_refused_by_its_name(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = ["expect", "all_reduce", "--on", "four.txt:32", "--set", "chip=a100-80g"]
    assert main(asked) == 3
    told = capsys.readouterr().err
    assert "four.txt holds at most 4 chips" in " ".join(told.split())
    assert "node-from-topo" not in told
