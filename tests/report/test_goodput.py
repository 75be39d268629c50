from __future__ import annotations

import io
from string import Formatter
from typing import Any

import pytest
from rich.cells import cell_len

import artery
from artery.answers.goodput.result import GoodputAnswer
from artery.cloud.failure_model import CAUSES
from artery.report.drawing.terminal import draw
from artery.report.goodput import goodput_drawing
from artery.report.goodput.payload import goodput_payload
from artery.report.goodput.words import goodput_words
from artery.report.words import Language

ASKED = "gpt2 --on dgx-h100:64 --tp 1"
LANGUAGES: tuple[Language, ...] = ("en", "zh")


@pytest.fixture(scope="module")
def answer() -> GoodputAnswer:
    told: dict[str, Any] = {
        "slow_nodes_per_1000_days": 1.0,
        "link_flaps_per_1000_days": 1.0,
        "user_faults_per_day": 1.0,
        "tokens": 1e12,
    }
    plan = {"tp": 1, "pp": 1, "cp": 1, "dp": 64, "micro_batch": 4}
    return artery.goodput("gpt2", "dgx-h100:64", **plan, **told)


def drawn(answer: GoodputAnswer, language: Language, width: int = 80, asked: str = ASKED) -> str:
    text = io.StringIO()
    draw(goodput_drawing(answer, language, asked), file=text, width=width)
    return text.getvalue()


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def test_both_languages_have_the_same_words_with_the_same_fields() -> None:
    english, chinese = goodput_words("en"), goodput_words("zh")
    assert english.keys() == chinese.keys()
    for key, text in english.items():
        assert fields(text) == fields(chinese[key]), key


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_name_that_an_answer_can_hold_has_a_word(
    answer: GoodputAnswer, language: Language
) -> None:
    words = goodput_words(language)
    names = [*CAUSES, *(each.name for each in answer.failures.classes)]
    names += [part.name for part in answer.recovery] + [tier.name for tier in answer.tiers]
    names += ["failures", "save", "interval", "memory_tier", "replicas", "restart"]
    assert [name for name in names if name not in words] == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_the_terminal(
    answer: GoodputAnswer, language: Language, width: int
) -> None:
    text = drawn(answer, language, width)
    assert max(cell_len(line) for line in text.splitlines()) <= width


def test_the_headline_says_what_was_found(answer: GoodputAnswer) -> None:
    text = " ".join(drawn(answer, "en").split())
    for said in (
        "failures that stop the job (",
        "of the time trains (",
        "on shared store:",
        "instead of",
        "what to fix first",
        "artery scale gpt2 --on dgx-h100 --tp 1",
    ):
        assert said in text


def test_a_saved_plan_is_asked_for_as_it_was(answer: GoodputAnswer) -> None:
    text = drawn(answer, "en", asked="--from plan.json")
    assert "artery plan --from plan.json" in text
    assert "artery scale" not in text


def test_the_keys_that_stay_stable(answer: GoodputAnswer) -> None:
    document = goodput_payload(answer, {"model": "gpt2", "on": "dgx-h100:64"})
    assert document["mtbf_s"] == answer.mtbf.value
    assert document["checkpoint_interval_s"] == answer.intervals.best
    assert document["ettr"] == answer.ettr.value
    assert document["goodput"] == answer.definitions.dlrover_goodput
    assert [each["name"] for each in document["levers"]] == [fix.name for fix in answer.levers]
    assert sum(document["time_shares"].values()) == pytest.approx(1.0)


def test_what_has_no_end_is_said_so() -> None:
    never = artery.goodput("gpt2", "dgx-h100:8", node_failures_per_1000_days=0.0)
    text = drawn(never, "en")
    assert "∞ between failures" in text
    assert "nothing brings 0.01 %" in text
    always = artery.goodput(
        "gpt2", "dgx-h100:8", node_failures_per_1000_days=1e12, tokens=1e9, interval=60.0
    )
    text = drawn(always, "en")
    assert "∞ (∞ to ∞) instead of" in text
    assert "given; best by the complete model" in text


def test_what_does_not_fit_is_said_first() -> None:
    big = artery.goodput("llama3-405b", "dgx-h100:8")
    assert "does not fit in memory" in " ".join(drawn(big, "en").split("MTBF")[0].split())
