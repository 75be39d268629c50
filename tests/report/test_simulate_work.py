"""``simulate --work`` on the terminal and as JSON: what is down is said as for a collective."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

import pytest

from artery.answers.simulate.down import Down
from artery.answers.simulate.request import Request
from artery.answers.simulate.work_result import RankTime, WorkAnswer
from artery.catalog import system
from artery.report.drawing.terminal import draw
from artery.report.simulate.work import work_drawing, work_payload
from artery.report.words import Language

NAMES = tuple(f"leaf {number} -> spine 0" for number in range(5))
DOWN = Down(5, 512, "between switches", NAMES, ("spine 3",), leaves=False)


def answered(down: Down | None) -> WorkAnswer:
    on = system("dgx-h100:8")
    request = replace(Request(collective="", on="dgx-h100:8"), routing="ecmp").document()
    return WorkAnswer(
        system=on, request=request, file="t", form="goal", ranks=1, tasks=1, collectives=0,
        messages=0, seconds=1.0, times=(RankTime(0, 1.0, 1.0),), critical=(), engine="messages",
        error=0.02, events=0, links=(), replicated=False, timeless=0, down=down,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("en", "5 of 512 links between switches: leaf 0 -> spine 0, leaf 1 -> spine 0,"),
        ("zh", "交换机之间 512 条链路中的 5 条：leaf 0 -> spine 0, leaf 1 -> spine 0,"),
    ],
)
def test_the_terminal_names_the_first_few(language: Language, line: str) -> None:
    drawn = StringIO()
    draw(work_drawing(answered(DOWN), language), file=drawn, width=160)
    text = " ".join(drawn.getvalue().split())
    assert line in text
    assert "leaf 2 -> spine 0" in text
    assert "leaf 3" not in text
    assert "spine 3" in text


def test_the_document_names_all() -> None:
    found = work_payload(answered(DOWN))["down"]
    assert isinstance(found, dict)
    assert found["link_names"] == NAMES
    assert found["switches"] == ("spine 3",)
    assert work_payload(answered(None))["down"] is None
