"""What readers, rules and errors say is said in Chinese too, with the same figures."""

from __future__ import annotations

import ast
import re
from importlib.resources import files
from pathlib import Path

import pytest

from artery.cli import main
from artery.diagnoser.lint.rule import Rule, rules
from artery.diagnoser.rules import causes
from artery.errors import InputError, Problem
from artery.formats import recognise
from artery.formats.launch.files import launch_of
from artery.formats.recognise import formats, read
from artery.formats.text import Text
from artery.report.said import refused, said, sentences
from tests.formats.readings import FIXTURES

CHINESE = re.compile("[\u4e00-\u9fff，：、；]")
FILES = sorted(path for path in FIXTURES.glob("*/*") if path.is_file())
AS_THE_TOOL_SAYS = ("NCCL WARN:", "FailedScheduling", "OOMKilled", "GPU 1: the last Xid")
"""Lines that are the tool's own words."""


def remarks() -> list[str]:
    found: dict[str, None] = {}
    for path in FILES:
        try:
            found.update(dict.fromkeys(read(str(path)).warnings))
        except InputError:
            continue
    return list(found)


def test_every_remark_on_the_fixtures_has_its_sentence() -> None:
    lines = [line for line in remarks() if not line.startswith(AS_THE_TOOL_SAYS)]
    assert len(lines) > 80
    silent = [line for line in lines if not CHINESE.search(said(line, "zh"))]
    assert not silent


def test_figures_and_names_stay() -> None:
    for line in remarks():
        told = said(line, "zh")
        if told == line:
            continue
        figures = {one for one in re.findall(r"\d+(?:\.\d+)?", line) if len(one) > 1}
        assert figures <= set(re.findall(r"\d+(?:\.\d+)?", told)), told


def test_english_and_unknown_lines_stay() -> None:
    assert said("the log has 2 of 16 ranks", "en") == "the log has 2 of 16 ranks"
    assert said("shall I compare thee", "zh") == "shall I compare thee"


def templates() -> list[tuple[str, str]]:
    folder = files("artery.report.said")
    names = [file.name for file in folder.iterdir() if not file.name.endswith(".py")]
    rooms = [name.removesuffix(".toml") for name in names if not name.startswith("_")]
    return [(one.english, one.chinese) for room in rooms for one in sentences(room)]


def test_both_sides_of_a_sentence_have_the_same_slots() -> None:
    assert len(templates()) > 1500
    for en, zh in templates():
        slots = re.findall(r"\{\d\}", en)
        told = [f"{{{number}}}" for number in re.findall(r"\{(\d)(?:=|:\w+)?\}", zh)]
        assert sorted(slots) == sorted(told), en
        assert len(set(slots)) == len(slots), en
        words = re.sub(r"\{\d:\w+\}", "", zh)
        assert CHINESE.search(zh) or en == zh or not re.search("[a-z]{3} [a-z]", words), en


DATA = re.compile(
    r"(?:[a-z_]{2,12} [\w.]+(?:, )?)+|[\w.+-]+: (?:[A-Z+_]{4,}, )?\d+ x \w+|[\w.-]+: [\w+_]+, .*"
    r"|rank \d+: \S+Error: .*|\d+ x \w+(?: \w+)*|tp \d.*"
)
"""Lines that hold names and numbers alone, and what a program said itself."""


def test_every_summary_of_the_fixtures_is_said_in_chinese() -> None:
    lines: dict[str, str] = {}
    formats_met = set()
    for path in FILES:
        try:
            one = read(str(path))
        except InputError:
            continue
        formats_met.add(one.format)
        lines |= dict.fromkeys(one.summary, one.format)
        lines |= dict.fromkeys((run.why for run in one.ignored), one.format)
        missing = one.fields.get("missing_facts") or ()
        lines |= dict.fromkeys(map(str, missing), one.format)
    assert {format_.name for format_ in formats()} - formats_met <= NEVER_MET
    assert len(lines) > 250
    silent = {
        line: name
        for line, name in lines.items()
        if not CHINESE.search(said(line, "zh", "summaries")) and not DATA.fullmatch(line)
    }
    assert silent == {}


NEVER_MET = {"artery-phases", "artery-bench", "chakra", "goal"}
"""Read from files that the tests of their own room write."""


