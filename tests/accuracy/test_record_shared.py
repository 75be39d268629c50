"""The figures carried over are those of the shared folder."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from accuracy.record import Record, read_records

FILES = ("train_megatron.csv", "train_llm_scale.csv")
COLUMNS = {
    "chips": "n_accel",
    "layers": "n_layers",
    "hidden": "d_model",
    "heads": "n_heads",
    "sequence": "seq_len",
    "tp": "tp",
    "pp": "pp",
    "cp": "cp",
    "global_batch": "global_batch_seqs",
    "seconds": "step_time_s",
    "tflops": "achieved_tflops_per_accel",
    "memory_gib": "memory_gib_per_accel",
}
RECORDS = {record.id: record for record in read_records()}


@pytest.mark.parametrize("file", FILES)
def test_every_training_row_is_carried_over_unchanged(file: str, shared: Path) -> None:
    with (shared / "validation" / file).open(newline="", encoding="utf-8") as source:
        for row in csv.DictReader(source):
            assert differences(RECORDS[row["id"]], row) == [], row["id"]


def differences(record: Record, row: dict[str, str]) -> list[str]:
    """The names of the columns in which the carried-over row differs from its source."""
    found = []
    for name, column in COLUMNS.items():
        ours, theirs = getattr(record, name), row[column]
        if ours is None and not theirs:
            continue
        if ours is None or not theirs or ours != float(theirs):
            found.append(name)
    return found
