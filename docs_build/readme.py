"""The README in both languages: a template with the real plan and the measured accuracy."""

from __future__ import annotations

import re
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Final

from artery.report.words import Language
from docs_build import ROOT, template

MODEL: Final = "llama3-405b"
SYSTEM: Final = "hgx-h100-roce:16384"
"""What ``make plan`` asks."""


def english() -> str:
    """Return ``README.md``."""
    return _page("en", ROOT / "docs" / "accuracy.md")


def chinese() -> str:
    """Return ``README.zh.md``."""
    return _page("zh", ROOT / "docs" / "accuracy.zh.md")


def _page(language: Language, accuracy: Path) -> str:
    text = template("README.md", language)
    drawn, searched = _plan(language)
    text = text.replace("{plan}", drawn).replace("{searched}", f"{searched:,}")
    text = text.replace("{demo}", _demo(language))
    return _headline(text.replace("{accuracy}", _claims(accuracy)))


@cache
def _plan(language: Language) -> tuple[str, int]:
    """The terminal's answer, and how many plans were searched."""
    from artery.answers.plan import plan
    from artery.report.drawing.terminal import draw
    from artery.report.plan import plan_drawing

    answer = plan(MODEL, SYSTEM)
    text = StringIO()
    draw(plan_drawing(answer, language, f"{MODEL} --on {SYSTEM}"), file=text, width=80)
    return text.getvalue().rstrip(), answer.searched


@cache
def _demo(language: Language) -> str:
    """What ``artery demo`` prints, without the training that follows where torch is."""
    from artery.answers.demo import demo
    from artery.report.demo import demo_drawing
    from artery.report.drawing.terminal import draw

    text = StringIO()
    draw(demo_drawing(demo(train=False), language), file=text, width=80)
    return text.getvalue().rstrip()


def _headline(text: str) -> str:
    """``text`` with the accuracy page's figures in place of what stands in braces."""
    page = (ROOT / "docs" / "accuracy.md").read_text(encoding="utf-8")
    found = {
        "rows": _first(r"torchtitan; (\d+) rows\)", page),
        "error": _first(r"\| mean error over all rows \|[^|]*\| ([^|]*) \|", page),
        "near": _first(r"\| rows within 12 % \|[^|]*\| ([^|]*) \|", page),
    }
    for name, value in found.items():
        text = text.replace(f"{{{name}}}", value)
    mean = r"\| {} \|[^|]*\|[^|]*\| ([^|]*) \|"
    return re.sub(r"\{mean:(.*?)\}", lambda each: _first(mean.format(each[1]), page), text)


def _first(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    if found is None:
        raise ValueError(f"nothing on docs/accuracy.md is as {pattern}")
    return found[1]


def _claims(page: Path) -> str:
    """The first table of the accuracy page."""
    lines = page.read_text(encoding="utf-8").splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("|"))
    end = next(i for i in range(start, len(lines)) if not lines[i].startswith("|"))
    return "\n".join(lines[start:end])
