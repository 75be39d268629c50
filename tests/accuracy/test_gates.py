"""What the accuracy page claims, held by the model as it is.

A failure here is no bug of the harness: either the model changed, or a claim no longer holds.
"""

from __future__ import annotations

from functools import cache

import pytest

from accuracy.__main__ import DOCS
from accuracy.constants import MOST_CONSTANTS, MOST_ROWS, MOST_TABLES, fitted_ids
from accuracy.gates import Gate, gates
from accuracy.page import page
from accuracy.report import Report, build
from accuracy.words import WORDS, Language

NAMES = (
    "table_median", "pooled", "within", "lookup", "coverage", "regret", "ordered", "sweeps",
    "quoted", "layers", "ran", "peaks",
)  # fmt: skip


@cache
def report() -> Report:
    return build()


@cache
def verdicts() -> dict[str, Gate]:
    return {gate.name: gate for gate in gates(report())}


@pytest.mark.parametrize("name", NAMES)
def test_the_claim_holds(name: str) -> None:
    gate = verdicts()[name]
    assert gate.held, f"{WORDS['en'][name]}: {gate.found}, claimed {gate.threshold}"


def test_no_claim_is_left_out() -> None:
    assert tuple(verdicts()) == NAMES


def test_few_constants_were_fitted_on_few_rows_of_few_tables() -> None:
    found = report()
    assert 0 < len(found.constants) <= MOST_CONSTANTS
    assert len(fitted_ids(found.constants)) <= MOST_ROWS
    assert len(found.fitted) <= MOST_TABLES


def test_fitted_rows_are_rows_of_the_set() -> None:
    step = {one.id for one in report().step}
    assert fitted_ids(report().constants) <= step


@pytest.mark.parametrize(("language", "name"), [("en", "accuracy.md"), ("zh", "accuracy.zh.md")])
def test_the_committed_page_is_fresh(language: Language, name: str) -> None:
    committed = (DOCS / name).read_text(encoding="utf-8")
    assert page(report(), language) == committed, "run `make accuracy` and commit"
