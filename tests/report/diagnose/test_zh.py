"""The page of diagnose in Chinese: what it asks for, refuses, knows and takes for granted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from artery.answers.diagnose import missing
from artery.cli import main
from artery.diagnoser import verdict
from artery.diagnoser.rules import causes
from artery.diagnoser.verdict import Missing
from artery.formats.facts.keys import FACTS
from artery.report.said import said

CASES = Path(__file__).parents[2] / "fixtures" / "diagnose"
CHINESE = re.compile("[\u4e00-\u9fff]")
SENTENCE = re.compile(r"[a-z]{3,} [a-z]{2,} [a-z]{2,} [a-z]{2,}")
"""Four English words in a row: no command and no name has them."""


def asked() -> list[Missing]:
    rooms = (missing, verdict)
    return [one for each in rooms for one in vars(each).values() if isinstance(one, Missing)]


def test_every_fact_that_is_asked_for_is_asked_for_in_chinese() -> None:
    assert len(asked()) >= 7
    for one in asked():
        for text in (one.why, one.ask):
            assert CHINESE.search(said(text, "zh", "diagnose")), text
        assert CHINESE.search(said(one.fact, "zh", "facts")), one.fact


def test_every_fact_has_a_name_in_chinese() -> None:
    names = {key for section in FACTS.values() for key in section}
    names |= {rule.fact for cause in causes() for rule in cause.evidence if rule.fact}
    same = {"nccl", "gpu_direct_rdma"}
    lacking = [
        name
        for name in sorted(names - same)
        if not CHINESE.search(said(name.replace("_", " "), "zh", "facts"))
    ]
    assert not lacking


@pytest.mark.parametrize(
    "names",
    [
        ("half-of-the-cards.log", "half-cards-debug.log", "ibstat.txt"),
        ("half-of-the-cards.log",),
        ("wrong-results.log",),
        ("every-rank-zero.log",),
        ("no-rows.log",),
        ("sockets.log", "socket-debug.log"),
        ("falls-with-size.log", "--on", "rail-clos-h100"),
        ("healthy-a100.log", "--on", "dgx-h100"),
        ("healthy-a100.log", "--on", "hgx-h800"),
    ],
)
def test_no_english_sentence_is_left_on_the_page(
    names: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [str(CASES / one) if one.endswith((".log", ".txt")) else one for one in names]
    assert main(["diagnose", *paths, "--no-prove", "--lang", "zh"]) == 0
    page = capsys.readouterr().out
    lines = page.replace("\n ", " ").split("\n")
    told = [line for line in lines if not line.strip().startswith("参见")]
    assert not [line for line in told if SENTENCE.search(line)]
