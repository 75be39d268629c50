"""The configurations of the shared folder, to the unit."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from artery.formats.hf_config import read
from tests.conftest import shared_folder


def rows() -> list[dict[str, str]]:
    with (shared_folder() / "cases" / "INDEX.csv").open(newline="", encoding="utf-8") as source:
        return [row for row in csv.DictReader(source) if row["format"] == "hf-config"]


def number(text: str, expected: str) -> int | None:
    found = re.search(rf"{text} ([\d,]+)", expected)
    return int(found[1].replace(",", "")) if found else None


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["file"])
def test_weights_to_the_unit(row: dict[str, str], shared: Path) -> None:
    workload = read(shared / "cases" / row["file"])
    assert workload.parameters == number("total parameters", row["expected"])
    active = number("active per token", row["expected"])
    if active is not None:
        assert workload.active_parameters == active


def test_there_are_nineteen() -> None:
    assert len(rows()) == 19
