"""Renders what ``doctor`` found."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from artery.answers.doctor import DoctorAnswer
from artery.report.drawing.terminal import indented
from artery.report.said import said
from artery.report.words import Language, words

_STYLE = {"ok": "green", "missing": "yellow", "failed": "red"}


def doctor_payload(answer: DoctorAnswer) -> Mapping[str, object]:
    """Return the keys of ``artery.doctor/1``: ``checks[]{group,name,state,detail,needed_for}``."""
    return {"checks": answer.checks}


def doctor_drawing(answer: DoctorAnswer, language: Language) -> RenderableType:
    """Return the checks by group; what is missing says what it would be needed for."""
    word = words(language)
    parts: list[RenderableType] = []
    for group, checks in groupby(answer.checks, key=lambda check: check.group):
        table = Table.grid(padding=(0, 2))
        for check in checks:
            use = said(check.needed_for, language, "doctor")
            needed = f" ({word['needed_for']}: {use})" if check.state != "ok" else ""
            table.add_row(
                Text(check.name),
                Text(word[f"doctor_{check.state}"], style=_STYLE[check.state]),
                Text(said(check.detail, language, "doctor") + needed, overflow="fold"),
            )
        parts += [Text(word[f"group_{group}"], style="bold"), indented(table)]
    return Group(*parts)
