"""Everything that the program can tell a user in English is known in Chinese.

The texts are collected from the source by :mod:`checks.texts`, so that a new one fails here.
"""

from __future__ import annotations

import ast
import inspect
import re
import tomllib
from collections import Counter
from importlib.resources import files
from pathlib import Path

import click
import pytest

import artery
from artery.cli import main
from artery.report.said import _found, refused, said, sentences, warned
from checks.texts.program import Program
from checks.texts.resolve import SLOT
from checks.texts.sinks import Met, met

CHINESE = re.compile("[\u4e00-\u9fff，：、；…]")
CODE = re.compile(
    r"`[^`]*`|\"[^\"]*\"|'[^']*'|\([^)]*\)|--[a-z-]+(?:[ =][A-Z\d][\w.:=/-]*|=[a-z]+| [a-z_,]+$)?"
    r"|\[[^\]]*\]|\b(?:artery|sacct|kubectl|scontrol|ethtool|nvidia-smi|rocm-smi|dmesg)"
    r"(?: -{0,2}[\w,.:-]+)*"
)
"""Commands and flags, what is quoted, and what stands in brackets behind a word."""
WORDS = re.compile(r"[A-Za-z]{2,},? [a-z]{2,}(?![\w=.\[])")
LONE = re.compile(
    r"(?<![\w.=/-])(?:a|all|an|and|another|are|at|be|both|by|each|exist|fewer|for|from|has|is|it|its|no|not|of|one|or"
    r"|other|out|smaller|than|that|the|them|these|this|those|to|was|which|with)(?![\w.=/-])"
)
"""Words of English that are no names: one of them alone in a Chinese sentence was left behind."""

ELSEWHERE = ("artery.native.", "artery.formats.", "artery.cli.plan:")
"""Rooms whose warnings are held elsewhere: readers' remarks by ``test_said``; and the arguments
of the loops in C, which no command line reaches."""
NAMES = frozenset(
    ("collnet", "coupled", "grouped", "hierarchical", "nvls", "pat", "ring", "sampled", "sendrecv",
     "torus", "tree", "nvls_tree", "halving_doubling", "none", "null", "true", "false", "auto",
     "dtype", "synthetic", "fp32", "bf16", "lab2")
)  # fmt: skip
"""What is called by its name in both languages."""
FORMULAS = ("min_chips <= chips <= max_chips", "num_ranks ", "rank ", "size ", "no GPU")
CATALOG = ("NVSwitch of the third generation", "long messages need", "one streaming job at a time")
"""Notes of switches that add, for readers of the source alone: no command shows them."""
TYPED = (
    "time,count",
    "e.g. l1: send ",
    "apt install ",
    "peak=",
    "dmesg -T",
    "/dev/net/tun",
    "ibsim, ",
)
"""Examples and commands to be typed as they stand, or that were."""
NONE = (f"{SLOT} has {SLOT} of {SLOT} cables: {SLOT} at ",)
"""Sentences with "none" in a slot, which is taken for a name there."""
EXAMPLE = re.compile(r"[\w.:/,=@%+-]*[\d=][\w.:/,=@%+-]*")
EXCEPTED = (*FORMULAS, *CATALOG, *TYPED, *NONE)
UNITS = ("GB/s per direction", "pip install")

"""What stays as it is inside a Chinese sentence."""


@pytest.fixture(scope="module")
def texts() -> list[Met]:
    return met(Program.read(Path(artery.__file__).parent))


def told(one: Met) -> str:
    """Return a text in Chinese, a name in each of its slots."""
    line = one.text.replace(SLOT, "x7")
    if one.kind == "kind":
        return _found(line, "kinds") or line
    if one.kind in {"evidence", "machine"}:
        return said(line, "zh", "evidence" if one.kind == "evidence" else "doctor")
    if one.kind == "warning":
        return warned([line], "zh")[0]
    return refused(line, "zh") if one.kind == "error" else said(line, "zh", "errors")


