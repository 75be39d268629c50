"""Generated pages are what their functions return now."""

from __future__ import annotations

import pytest

import docs_build
from docs_build import PAGES, ROOT, text


@pytest.mark.parametrize("page", PAGES)
def test_the_committed_page_is_fresh(page: str) -> None:
    committed = (ROOT / page).read_text(encoding="utf-8")
    assert text(page) == committed, "run `make docs` and commit"


def test_a_page_without_text_is_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(docs_build.PAGES, "x.md", "os:getcwdb")
    with pytest.raises(TypeError, match="no text"):
        text("x.md")
