"""Calibration of a cloud's network on published sizes, tried on those that were not used.

The split is declared: of the table ``aws-p5-2n`` (two p5.48xlarge over EFA), from 1 MiB up as the
accuracy page gates its sweeps, the first, third, ... size is fitted and the others are predicted.
``test_calibrate.py`` does the same on a log of our own.
"""

from __future__ import annotations

import csv
from pathlib import Path

from artery.answers.calibrate import calibrate


def log(table: Path, dataset: str, path: Path) -> str:
    with table.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["dataset"] == dataset]
    ranks, nodes = int(rows[0]["n_accel"]), int(rows[0]["n_nodes"])
    each = ranks // nodes
    lines = [
        f"#  Rank {r} Group 0 Pid {r + 9} on host{r // each} device {r % each} [0x0{r % 8}] GPU"
        for r in range(ranks)
    ]
    lines.append("#  size count type redop root time algbw busbw #wrong")
    for row in rows:
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