def is_told(one: Met) -> bool:
    """Return whether a text is said in Chinese, whole, or has nothing that need be."""
    plain = CODE.sub("", one.text.replace(SLOT, "")).strip(" .,:;x")
    if not re.search("[a-z]{2}", plain) or plain in NAMES or EXAMPLE.fullmatch(plain):
        return True
    chinese = told(one)
    for unit in UNITS:
        chinese = chinese.replace(unit, "")
    return is_chinese(chinese)


def is_chinese(text: str) -> bool:
    """Return whether a text is Chinese, and nothing English in it but names and code."""
    plain = CODE.sub("", text)
    return bool(CHINESE.search(text)) and not WORDS.search(plain) and not LONE.search(plain)


def excepted(one: Met) -> bool:
    if one.kind == "warning" and (one.place.startswith(ELSEWHERE) or " " not in one.text):
        return True  # one word alone is the key of a remark, whose words stand in a table
    if one.kind == "kind":
        return "_" in one.text or one.text in {"dtype", "links", "nccl", "on", "overrides", "slow"}
    return one.place.startswith(ELSEWHERE[0]) or one.text.startswith(EXCEPTED)


def test_every_text_of_the_program_is_known_in_chinese(texts: list[Met]) -> None:
    counted = Counter(one.kind for one in texts)
    assert counted["rule"] > 400
    assert counted["fix"] > 400
    assert counted["error"] > 140
    assert counted["warning"] > 100
    silent = [f"{one.kind}  {one.text}  {one.place}" for one in texts
              if not excepted(one) and not is_told(one)]  # fmt: skip
    assert silent == []


def test_no_exception_is_without_its_text(texts: list[Met]) -> None:
    for start in EXCEPTED:
        assert any(one.text.startswith(start) for one in texts), start


@pytest.mark.parametrize(
    "text",
    [
        "a cable has two different ends",  # kept in a complaint
        "must be a share above 0, at most 1000 %",  # in a constant
        "an image model has no sequence",  # in a rule of plans
        f"{SLOT}: different ports down on tier {SLOT}: {SLOT}",  # in an error that is caught
        f"{SLOT} waits for {SLOT} waits for {SLOT}",  # between names
    ],
)
def test_texts_that_are_kept_before_they_are_told_are_collected(
    texts: list[Met], text: str
) -> None:
    assert text in {one.text for one in texts}


def of_toml() -> list[str]:
    """Return the messages of the parser of TOML, in the small letters that they are told in."""
    raised = [
        node.exc
        for node in ast.walk(ast.parse(inspect.getsource(inspect.getmodule(tomllib.loads) or ast)))
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)
    ]
    parts = [part for call in raised for part in call.args]
    texts = [ast.unparse(part) for part in parts if isinstance(part, (ast.Constant, ast.JoinedStr))]
    plain = [
        re.sub(r"\{[^}]*!r\}", "'x7'", ast.literal_eval(one.removeprefix("f"))) for one in texts
    ]
    return [re.sub(r"\{[^}]*\}", "x7", one) for one in plain]


FOR_PROGRAMMERS = ("File must be opened in", "parse_float must not")


def test_every_message_of_the_parser_of_toml_is_known_in_chinese() -> None:
    messages = [one.lower() for one in of_toml() if not one.startswith(FOR_PROGRAMMERS)]
    assert len(messages) > 20
    assert [one for one in messages if not is_chinese(said(one, "zh", "errors"))] == []


def of_click() -> list[str]:
    """Return the messages that the library of the command line marks for translation."""
    found = []
    for module in (click.exceptions, click.types, click.parser):
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            match node:
                case ast.Call(func=ast.Name(id="_" | "ngettext"), args=args):
                    found += [
                        one.value
                        for one in args
                        if isinstance(one, ast.Constant) and isinstance(one.value, str)
                    ]
    return found


NOT_SHOWN = ("Error: {message}", "Try '{command} {option}'", "Choice({choices})")
"""Messages of the library that artery words itself."""


def test_every_message_of_the_command_line_is_known_in_chinese() -> None:
    messages = [one for one in of_click() if not one.startswith(NOT_SHOWN)]
    assert len(messages) > 30
    for message in messages:
        filled = re.sub(r"\{[^{}]*\}", "x7", message).replace("\n\t", " ")
        assert is_known(filled), message


