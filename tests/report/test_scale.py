from __future__ import annotations

import io
import json
from dataclasses import replace
from importlib.resources import files
from typing import Any

import jsonschema
import pytest
from rich.cells import cell_len

from artery.answers.scale import ScaleAnswer, ScalePoint
from artery.cloud.failures import RSC_1
from artery.report.drawing.terminal import draw
from artery.report.scale import scale_drawing, scale_payload
from artery.report.words import Language
from artery.report.writing.json import document
from tests import factories, snapshot


def point(chips: int, mode: str, **changes: Any) -> ScalePoint:
    known: dict[str, Any] = {
        "chips": chips,
        "mode": mode,
        "global_batch": 128,
        "result": factories.result(),
        "reason": None,
        "breaks": "link",
        "failures_per_day": RSC_1.per_day(max(1, chips // 8)),
        "speedup": chips / 8,
        "efficiency": 1.0,
        "exposed_comm_fraction": 1.5 / 7.0,
        "amdahl_speedup": 4.71,
    }
    return ScalePoint(**{**known, **changes})


def answer(**changes: Any) -> ScaleAnswer:
    lost = {"result": None, "speedup": None, "efficiency": None, "exposed_comm_fraction": None}
    too_big = {**lost, "result": factories.result("no"), "breaks": "memory"}
    without = {**lost, "reason": "no legal plan", "breaks": "batch", "global_batch": None}
    known: dict[str, Any] = {
        "model": "toy-70b",
        "system": "toy-pod",
        "points": (
            point(1, "strong", **too_big),
            point(8, "strong", breaks="compute"),
            point(10_000, "strong", breaks="latency"),
            point(1, "weak", **without),
            point(8, "weak"),
            point(10_000, "weak", breaks="bubble"),
        ),
        "reference": {"strong": 8, "weak": 8},
        "global_batch": 128,
        "batch_per_chip": 2.0,
        "parallel_fraction": 0.9,
        "failure_rate": RSC_1,
    }
    return ScaleAnswer(**{**known, **changes})


def text(of: ScaleAnswer, language: Language = "en", width: int = 80) -> str:
    out = io.StringIO()
    draw(scale_drawing(of, language, "toy-70b --on toy-pod:3 --tp 2"), file=out, width=width)
    return out.getvalue()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_snapshot(language: Language) -> None:
    snapshot.check(f"scale.{language}.txt", text(answer(), language))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_nothing_is_cut_at_80_columns(language: Language) -> None:
    drawn = text(answer(), language)
    assert "…" not in drawn
    assert max(map(cell_len, drawn.splitlines())) <= 80


def test_what_does_not_fit_shows_no_time() -> None:
    row = next(line for line in text(answer()).splitlines() if line.split()[:1] == ["1"])
    assert row.split() == ["1", "–", "–", "–", "–", "4.71", "0.0065", "memory"]


def test_without_a_fraction_there_is_no_amdahl() -> None:
    bare = replace(answer(), parallel_fraction=None)
    assert "Amdahl" not in text(bare)


def test_the_next_command_sizes_the_system_and_keeps_the_flags() -> None:
    assert "artery plan toy-70b --on toy-pod:10000 --tp 2" in text(answer())


def test_a_point_without_a_plan_has_nulls_and_a_reason() -> None:
    lost = scale_payload(answer(), {})["points"][3]
    assert lost["step_time_s"] is None
    assert lost["fits"] is None
    assert lost["reason"] == "no legal plan"


def test_a_point_without_a_plan_keeps_to_the_schema() -> None:
    known = json.loads(files("artery.report").joinpath("schemas/scale.json").read_text("utf-8"))
    entry = known["properties"]["points"]["items"]
    for found in json.loads(document("scale", scale_payload(answer(), {})))["points"]:
        jsonschema.validate(found, entry)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_more_than_linear_is_explained(language: Language) -> None:
    assert "100 %" not in text(answer(), language).replace("100.0 %", "")
    faster = answer(points=(point(8, "strong"), point(16, "strong", efficiency=1.33)))
    assert "100 %" in text(faster, language)
