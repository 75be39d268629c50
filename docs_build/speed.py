"""``docs/speed.md`` and its Chinese twin: the speed law of jobs against published steps."""

from __future__ import annotations

from accuracy.speed import Scored, kept
from artery.cloud.speed import PAIR, SHOWN
from artery.report.words import Language
from docs_build import template


def english() -> str:
    """Return ``docs/speed.md``."""
    return _page("en")


def chinese() -> str:
    """Return ``docs/speed.zh.md``."""
    return _page("zh")


def _page(lang: Language) -> str:
    rows = "".join(_row(each) for each in kept())
    text = template("speed.md", lang).replace("{rows}", rows)
    return text.replace("{pair}", f"{PAIR:g}").replace("{shown}", f"{SHOWN:.0%}")


def _row(one: Scored) -> str:
    job = f"**{one.job}**" if one.job == "all" else one.job
    errors = " | ".join(f"{100 * x:.1f} %" for x in (one.fitted, one.test, one.largest))
    counts = f"{one.fitted_rows:,} | {one.test_rows:,}"
    return f"| {one.cluster} | {job} | {counts} | {errors} | {100 * one.far:+.0f} % |\n"
