"""Writes the generated pages of ``docs/``: ``python -m docs_build [PAGE...]``, ``make docs``.

A page is one line in :data:`PAGES`: its path and the function that returns its text. A test
compares every committed page with what its function returns now.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from artery.report.words import Language

ROOT: Final = Path(__file__).parent.parent

PAGES: Final[dict[str, str]] = {
    "README.md": "docs_build.readme:english",
    "README.zh.md": "docs_build.readme:chinese",
    "docs/goodput.md": "docs_build.goodput:english",
    "docs/goodput.zh.md": "docs_build.goodput:chinese",
    "docs/schedule.md": "docs_build.schedule:english",
    "docs/schedule.zh.md": "docs_build.schedule:chinese",
    "docs/speed.md": "docs_build.speed:english",
    "docs/speed.zh.md": "docs_build.speed:chinese",
    "docs/network.md": "docs_build.network:english",
    "docs/network.zh.md": "docs_build.network:chinese",
    "docs/diagnose.md": "docs_build.diagnose:english",
    "docs/diagnose.zh.md": "docs_build.diagnose:chinese",
    "docs/lint.md": "docs_build.lint:english",
    "docs/lint.zh.md": "docs_build.lint:chinese",
    "docs/picture.svg": "docs_build.picture:drawing",
    "docs/article.md": "docs_build.article:english",
    "docs/article.zh.md": "docs_build.article:chinese",
}
"""Path from the root of the repository to ``module:function``, which takes nothing."""


def template(page: str, language: Language) -> str:
    """Return the words of ``page`` in ``language``; what is computed stands in braces."""
    name = page if language == "en" else page.replace(".md", ".zh.md")
    return (ROOT / "docs_build" / "templates" / name).read_text(encoding="utf-8")


def text(page: str) -> str:
    """Return the text that ``page`` should have now."""
    module, _, function = PAGES[page].partition(":")
    result = getattr(import_module(module), function)()
    if not isinstance(result, str):
        raise TypeError(f"{PAGES[page]} returned no text")
    return result
