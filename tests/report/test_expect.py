"""How ``expect`` is drawn and written."""

from __future__ import annotations

import json
from importlib.resources import files
from io import StringIO

import pytest
from jsonschema import Draft202012Validator

from artery.answers.expect import expect
from artery.answers.expect.result import ExpectAnswer
from artery.report.drawing.terminal import draw
from artery.report.expect import TABLE_WIDTH, expect_drawing, expect_payload
from artery.report.expect.words import expect_words
from artery.report.words import Language
from artery.report.writing.json import document
from tests import snapshot


def drawn(answer: ExpectAnswer, language: Language = "en") -> str:
    text = StringIO()
    draw(expect_drawing(answer, language), file=text, width=80, least=TABLE_WIDTH)
    return text.getvalue()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_whole_answer_as_people_see_it(language: Language) -> None:
    answer = expect("all_reduce", "dgx-h100:16", sizes="1M:16G:x8")
    snapshot.check(f"expect.{language}.txt", drawn(answer, language))


def test_the_table_has_the_columns_of_nccl_tests_and_is_never_cut() -> None:
    lines = drawn(expect("alltoall", "gb200-nvl72:144")).splitlines()
    head = next(line for line in lines if "algbw" in line)
    assert head.split() == [
        "size", "count", "type", "redop", "root", "time", "algbw", "busbw", "wire",
        "algorithm/protocol",
    ]  # fmt: skip
    assert "…" not in "".join(lines)
    rows = [line.split() for line in lines if line.strip()[:1].isdigit()]
    assert len(rows) == 32
    assert all(len(row) == 10 for row in rows)


@pytest.mark.parametrize(
    ("collective", "on"),
    [
        ("all_reduce", "dgx-h100:32"),
        ("alltoall", "dgx-a100:64"),
        ("broadcast", "dgx-1v"),
        ("sendrecv", "ethernet-10g:2"),
        ("reduce_scatter", "tpu-v4-pod:4x4x4"),
        ("all_gather", "mi300x-8"),
        ("reduce", "h100"),
    ],
)
def test_the_document_follows_its_published_schema(collective: str, on: str) -> None:
    schema = json.loads(files("artery.report").joinpath("schemas/expect.json").read_text("utf-8"))
    answer = expect(collective, on, sizes="8:1G:x16")
    written = json.loads(document("expect", expect_payload(answer)))
    Draft202012Validator(schema).validate(written)
    assert [row["size_bytes"] for row in written["rows"]] == [row.size for row in answer.rows]


def test_both_languages_have_the_same_words() -> None:
    assert expect_words("en").keys() == expect_words("zh").keys()
