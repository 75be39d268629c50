"""The configurations of the shared folder, to the unit: as a workload, and as read."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from artery.formats.hf_config import read
from artery.formats.recognise import read as recognised
from tests.conftest import shared_folder

OTHER = {
    "13-nemotron-h-56b.json": ("hybrid mamba/attention pattern string", "family", "state-space"),
    "31-clip-vit-l14.json": ("two towers nested", "family", "clip"),
    "35-mamba-2.8b.json": ("no attention, no KV", "kv_bytes_per_token", None),
}
"""Where the index has no bytes of the cache: its words, the field and the value they stand for."""


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


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["file"])
def test_a_real_file(row: dict[str, str], shared: Path) -> None:
    """Format, kind, and two fields of the document by the words of the index."""
    found = recognised(str(shared / "cases" / row["file"]))
    assert (found.format, found.kind) == ("hf-config", "workload")
    assert found.fields["parameters"] == number("total parameters", row["expected"])
    cache = number("KV cache", row["expected"])
    words, field, value = OTHER.get(
        Path(row["file"]).name, ("KV cache", "kv_bytes_per_token", cache)
    )
    assert words in row["expected"]
    assert (cache is None) == (Path(row["file"]).name in OTHER)
    assert found.fields[field] == value


def test_there_are_nineteen() -> None:
    assert len(rows()) == 19
