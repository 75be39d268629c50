from __future__ import annotations

import io

import pytest
from rich.cells import cell_len

from artery.answers.explain import open_terms
from artery.report.drawing.terminal import draw
from artery.report.explain import explain_drawing, explain_payload, show
from artery.report.words import Language
from artery.units import show_percent
from tests import factories, snapshot

PATHS = ("step", "step.tp", "memory.weights")


def text(language: Language = "en", width: int = 80) -> str:
    out = io.StringIO()
    opened = open_terms(factories.answer(), PATHS)
    draw(explain_drawing(opened, language, "toy-70b --on toy-pod:64"), file=out, width=width)
    return out.getvalue()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_snapshot(language: Language) -> None:
    drawn = text(language)
    assert max(map(cell_len, drawn.splitlines())) <= 80
    snapshot.check(f"explain.{language}.txt", drawn)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("width", [20, 26, 40, 60, 80, 120])
def test_no_number_of_a_part_is_cut(language: Language, width: int) -> None:
    best = factories.answer().plans[0]
    drawn = text(language, width)
    whole = "".join(drawn.split())
    assert "…" not in drawn
    for child in best.time.root.children:
        if child.value:
            value = show(child.value, child.unit).replace(" ", "")
            share = show_percent(child.value / best.time.root.value).replace(" ", "")
            assert f"step.{child.name}{value}{share}" in whole


def test_formula_inputs_and_source_are_shown() -> None:
    drawn = text()
    assert "tp = a · b" in drawn
    assert "a = 2" in drawn
    assert "b = 0.5" in drawn
    assert "made up for tests" in drawn


def test_the_document_names_the_children_by_path() -> None:
    whole, tensor, _ = explain_payload(open_terms(factories.answer(), PATHS), {})["terms"]
    assert "step.bubble" in whole["children"]
    assert whole["combine"] == "sum"
    assert tensor["inputs"] == {"a": 2.0, "b": 0.5}


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (0.0012, "s", "1.20 ms"),
        (2**30, "B", "1.00 GiB"),
        (450e9, "B/s", "450 GB/s"),
        (989e12, "FLOP/s", "989 TFLOP/s"),
        (0.25, "1", "0.250"),
        (3.0, "hop", "3 hop"),
    ],
)
def test_a_value_of_any_unit(value: float, unit: str, shown: str) -> None:
    assert show(value, unit) == shown
