from __future__ import annotations

import re
from dataclasses import replace

import pytest

from artery.answers.tour import chosen, shown_figures, tour
from artery.answers.tour.article import filled, items, stop_texts
from artery.answers.tour.stops import STOPS
from artery.errors import UnknownNameError


def test_figures_are_written_where_they_are_named() -> None:
    item = replace(items()[0], command="artery plan {a.b}", shows=("{a.b}", "{c-d.e}"))
    whole = filled(item, {"a": {"b": "4.71"}, "c-d": {"e": "9"}, "amdahl": {"on_8": "x"}})
    assert (whole.command, whole.shows) == ("artery plan 4.71", ("4.71", "9"))
    assert whole.truth.en == "x."


def test_every_figure_that_an_item_names_exists() -> None:
    known = {stop.name: {figure.name for figure in stop.figures} for stop in stop_texts()}
    for item in items():
        for text in (item.truth.en, item.truth.zh, item.command, *item.shows):
            for stop, figure in re.findall(r"\{([\w-]+)\.(\w+)\}", text):
                assert figure in known[stop], item.number


def test_both_languages_give_the_same_figures() -> None:
    for texts in (*(i.truth for i in items()), *(s.truth for s in stop_texts())):
        named = [set(re.findall(r"\{[\w.-]+\}", text)) for text in (texts.en, texts.zh)]
        assert named[0] == named[1]


def test_one_stop_is_computed_alone() -> None:
    (stop,) = tour("amdahl").stops
    assert shown_figures(tour("amdahl"))["amdahl"]["on_8"] == "4.71"
    assert "{" not in stop.truth.en + stop.truth.zh + stop.command


def test_stops_come_in_the_article_s_order() -> None:
    assert chosen(("amdahl", "one-chip")) == ("one-chip", "amdahl")
    assert chosen(()) == tuple(STOPS)


def test_an_unknown_stop_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match='did you mean "amdahl"'):
        tour("amdal")
