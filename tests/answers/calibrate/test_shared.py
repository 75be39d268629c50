"""Calibration of a cloud's network on published sizes, tried on those that were not used.

The split is declared: of the table ``aws-p5-2n`` (two p5.48xlarge over EFA) the first, third, ...
size is fitted and the others are predicted; once from 1 MiB up, as the accuracy page gates its
sweeps, once over all sizes, and once with the halves changed over.
``test_calibrate.py`` does the same on a log of our own.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from artery.answers.calibrate import calibrate


def log(table: Path, dataset: str, path: Path, first: int = 0) -> str:
    with table.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["dataset"] == dataset]
    ranks, nodes = int(rows[0]["n_accel"]), int(rows[0]["n_nodes"])
    each = ranks // nodes
    lines = [
        f"#  Rank {r} Group 0 Pid {r + 9} on host{r // each} device {r % each} [0x0{r % 8}] GPU"
        for r in range(ranks)
    ]
    lines.append("#  size count type redop root time algbw busbw #wrong")
    for row in rows[first:]:
        size, time = int(row["size_bytes"]), float(row["time_us"])
        rate = size / time / 1e3
        bus = rate * 2 * (ranks - 1) / ranks
        lines.append(f"{size} {size // 4} float sum -1 {time:.2f} {rate:.2f} {bus:.2f} 0")
    path.write_text("\n".join([*lines, "# Out of bounds values : 0 OK", ""]), encoding="utf-8")
    return str(path)


def test_the_median_error_of_an_uncalibrated_cloud_is_halved_on_other_sizes(
    shared: Path, tmp_path: Path
) -> None:
    table = shared / "validation" / "collectives.csv"
    path = log(table, "aws-p5-2n", tmp_path / "p5.log")
    check = calibrate(path, on="aws-p5", smallest=2**20).check
    assert check is not None
    assert check.points >= 7
    assert check.after <= check.before / 2


@pytest.mark.parametrize("first", [0, 1])
def test_it_is_halved_over_all_sizes_whichever_half_is_fitted(
    first: int, shared: Path, tmp_path: Path
) -> None:
    table = shared / "validation" / "collectives.csv"
    path = log(table, "aws-p5-2n", tmp_path / "p5.log", first)
    check = calibrate(path, on="aws-p5").check
    assert check is not None
    assert check.points >= 15
    assert check.after <= check.before / 2
    small, *others = check.classes
    assert small.after < 0.05, "the catalog's start is of this table: no more than its scatter"
    for one in others:
        assert one.after < one.before / 2
