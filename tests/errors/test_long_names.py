"""A name that no file can have, too long or with a NUL byte, is no bug: it names nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import artery
from artery.answers.calibrate import calibrate
from artery.answers.lint import lint
from artery.cli import main
from artery.places import is_file, is_folder, is_pipe, is_there
from artery.report.writing.files import check_writable, write_whole

LONG = "x" * 300
"""Linux, macOS and Windows allow 255 in a name (NAME_MAX)."""

ON = ["--on", "dgx-h100:16"]


@pytest.mark.parametrize(
    "words",
    [
        ["expect", "all_reduce", "--on", LONG],
        ["plan", LONG, *ON],
        ["plan", f"{LONG}.sh", *ON],
        ["plan", f"./{LONG}", *ON],
        ["plan", "resnet50", "--on", LONG],
        ["plan", "resnet50", "--on", f"{LONG}.toml"],
        ["plan", "gpt2", *ON, "--placement", LONG],
        ["plan", "gpt2", *ON, "--node", LONG],
        ["plan", "gpt2", *ON, "--set", f"chip={LONG}"],
        ["plan", "gpt2", *ON, "--out", LONG],
        ["plan", "--from", LONG],
        ["scale", LONG, "--on", "dgx-h100", "--chips", "8"],
        ["simulate", "all_reduce", *ON, "--placement", LONG],
        ["simulate", "all_reduce", *ON, "--export", f"{LONG}.goal"],
        ["simulate", "all_reduce", *ON, "--export", ""],
        ["simulate", "alltoall", *ON, "--matrix", LONG],
        ["simulate", "--work", LONG, *ON],
        ["fabric", "export", LONG, "--to", "slurm"],
        ["fabric", "check", LONG],
        ["catalog", "show", LONG],
        ["catalog", "show", f"{LONG}.toml"],
        ["explain", "--from", LONG, "step"],
        ["goodput", LONG, *ON],
        ["schedule", LONG, *ON],
        ["schedule", "synthetic:llm", *ON, "--spot", LONG],
        ["schedule", "synthetic:llm", *ON, "--timeline", f"{LONG}.csv"],
        ["read", LONG],
        ["diagnose", LONG],
        ["lint", LONG],
        ["calibrate", LONG, "--on", LONG, "--out", f"{LONG}.toml"],
        ["train", "resnet18", "--data", LONG],
        ["train", "resnet18", "--log", LONG],
    ],
    ids=lambda words: " ".join(words).replace(LONG, "LONG"),
)
def test_a_long_name_is_wrong_input(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words, "--lang", "en"]) in {2, 3}
    assert "internal" not in capsys.readouterr().err


NAMELESS = ["a\0b", LONG, f"{LONG}.toml", "/\0", "./a\0b.json", "\udcff"]


@pytest.mark.parametrize("name", NAMELESS, ids=ascii)
@pytest.mark.parametrize(
    "call",
    [
        lambda name: artery.plan(name, "dgx-h100"),
        lambda name: artery.plan("gpt2", name),
        lambda name: artery.plan("gpt2", "dgx-h100:8", placement=name),
        lambda name: artery.expect("all_reduce", name),
        lambda name: artery.simulate("all_reduce", "dgx-h100:16", placement=name),
        lambda name: artery.simulate("alltoall", "dgx-h100:16", matrix=name),
        lambda name: artery.schedule(name, "dgx-h100:16"),
        lambda name: artery.schedule("synthetic:llm", "dgx-h100:16", spot=name),
        lambda name: calibrate(name, on="dgx-h100:16"),
        artery.read,
        artery.diagnose,
        lint,
        check_writable,
        lambda name: write_whole(f"{name}/{name}", "text"),
    ],
)
def test_what_can_be_no_name_is_wrong_input(call: Callable[[str], object], name: str) -> None:
    if call is check_writable and name == "\udcff":
        return  # a name as good as any: its bytes are no UTF-8
    with pytest.raises(artery.ArteryError):
        call(name)


@pytest.mark.parametrize("name", [*NAMELESS, "", "no such file"], ids=ascii)
def test_nothing_stands_at_a_name_that_is_none(name: str) -> None:
    assert not any(asked(name) for asked in (is_file, is_folder, is_pipe, is_there))


def test_what_stands_there_is_told_apart(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    asked = (is_file, is_folder, is_pipe, is_there)
    assert [one(file) for one in asked] == [True, False, False, True]
    assert [one(str(tmp_path)) for one in asked] == [False, True, False, True]
    assert [one("/dev/null") for one in asked] == [False, False, False, True]
