"""Every command that ``docs/article.md`` calls working runs, and prints the figures given there."""

from __future__ import annotations

import re
import shlex
from collections import Counter

import pytest

from artery.answers.tour.article import Item, items, sections, stop_texts
from artery.answers.tour.stops import STOPS
from artery.cli import main
from docs_build.article import written

WORKING = [item.number for item in items() if item.state == "works"]


@pytest.fixture(scope="module")
def known() -> dict[int, Item]:
    return {item.number: item for item in written()}


@pytest.fixture(scope="module")
def outputs() -> dict[str, tuple[int, str]]:
    """What each command answered, so that one that stands in several items runs once."""
    return {}


@pytest.mark.parametrize("number", WORKING)
def test_the_command_runs_and_prints_what_the_page_says(
    number: int,
    known: dict[int, Item],
    outputs: dict[str, tuple[int, str]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    item = known[number]
    if item.command not in outputs:
        program, *arguments = shlex.split(item.command)
        assert program == "artery"
        outputs[item.command] = (main([*arguments, "--lang", "en"]), capsys.readouterr().out)
    code, printed = outputs[item.command]
    assert code == 0
    one_line = " ".join(printed.split())
    for text in item.shows:
        assert text in one_line
        # A figure of the output is one that the page gives, in both languages.
        if re.search(r"\d", text):
            assert text in item.truth.en
            assert text.removesuffix(" per direction") in item.truth.zh


def test_the_whole_article_is_there() -> None:
    """58 checked claims, the code sample, three closing questions."""
    numbers = [item.number for item in items()]
    assert numbers == list(range(1, 63))
    assert Counter(item.section for item in items()).keys() == sections().keys()


def test_every_working_item_has_a_command_and_every_fact_has_none() -> None:
    for item in items():
        assert bool(item.command) == (item.state != "fact"), item.number
        assert item.evidence, item.number
        if item.state != "works":
            assert not item.shows, item.number


def test_only_what_has_no_figure_of_its_own_shows_no_figure() -> None:
    silent = [i.number for i in items() if i.state == "works" and not i.shows]
    assert silent == []


def test_every_stop_of_the_tour_has_its_function_and_its_words() -> None:
    assert [text.name for text in stop_texts()] == list(STOPS)


def test_no_brace_is_left_in_the_written_page(known: dict[int, Item]) -> None:
    for item in known.values():
        for text in (item.truth.en, item.truth.zh, item.command, *item.shows):
            assert "{" not in text
