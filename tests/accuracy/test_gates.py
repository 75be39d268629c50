"""What the accuracy page claims, held by the model as it is.

A failure here is no bug of the harness: either the model changed, or a claim no longer holds.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

import pytest

import artery.catalog
from accuracy.__main__ import DOCS
from accuracy.constants import MOST_CONSTANTS, MOST_ROWS, MOST_TABLES, Constant, read_fit
from accuracy.gates import Gate, gates
from accuracy.page import page
from accuracy.report import Report, build
from accuracy.words import WORDS, Language

CATALOG = Path(artery.catalog.__file__).parent / "data"

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
    assert 0 < len(found.fit.constants) <= MOST_CONSTANTS
    assert len(set(found.fit.rows)) <= MOST_ROWS
    assert len(found.fitted) <= MOST_TABLES


def test_fitted_rows_are_rows_of_the_set() -> None:
    step = {one.id for one in report().step}
    assert set(report().fit.rows) <= step


@pytest.mark.parametrize("constant", read_fit().constants, ids=lambda constant: constant.name)
def test_the_catalog_holds_the_fitted_value(constant: Constant) -> None:
    assert constant.places
    for place in constant.places:
        file, _, field = place.partition(":")
        value: object = tomllib.loads((CATALOG / file).read_text(encoding="utf-8"))
        for key in field.split("."):
            assert isinstance(value, dict)
            value = value[key]
        assert (value[0] if isinstance(value, list) else value) == constant.value, place


@pytest.mark.parametrize(("language", "name"), [("en", "accuracy.md"), ("zh", "accuracy.zh.md")])
def test_the_committed_page_is_fresh(language: Language, name: str) -> None:
    committed = (DOCS / name).read_text(encoding="utf-8")
    assert page(report(), language) == committed, "run `make accuracy` and commit"
