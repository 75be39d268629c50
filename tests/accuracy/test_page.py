"""The page from a made-up model: what it says follows from the report."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from accuracy.constants import Constant, Fit, read_fit
from accuracy.gates import Gate, gates
from accuracy.page import page
from accuracy.predict import Prediction
from accuracy.report import Report, build
from accuracy.rows import read_rows
from accuracy.words import WORDS, Language
from artery.core.plan import Plan
from artery.core.workload import Workload

ROWS = {(r.workload, r.system, r.profile, r.plans): r.seconds for r in read_rows()[0]}

FITTED = Fit(
    (Constant("one", ("x.toml:y",), 0.5, "meaning", "含义"),), ("sc21-t1-1.7B", "sc21-t1-3.6B")
)


def knowing(
    workload: Workload, system: str, profile: str, plans: Sequence[Plan]
) -> Sequence[Prediction]:
    """A model that knows the answers, 4 % too slow; nothing fits in its 6 GB a layer."""
    seconds = 1.04 * ROWS.get((workload, system, profile, tuple(plans)), 1.0)
    low, high = 0.9 * seconds, 1.1 * seconds
    answer = Prediction(seconds, low, high, 1e9, 6e9 * workload.depth, "yes", 1.0)
    return [answer] * len(plans)


@cache
def report(fit: Fit | None = None) -> Report:
    return build(knowing, fit or Fit())


def verdicts(found: Report) -> dict[str, Gate]:
    return {gate.name: gate for gate in gates(found)}


def test_a_model_that_is_four_percent_slow_is_four_percent_wrong() -> None:
    head = report().head
    assert head is not None
    assert head.table_median_mean == pytest.approx(0.04)
    assert head.pooled_mean == pytest.approx(0.04, rel=0.01), "runs repeated at another time"
    assert head.within_loose == 1.0


def test_thresholds_say_what_holds_and_what_does_not() -> None:
    found = verdicts(report())
    assert found["pooled"].held
    assert found["pooled"].found == "4.0 %"
    assert not found["coverage"].held, "an interval that always holds is too wide"
    assert not found["layers"].held
    assert found["ran"].held


def test_one_configuration_that_does_not_fit_breaks_the_threshold() -> None:
    full = report()
    index = next(i for i, one in enumerate(full.ran) if one.row.id == full.step[0].id)
    broken = (*full.ran[:index], replace(full.ran[index], fits="no"), *full.ran[index + 1 :])
    assert not verdicts(replace(full, ran=broken))["ran"].held


def test_tables_with_a_fitted_row_are_apart() -> None:
    found = report(FITTED)
    assert found.fitted == ("megatron-sc21-table1",)
    assert found.head is not None
    assert found.head_fitted is not None
    assert "megatron-sc21-table1" not in found.head.tables
    assert found.head_fitted.tables == ("megatron-sc21-table1",)
    assert found.head_fitted.count == 10
    assert "| megatron-sc21-table1* |" in page(found, "en")


def test_a_fitted_row_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(ValueError, match="not-a-row"):
        Fit(rows=("not-a-row",)).tables(read_rows()[0])


def test_recalled_rows_are_left_out_of_the_checked_numbers() -> None:
    found = report()
    assert found.head is not None
    assert found.head_checked is not None
    recalled = [one for one in found.step if one.recalled]
    assert recalled
    assert found.head_checked.count == found.head.count - len(recalled)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_row_is_counted_once_on_the_page(language: Language) -> None:
    found = report()
    text = page(found, language)
    start = text.index(f"## {WORDS[language]['tables']}")
    tables = text[start : text.index(f"## {WORDS[language]['choice']}")]
    counts = [int(n) for n in re.findall(r"^\| [a-z0-9*-]+ \| (\d+) \|", tables, re.MULTILINE)]
    assert sum(counts) == len(found.rows)


def test_both_languages_print_the_same_numbers() -> None:
    def numbers(language: Language) -> list[list[str]]:
        rows = [line for line in page(report(FITTED), language).splitlines() if "|" in line]
        return [re.findall(r"[+-]?\d+\.\d %", row) for row in rows]

    assert numbers("en") == numbers("zh")


def test_both_languages_have_the_same_words_and_blanks() -> None:
    assert WORDS["en"].keys() == WORDS["zh"].keys()
    for key, text in WORDS["en"].items():
        other = WORDS["zh"][key]
        assert set(re.findall(r"{\w+}", text)) == set(re.findall(r"{\w+}", other)), key
        assert text.count("|") == other.count("|"), key


def test_tables_are_even() -> None:
    lines = page(report(FITTED), "en").splitlines()
    blocks: list[list[str]] = [[]]
    for line in lines:
        if line.startswith("|"):
            blocks[-1].append(line.replace("\\|", ""))
        elif blocks[-1]:
            blocks.append([])
    widths = [{line.count("|") for line in block} for block in blocks if block]
    assert widths
    assert all(len(width) == 1 for width in widths)


def test_what_was_fitted_is_read_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "fit.toml"
    path.write_text(
        'rows = ["a", "b"]\n'
        '[[constant]]\nname = "x"\nplaces = ["p"]\nvalue = 1.5\nmeaning = "m"\nmeaning_zh = "义"\n',
        encoding="utf-8",
    )
    assert read_fit(path) == Fit((Constant("x", ("p",), 1.5, "m", "义"),), ("a", "b"))


def test_coverage_is_of_the_rows_that_nothing_was_fitted_on() -> None:
    everything = report()
    narrow = [replace(one, low=2 * one.measured) for one in everything.step]
    assert not any(one.covered for one in narrow)
    assert everything.covered == 1.0
    assert report(FITTED).covered == 1.0
