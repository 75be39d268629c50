"""Formulas and sources of terms in Chinese: those of the source, and those of plans."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, get_args

import pytest

import artery
from artery.answers.plan.collectives import Adder
from artery.cli import main
from artery.cloud.failures import RATES
from artery.cloud.generator import MIXES
from artery.cloud.recovery import given_restart, recovery
from artery.report.said import said, verbatim

ROOMS = ("step", "answers/plan")
"""Where the terms of a plan are made."""
ENGLISH = re.compile(r"[A-Za-z]{2,} [a-z]{2,}")
CHINESE = re.compile("[\u4e00-\u9fff]")
CITED = re.compile(r"[\w.-]+ \(arXiv [\d.]+\)")
"""A source that is a name and a number alone."""

PLANS: Final[tuple[tuple[str, str, dict[str, Any]], ...]] = (
    ("llama3-70b", "dgx-h100:128", {}),
    ("deepseek-v3", "dgx-h100:2048", {}),
    ("gpt2", "ethernet-10g:8", {"zero": 3, "tp": 1, "pp": 1}),
    ("resnet50", "dgx-1v", {}),
)


def nodes(rooms: tuple[str, ...] = ROOMS) -> Iterator[ast.AST]:
    for room in rooms:
        for path in sorted((Path(artery.__file__).parent / room).rglob("*.py")):
            yield from ast.walk(ast.parse(path.read_text("utf-8")))


def written() -> set[str]:
    """Return what is given as the formula or the source of something."""
    return {
        part.value
        for node in nodes()
        if isinstance(node, ast.keyword) and node.arg in {"formula", "source"}
        for part in ast.walk(node.value)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    }


def constants() -> set[str]:
    found = nodes((*ROOMS, "cloud", "answers/goodput"))
    values = (one.value for one in found if isinstance(one, ast.Constant))
    return {value for value in values if isinstance(value, str)}


def is_told(text: str) -> bool:
    told = said(text, "zh", "terms")
    return bool(CHINESE.search(told)) and not ENGLISH.search(told)


def test_every_formula_and_source_of_the_code_is_known_in_chinese() -> None:
    texts = written()
    assert len(texts) > 25
    assert [one for one in sorted(texts) if not CITED.fullmatch(one) and not is_told(one)] == []


@pytest.mark.parametrize(("model", "on", "options"), PLANS)
def test_every_term_of_a_plan_is_explained_in_chinese(
    model: str, on: str, options: dict[str, Any]
) -> None:
    best = artery.plan(model, on, **options).plans[0]
    terms = [term for root in (best.time.root, best.memory.root) for _, term in root.walk()]
    texts = {text for term in terms for text in (term.formula, term.source) if text}
    assert len(texts) > 20
    assert [one for one in sorted(texts) if not CITED.fullmatch(one) and not is_told(one)] == []


def test_no_table_has_what_nothing_says_any_more() -> None:
    said_by = {*constants(), *get_args(Adder), "nobody"}
    assert verbatim("terms").keys() - said_by == set()
    assert {*get_args(Adder), "nobody"} <= verbatim("terms").keys()


def test_where_restart_times_and_failure_rates_come_from_is_known_in_chinese() -> None:
    sources = {part.source for part in (*recovery(1024, 6.0), *given_restart(60.0))}
    sources |= {rate.source for rate in RATES.values()}
    assert len(sources) > 8
    for source in sources:
        assert verbatim("terms")[source] != source


@pytest.mark.parametrize("mix", MIXES)
def test_what_made_up_jobs_are_like_is_known_in_chinese(mix: str) -> None:
    source = MIXES[mix].source
    large = (
        "",
        ": 85.0 % of chip-time in 14.0 % of the jobs, of 1,024 chips or more",
        ": none of 1,024 chips or more",
        ": none of 1,024 chips or more, as no job takes over 64 of 256",
    )
    told = [said(f"made up after {source}{more}", "zh", "terms") for more in large]
    for one in told:
        assert one.startswith(told[0])
        assert not ENGLISH.search(one)
    assert told[1].endswith("：14.0 % 的作业用 1,024 块以上的芯片，占芯片时间的 85.0 %")
    assert told[3].endswith("：没有 1,024 块芯片以上的作业，因为没有作业超过 256 块中的 64 块")


def test_what_names_an_input_stays_in_a_formula() -> None:
    """The inputs are printed below it by these names, in both languages."""
    formula = "elements·rows/shards·width·traffic/(bandwidth·efficiency) + kernels·kernel time"
    assert said(formula, "zh", "terms").startswith(formula.partition(" + ")[0])
    for english, chinese in verbatim("terms").items():
        if not re.search(r"\d{4}", english):
            assert re.findall(r"\d+|log2|max|ZeRO|FLOP|GEMM|FSDP", english) == re.findall(
                r"\d+|log2|max|ZeRO|FLOP|GEMM|FSDP", chinese
            ), english


def test_explain_says_them(capsys: pytest.CaptureFixture[str]) -> None:
    line = "explain llama3-8b --on dgx-h100:8 --tp 8 step memory.optimizer --lang"
    assert main([*line.split(), "zh"]) == 0
    chinese = capsys.readouterr().out
    assert "公式  各部分之和" in chinese
    assert "来源  ZeRO (arXiv 1910.02054) 第 3.1 节" in chinese
    assert main([*line.split(), "en"]) == 0
    assert "sum of the parts" in capsys.readouterr().out


def test_other_answers_cite_in_chinese(capsys: pytest.CaptureFixture[str]) -> None:
    def told(line: str) -> str:
        assert main([*line.split(), "--lang", "zh"]) == 0
        return capsys.readouterr().out

    goodput = told("goodput llama3-8b --on dgx-h100:64 --tp 8 --pp 1")
    assert "torchrun 的默认值" in goodput
    assert "assumed" not in goodput
    assert "Meta 的 RSC-1" in told("scale llama3-8b --on dgx-h100 --chips 8 --tp 8")
    jobs = told("schedule synthetic:helios,jobs=5,days=1 --on dgx-h100:16 --policy fifo")
    assert "合成，仿照 Helios（Hu 等，" in jobs
