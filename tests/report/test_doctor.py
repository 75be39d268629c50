"""How the findings of ``doctor`` are drawn and written."""

from __future__ import annotations

import json
from importlib.resources import files
from io import StringIO

import pytest
from jsonschema import Draft202012Validator

from artery.answers.doctor import Check, DoctorAnswer, doctor
from artery.report.doctor import doctor_drawing, doctor_payload
from artery.report.drawing.terminal import draw
from artery.report.words import Language
from artery.report.writing.json import document

ANSWER = DoctorAnswer(
    (
        Check("python", "python", "ok", "3.11.7"),
        Check("gpu", "gpu", "missing", "no nvidia-smi on PATH", "measuring chips"),
    )
)


@pytest.mark.parametrize(
    ("language", "lines"),
    [
        (
            "en",
            [
                "Python",
                "  python  ok  3.11.7",
                "GPU",
                "  gpu  missing  no nvidia-smi on PATH (needed for: measuring chips)",
            ],
        ),
        (
            "zh",
            [
                "Python",
                "  python  正常  3.11.7",
                "GPU",
                "  gpu  没有  PATH 中没有 nvidia-smi (用于: 测量芯片)",
            ],
        ),
    ],
)
def test_the_drawing_in_both_languages(language: Language, lines: list[str]) -> None:
    text = StringIO()
    draw(doctor_drawing(ANSWER, language), file=text, width=80)
    assert text.getvalue().splitlines() == lines


@pytest.mark.parametrize("answer", [ANSWER, doctor()], ids=["made", "this machine"])
def test_the_document_follows_its_published_schema(answer: DoctorAnswer) -> None:
    schema = json.loads(files("artery.report").joinpath("schemas/doctor.json").read_text("utf-8"))
    written = json.loads(document("doctor", doctor_payload(answer)))
    Draft202012Validator(schema).validate(written)
    assert len(written["checks"]) == len(answer.checks)
