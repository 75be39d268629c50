from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from string import Formatter

import pytest

from artery.answers.diagnose import diagnose
from artery.cli import main
from artery.diagnoser.rules import WORLD_KEYS
from artery.report.diagnose import diagnose_drawing
from artery.report.diagnose.words import diagnose_words
from artery.report.drawing.terminal import draw
from artery.report.words import Language

CASES = Path(__file__).parents[2] / "fixtures" / "diagnose"
HALF = [
    str(CASES / name) for name in ("half-of-the-cards.log", "half-cards-debug.log", "ibstat.txt")
]


def named_in(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def drawn(language: Language) -> str:
    text = StringIO()
    draw(diagnose_drawing(diagnose(*HALF), language), file=text, width=160)
    return text.getvalue()


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", ("degraded", "measured 196", 'with "half of the network cards')),
        ("zh", ("性能下降", "只有一半网卡")),
    ],
)
def test_the_answer_says_expected_measured_and_with_the_cause(
    language: Language, words: tuple[str, ...]
) -> None:
    text = drawn(language)
    for word in words:
        assert word in text


def test_facts_are_shown_with_their_units() -> None:
    text = drawn("en")
    assert "nic rate: 400 Gb/s" in text
    assert "largest size: 8.00 GiB" in text
    assert "cards used: 4 " in text


def test_both_languages_have_the_same_keys_and_fields() -> None:
    english, chinese = diagnose_words("en"), diagnose_words("zh")
    assert english.keys() == chinese.keys()
    for key, text in english.items():
        assert named_in(chinese[key]) == named_in(text)
    assert {f"world_{key}" for key in WORLD_KEYS} <= english.keys()


def test_the_document_has_the_stable_keys(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diagnose", *HALF, "--json"]) == 0
    written = json.loads(capsys.readouterr().out)
    assert written["schema"] == "artery.diagnose/1"
    assert written["verdict"] == "degraded"
    assert written["ratio"] == pytest.approx(
        written["measured"]["busbw_bytes_per_s"] / written["expected"]["busbw_bytes_per_s"]
    )
    assert {"cause", "evidence", "confidence", "explains", "next_step"} <= written["findings"][
        0
    ].keys()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--fail-under", "80%"], 5),
        (["--fail-under", "0.4"], 0),
        (["--fail-under", "much"], 2),
        (["--on", "dgx-h10"], 3),
    ],
)
def test_exit_codes(arguments: list[str], code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diagnose", *HALF, *arguments, "--json"]) == code
    out = capsys.readouterr().out
    assert bool(out) == (code in {0, 5})
