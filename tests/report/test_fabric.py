"""The words of the fabric's answers."""

from __future__ import annotations

from string import Formatter
from typing import get_args

import pytest

from artery.answers.fabric import Reason
from artery.cluster.cabling import Network
from artery.cluster.fabric_facts import FACTS
from artery.cluster.faults import faults
from artery.report.fabric_words import fabric_words, finding_words
from tests.cluster.fabrics import Wire, broken, cabling, leaf_spine


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
