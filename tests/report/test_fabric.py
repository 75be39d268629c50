"""The words of the fabric's answers."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from pathlib import Path
from string import Formatter
from typing import get_args

import pytest
from rich.console import RenderableType

from artery.answers.fabric import Reason, fabric_design
from artery.answers.fabric.check import fabric_check
from artery.cluster.cabling import Network
from artery.cluster.cabling.faults import faults
from artery.cluster.design.facts import FACTS
from artery.report.drawing.terminal import draw
from artery.report.fabric import TABLE_WIDTH, design_drawing
from artery.report.fabric.check import check_drawing
from artery.report.fabric.words import fabric_words, finding_words
from artery.report.words import Language
from tests import snapshot
from tests.cluster.fabrics import Wire, as_ibnetdiscover, broken, cabling, leaf_spine


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("table", [fabric_words, finding_words])
def test_both_languages_have_the_same_keys_and_fields(table: type) -> None:
    english, chinese = table("en"), table("zh")
    assert english.keys() == chinese.keys()
    for key, text in english.items():
        assert fields(text) == fields(chinese[key]), key


def test_every_reason_and_every_fact_has_words() -> None:
    for language in ("en", "zh"):
        words = fabric_words(language)
        assert all(words[f"reason_{reason}"] for reason in get_args(Reason))
        assert all(words[f"fact_{fact.topic}"] for fact in FACTS)


def test_every_finding_fills_its_words() -> None:
    wires = [*broken(), Wire("leaf001", 19, "leaf002", 60)]
    for network in (wires, leaf_spine(leaves=2, spines=1)):
        for one in faults(Network(cabling(network)), {}):
            for language in ("en", "zh"):
                words = finding_words(language)
                assert "{" not in words[one.cause].format(**one.figures)
                assert "{" not in words[f"{one.cause}_fix"].format(**one.figures)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_design_as_it_is_drawn(language: Language) -> None:
    answer = fabric_design(1024, port="400G", switch="qm9700", nic="cx7")
    drawn = drawing(design_drawing(answer, language, "--chips 1024"), TABLE_WIDTH)
    snapshot.check(f"fabric-design.{language}.txt", drawn)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_check_as_it_is_drawn(language: Language, tmp_path: Path) -> None:
    file = tmp_path / "net.txt"
    file.write_text(as_ibnetdiscover(broken(), nameless=3), encoding="utf-8")
    answer = replace(fabric_check(str(file)), file="net.txt")
    snapshot.check(f"fabric-check.{language}.txt", drawing(check_drawing(answer, language), 80))


def drawing(of: RenderableType, width: int) -> str:
    text = StringIO()
    draw(of, file=text, width=width)
    return text.getvalue()
