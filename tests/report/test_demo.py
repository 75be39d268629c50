from __future__ import annotations

from io import StringIO

import pytest

from artery.answers.demo import FILES, DemoAnswer, demo
from artery.report.demo import _WORDS, demo_drawing, demo_payload
from artery.report.drawing.terminal import draw
from artery.report.words import Language


@pytest.fixture(scope="module")
def story() -> DemoAnswer:
    return demo(train=False)


def test_both_languages_have_the_same_words() -> None:
    assert _WORDS["en"].keys() == _WORDS["zh"].keys()


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", ("measured 31.2", "leaf03 without 16 of its 32 uplinks", "proved", "a day")),
        ("zh", ("实测 31.2", "已证明", "修复后")),
    ],
)
def test_the_story_is_told(story: DemoAnswer, language: Language, words: tuple[str, ...]) -> None:
    text = StringIO()
    draw(demo_drawing(story, language), file=text, width=160)
    for word in words:
        assert word in text.getvalue()
    assert "demo_files" not in text.getvalue()


def test_the_document_names_the_bundled_files(story: DemoAnswer) -> None:
    diagnosis = demo_payload(story)["diagnosis"]
    assert isinstance(diagnosis, dict)
    assert [one["path"] for one in diagnosis["files"]] == list(FILES)
    assert demo_payload(story)["trained"] is None