@pytest.mark.parametrize("name", sorted(one.name for one in formats()))
def test_the_refusal_of_every_reader_is_said_in_chinese(name: str) -> None:
    reader = next(one for one in formats() if one.name == name)
    problems: list[Problem] = []
    for content in ("nothing of it\n", "- 1\n- 2\n", "chip: 7\nnodes: many\n", NETWORK):
        try:
            reader.read(Text("file", content))
        except InputError as error:
            problems += error.problems
    assert problems
    for problem in problems:
        assert CHINESE.search(said(problem.rule, "zh", "errors")) or name == "kineto", problem
        told = said(problem.fix, "zh", "errors")
        assert CHINESE.search(told) or not SENTENCE.search(told), problem


NETWORK = "topology: [Cube]\nnpus_count: [x]\nbandwidth: [tbd]\nlatency: [tbd]\n"
SENTENCE = re.compile(r"\b(?:the|a|and|of|with|must|send|write|give)\b [a-z]")


def test_every_cause_says_its_next_step_in_both_languages() -> None:
    for cause in causes():
        told = said(cause.next, "zh", "next")
        assert CHINESE.search(told) or not SENTENCE.search(told), told


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.id)
def test_every_rule_of_lint_is_said_in_both_languages(rule: Rule) -> None:
    for english, chinese in (
        (rule.en, rule.zh), (rule.why, rule.why_zh), (rule.fix, rule.fix_zh),
        (rule.reference, rule.reference_zh),
    ):  # fmt: skip
        assert not CHINESE.search(english)
        assert CHINESE.search(chinese) or not SENTENCE.search(chinese), chinese
    for found in rule.broken(launch_of(Text("file", rule.fails))):
        told = said(found.text, "zh", "lint")
        words = re.search(r"(?:^| )(?:without|beside|nodes|left|nothing|only|each)\b", told)
        assert CHINESE.search(told) or words is None, found.text


def test_an_error_is_said_in_the_language_that_was_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    assert main(["read", "/none", "/nothing", "--lang", "zh"]) == 3
    told = capsys.readouterr().err
    assert "没有这个文件" in told
    assert "共 2 个问题" in told
    assert main(["read", "/none", "--lang", "en"]) == 3
    assert "no such file" in capsys.readouterr().err
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert main(["read", "/none"]) == 3
    assert "没有这个文件" in capsys.readouterr().err


def test_lint_and_read_are_drawn_in_chinese(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", str(FIXTURES / "lint" / "train.sbatch"), "--lang", "zh"]) == 0
    out = capsys.readouterr().out
    assert "原因" in out
    assert "without" not in out
    assert main(["read", str(FIXTURES / "slurm-sinfo" / "default.txt"), "--lang", "zh"]) == 0
    assert "个节点" in capsys.readouterr().out


def test_a_sentence_that_no_table_knows_is_not_said_by_halves() -> None:
    line = "shall I compare thee, with 64 heads and 8 of keys"
    assert said(line, "zh", "errors") == line


@pytest.mark.parametrize("typed", ["a on b", "x on y on z", "8 on 2"])
def test_what_was_typed_is_not_torn_apart(typed: str) -> None:
    found = refused(f'model "{typed}", no model of that name is known', "zh")
    assert found.startswith(f'模型 "{typed}"，')


def test_sentences_are_looked_up_once() -> None:
    assert sentences("errors") is sentences("errors")


QUIET = ("trigger id ", "{}{} events", "artery bench: {} ranks{}", "{} (.batch, .0 ...)",
         "{}: {} many times too slow", "the check of the results failed{}")  # fmt: skip
"""What other programs read, and what is put together of parts that are held above."""


def yielded() -> list[str]:
    """Every line that a reader yields or appends, its slots filled with a name or a number."""
    found = []
    for path in sorted(Path(recognise.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            value = node.value if isinstance(node, ast.Yield) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                found.append(value.value)
            elif isinstance(value, ast.JoinedStr):
                parts = value.values
                said = [str(p.value) if isinstance(p, ast.Constant) else "{}" for p in parts]
                found.append("".join(said))
    return [line for line in found if re.search(r"[a-z]{2} [a-z]{2,} [a-z]", line)]


def test_every_line_that_a_reader_can_say_is_known() -> None:
    lines = [line for line in yielded() if not line.startswith(QUIET)]
    assert len(lines) > 120
    silent = [
        line
        for line in lines
        for filled in [line.replace("{}", "x7")]
        if not any(CHINESE.search(said(filled, "zh", room)) for room in ("remarks", "summaries"))
    ]
    assert silent == []
