"""Every file of the index is in one of the tables, and no other format claims it.

A log of nccl-tests with lines of NCCL and of the launcher in it is of these formats too.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from artery.formats.recognise import recognise
from artery.formats.text import beginning, read_text
from tests.conftest import shared_folder
from tests.formats import test_cluster_tools_shared as cluster
from tests.formats import test_gpu_tools_shared as gpu
from tests.formats.hf_config import test_hf_config_shared as models


def rows() -> list[dict[str, str]]:
    with (shared_folder() / "cases" / "INDEX.csv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def test_all_hundred_and_five_files_are_held_to_the_index() -> None:
    files = {row["file"] for row in rows()}
    covered = {*gpu.CASES, *gpu.MEASURED, *cluster.CASES, *cluster.REFUSED}
    covered |= {row["file"] for row in models.rows()}
    assert len(files) == 105
    assert files <= covered


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["file"])
def test_one_format_claims_a_real_file(row: dict[str, str]) -> None:
    path = str(shared_folder() / "cases" / row["file"])
    text = beginning(path) if Path(path).suffix in (".et", ".gz") else read_text(path)
    claims = [one.name for one in recognise(text)]
    mixed = row["format"] == "nccl-tests" and "NCCL INFO" in text.content
    allowed = {"nccl-debug", "torchrun"} if mixed else set()
    assert set(claims[1:]) <= allowed, claims
    assert claims
