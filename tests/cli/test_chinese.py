"""With ``--lang zh`` a command that fails says so in Chinese, whoever refuses it."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from artery.cli import endings, main
from artery.cli.options import asked_language
from artery.errors import RunError

ENGLISH = re.compile(r"\b(?:the|a|of|and|or|is|not|no|must|such|error|Usage|Try|Missing)\b")
CODE = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`")

FAILING = (
    "plan llama3-70b --on dgx-h100:8 --tpp 8",
    "plan llama3-70b --on dgx-h100:8 --zero 7",
    "plan llama3-70b --on dgx-h100:8 --tp abc --pp 0",
    "plan llama3-70b --on dgx-h100:8 extra",
    "plan llama3-70b",
    "plan llama9 --on dgx-h100:8",
    "plan llama3-70b --on dgx-h100:8 --set foo",
    "plan llama3-70b --on dgx-h100:8 --tokens abc",
    "plan llama3-70b --on dgx-h100:8 --tp 3",
    "expect",
    "expect all_reduce --on dgx-h100:8 --algorithm foo",
    "simulate all_reduce --on dgx-h100:16 --fail-at 1ms",
    "simulate all_reduce --on dgx-h100:16 --map x.foo",
    "simulate all_reduce --on dgx-h100:16 --fail-links 200%",
    "goodput llama3-70b --on dgx-h100:128 --checkpoint foo",
    "schedule",
    "fabric foo",
    "read /nothing --format foo",
    "bench collectives --paced",
    "lab bench lab-switch --mode foo",
    "catalog foo",
    "catalog show",
    "pla",
    "scale llama3-70b --on dgx-h100 --parallel-fraction 3",
)


@pytest.mark.parametrize("line", FAILING)
def test_what_is_refused_is_said_in_chinese(
    line: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("NO_COLOR", "1")
    words = line.split()
    asked = [*words[:1], "--lang", "zh", *words[1:]]
    group = words[0] in {"fabric", "bench", "lab", "pla"}  # its commands alone take --lang
    assert main([*words, "--lang", "zh"] if group else asked) in {2, 3}
    told = capsys.readouterr().err
    assert told.startswith("错误  ")
    assert re.search("[\u4e00-\u9fff]", told.removeprefix("错误"))
    assert not ENGLISH.search(CODE.sub("", told)), told


def test_the_language_is_known_before_the_line_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    assert asked_language([]) == "en"
    assert asked_language(["plan", "--lang", "zh", "--foo"]) == "zh"
    assert asked_language(["plan", "--lang=zh"]) == "zh"
    assert asked_language(["plan", "--lang"]) == "en"
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert asked_language(["plan"]) == "zh"
    assert asked_language(["plan", "--lang", "en"]) == "en"


@pytest.mark.parametrize(
    ("error", "chinese"),
    [
        (RunError("the processes ended without a report; run them again with --debug"), "没有报告"),
        (KeyboardInterrupt(), "已中断"),
        (click.UsageError("list needs a KIND, for example chips"), "list 需要种类"),
        (ZeroDivisionError("division by zero"), "这是 artery 的缺陷"),
    ],
)
def test_every_ending_is_said_in_chinese(
    error: BaseException, chinese: str, capsys: pytest.CaptureFixture[str]
) -> None:
    endings.report(error, debug=False, language="zh")
    assert chinese in capsys.readouterr().err


def test_a_full_disk_is_told_in_the_language_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = tmp_path / "none" / "x.json"
    line = ["expect", "all_reduce", "--on", "dgx-h100:8", "-o", str(missing), "--lang", "zh"]
    assert main(line) == 3
    assert "没有这个文件或文件夹" in capsys.readouterr().err
