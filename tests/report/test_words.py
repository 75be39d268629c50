from __future__ import annotations

from string import Formatter

import pytest

from artery.report.drawing.bars import COLOURS, GROUPS
from artery.report.plan.payload import HOLDERS
from artery.report.words import phrase, words
from artery.step import PARTS


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def test_both_languages_have_the_same_keys() -> None:
    assert words("en").keys() == words("zh").keys()


@pytest.mark.parametrize("key", sorted(words("en")))
def test_both_languages_name_the_same_fields(key: str) -> None:
    assert fields(words("en")[key]) == fields(words("zh")[key])


def test_every_part_has_a_word_and_a_colour() -> None:
    for part in (*PARTS, *HOLDERS):
        assert words("zh")[part]
    assert set(GROUPS) == set(PARTS)
    assert set(GROUPS.values()) == set(COLOURS)


def test_what_plans_say_of_their_limits_is_translated() -> None:
    from artery.answers.plan.limits import _WORDS

    for said in _WORDS.values():
        for text in (said, f"{said} on rail"):
            assert phrase(text, "en") == text
            assert said not in phrase(text, "zh")


def test_why_a_plan_is_ranked_behind_its_time_is_translated() -> None:
    from artery.planner.rank import PENALTIES

    for penalty in PENALTIES:
        assert phrase(penalty.reason, "zh") != penalty.reason


def test_what_has_no_translation_stays() -> None:
    assert phrase("attention flash2 -> flash3", "zh") == "注意力 flash2 -> flash3"
    assert phrase("something new", "zh") == "something new"
