"""The page on files of other tools lists every format, in both languages."""

from __future__ import annotations

from pathlib import Path

import pytest

from artery.formats.recognise import formats

DOCS = Path(__file__).parents[2] / "docs"


ANSWERS = [("read.md", "yes", "no"), ("read.zh.md", "是", "否")]


@pytest.mark.parametrize(("page", "yes", "no"), ANSWERS)
def test_every_format_is_on_the_page(page: str, yes: str, no: str) -> None:
    rows = [line for line in (DOCS / page).read_text("utf-8").splitlines() if line[:3] == "| `"]
    told = {row.split("`")[1]: row.rstrip("| ").rpartition("|")[2].strip() for row in rows}
    assert told == {one.name: yes if one.tested else no for one in formats()}