def is_known(text: str) -> bool:
    return is_chinese(_found(text, "numbers") or refused(text, "zh"))


TABLES = ("errors", "warnings")


@pytest.mark.parametrize("table", TABLES)
def test_no_sentence_stands_in_two_files_of_a_table(table: str) -> None:
    folder = files("artery.report.said") / table
    texts = [file.read_text("utf-8") for file in folder.iterdir()]
    counted = Counter(english for text in texts for english in tomllib.loads(text))
    assert [english for english, count in counted.items() if count > 1] == []


def test_the_sentence_that_says_most_itself_is_meant() -> None:
    assert said("must be switch or host", "zh", "errors") == "须为 switch 或 host"
    weights = [one.weight for one in sentences("errors")]
    assert weights == sorted(weights, reverse=True)


def test_names_are_not_translated_in_lists() -> None:
    assert said("known: ring, tree", "zh", "errors") == "已知：ring, tree"
    assert said("no chip of that name is known", "zh", "errors") == "不认识叫这个名字的芯片"


def test_an_error_of_several_parts_is_said_part_by_part() -> None:
    english = 'fail-links  "200%", a share lies between 0 and 1, 1%, or 0.01'
    assert refused(english, "zh") == 'fail-links  "200%"，比例在 0 与 1 之间，1%，或 0.01'
    assert refused(english, "en") == english
    commas = "nvls, the switches between nodes do not add, --engine messages"
    assert refused(commas, "zh") == "nvls，节点之间的交换机不做求和，--engine messages"


def test_a_circle_of_tasks_is_said_task_by_task() -> None:
    english = "the recv of rank 0 in line 3 waits for the send of rank 1 in line 9"
    assert said(english, "zh", "errors") == "第 3 行 rank 0 的 recv 等待第 9 行 rank 1 的 send"
    english += " waits for the recv of rank 0 in line 3"
    assert said(english, "zh", "errors").endswith(" 的 send 等待第 3 行 rank 0 的 recv")


def test_a_word_between_names_is_none_between_sentences() -> None:
    assert said("ring on dgx-h100", "zh", "errors") == "dgx-h100 上的 ring"
    unknown = "frontier: all the many ports on tier 1"
    assert said(unknown, "zh", "errors") == unknown


def test_names_joined_by_a_word_are_joined_by_a_chinese_one() -> None:
    assert said("runs of a and b and c", "zh", "errors") == "a 与 b 与 c 的运行"
    assert said("input should be 'nvls' or 'none'", "zh", "errors") == "应为 'nvls' 或 'none'"
    english = "expected ',' or '}', but got '<stream end>'"
    assert said(english, "zh", "errors") == "应为 ',' 或 '}'，却有 '<stream end>'"
    assert said("input should be 'a', 'b' or 'c'", "zh", "errors") == "应为 'a', 'b' 或 'c'"


def test_a_proof_names_the_cut_uplinks_in_chinese() -> None:
    assert said("leaf03 without 6 of its 8 uplinks", "zh", "diagnose") == (
        "leaf03 的 8 条上行链路缺 6 条"
    )


def test_the_evidence_of_a_fault_is_said_in_chinese() -> None:
    english = "n7 has 6 of 8 cables: none at mlx5_2 (rail 2), mlx5_5 (rail 5)"
    chinese = "n7 有 8 条线缆中的 6 条：mlx5_2（轨 2）、mlx5_5（轨 5）没有"
    assert said(english, "zh", "evidence") == chinese
    english = "leaf2[31] - spine1[2] (line 6): 200 Gb/s of 400 Gb/s"
    chinese = "leaf2[31] - spine1[2]（第 6 行）：200 Gb/s，应为 400 Gb/s"
    assert said(english, "zh", "evidence") == chinese


def test_why_an_algorithm_was_not_played_is_said_in_chinese(
    capsys: pytest.CaptureFixture[str],
) -> None:
    line = "simulate all_reduce --on dgx-h100:16 --size 1M --algorithm best --lang zh"
    assert main(line.split()) == 0
    told = capsys.readouterr().out
    assert "nvls: 此处不可用：algorithm  nvls，交换机求和须在" in told
