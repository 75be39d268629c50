from __future__ import annotations

import io

import pytest
from rich.cells import cell_len

from artery.answers.tour import tour
from artery.answers.tour.article import stop_texts
from artery.cli.tour import command
from artery.report.drawing.terminal import draw
from artery.report.tour import closing, opening, stop_drawing, tour_payload
from artery.report.words import Language
from tests import snapshot


def text(name: str, language: Language = "en") -> str:
    out = io.StringIO()
    draw(stop_drawing(tour(name).stops[0], language), file=out, width=80)
    return out.getvalue()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_snapshot(language: Language) -> None:
    drawn = text("amdahl", language)
    assert max(map(cell_len, drawn.splitlines())) <= 80
    snapshot.check(f"tour-amdahl.{language}.txt", drawn)


def test_a_stop_ends_with_the_command_that_answers_it() -> None:
    assert "artery scale resnet50" in text("amdahl").rstrip().splitlines()[-2]


def test_the_article_s_own_figure_stands_beside_the_computed_one() -> None:
    line = next(line for line in text("amdahl").splitlines() if "P = 0.9 on 8 chips" in line)
    assert line.split()[-4:] == ["4.71", "(the", "article:", "5.70)"]


def test_the_document_has_the_words_of_one_language() -> None:
    english = tour_payload(tour("wiring"), "en")["stops"][0]
    chinese = tour_payload(tour("wiring"), "zh")["stops"][0]
    assert english["title"] == "Wires"
    assert chinese["title"] == "布线"
    assert english["figures"][0]["value"] == chinese["figures"][0]["value"] == 45


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_tour_opens_with_its_stops_and_closes_with_a_way_on(language: Language) -> None:
    out = io.StringIO()
    draw(opening(("amdahl", "wiring"), language), file=out, width=80)
    draw(closing("amdahl", language), file=out, width=80)
    assert "amdahl · wiring" in out.getvalue()
    assert "artery tour amdahl" in out.getvalue()


def test_the_help_of_tour_names_every_stop() -> None:
    said = " ".join((command.help or "").split()).partition("Stops: ")[2]
    assert said.rstrip(".").split() == [text.name for text in stop_texts()]
