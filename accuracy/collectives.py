"""Collectives against published nccl-tests runs, and against what maintainers tell people.

:func:`score` compares times, :func:`maintainers` bus bandwidths with the printed range. The
constants of NCCL were fitted on tables that are not here (``catalog/data/libraries/nccl.toml``
names them); a row of ours from which a constant was taken is marked ``fitted`` and not counted.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

from accuracy.score import Compared
from artery.answers.expect import expect
from artery.answers.expect.result import ExpectAnswer, Speed
from artery.collective import bus_factor
from artery.core.pricing import named

DATA = Path(__file__).parent / "data"

SWEEPS = ("stas-a100-1n", "dgxc-h100-1n", "aws-p5-1n-batch", "stas-b200-1n")
"""The one-node sweeps that are gated, from ``SWEEP_FROM`` bytes up."""

SWEEP_FROM, SWEEP_MEDIAN = 2**20, 0.10
RANGE = 0.05
"""A predicted bus bandwidth may lie this far outside the nearer end of the printed range."""


@dataclass(frozen=True, slots=True)
class Timed(Compared):
    """One published time beside ours, in seconds, with the 80 % interval.

    ``fitted`` says that a constant was taken from this very row.
    """

    id: str
    table: str
    system: str
    collective: str
    algorithm: str
    size: int
    measured: float
    predicted: float
    low: float
    high: float
    fitted: bool


@dataclass(frozen=True, slots=True)
class Quoted:
    """One number that maintainers repeat: bus bandwidths in B/s.

    ``counted`` is false where the number, or what decides it, is measured catalog data;
    ``reason`` says which.
    """

    id: str
    hardware: str
    low: float
    high: float
    predicted: float
    counted: bool
    reason: str
    source: str

    @property
    def miss(self) -> float:
        """How far outside the range, as a share of its nearer end, signed; 0 inside."""
        if self.predicted < self.low:
            return self.predicted / self.low - 1
        return max(self.predicted / self.high - 1, 0.0)

    @property
    def held(self) -> bool:
        """Whether it is inside the range or within ``RANGE`` of its nearer end."""
        return abs(self.miss) <= RANGE


def score() -> list[Timed]:
    """Return every row of ``data/collectives.csv`` with our time, in the file's order."""
    groups: dict[tuple[str, str, str], list[Mapping[str, str]]] = defaultdict(list)
    for row in _rows("collectives.csv"):
        groups[row["system"], row["collective"], row["algorithm"]].append(row)
    scored = {}
    for (system, collective, algorithm), rows in groups.items():
        sizes = [int(row["size_bytes"]) for row in rows]
        answer = expect(collective, system, sizes=sizes, algorithm=algorithm)
        for row, priced in zip(rows, answer.rows, strict=True):
            scored[row["id"]] = _timed(row, answer, priced.speed)
    return [scored[row["id"]] for row in _rows("collectives.csv")]


def maintainers() -> list[Quoted]:
    """Return every row of ``data/maintainers.csv`` with our bus bandwidth."""
    quoted = []
    for row in _rows("maintainers.csv"):
        answer = expect(
            row["collective"],
            row["system"],
            sizes=[int(row["size_bytes"])],
            algorithm=row["algorithm"],
            chips_per_node=int(row["chips_per_node"]) if row["chips_per_node"] else None,
            overrides=tuple(filter(None, row["overrides"].split(";"))),
        )
        quoted.append(
            Quoted(
                id=row["id"],
                hardware=row["hardware"],
                low=float(row["low_busbw_bytes_per_s"]),
                high=float(row["high_busbw_bytes_per_s"]),
                predicted=answer.rows[0].speed.busbw,
                counted=row["counted"] == "yes",
                reason=row["reason"],
                source=row["source"],
            )
        )
    return quoted


def sweep_medians(rows: Iterable[Timed]) -> dict[str, float]:
    """Return the median error of each gated sweep, from ``SWEEP_FROM`` up, fitted rows left out."""
    errors: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        if row.table in SWEEPS and row.size >= SWEEP_FROM and not row.fitted:
            errors[row.table].append(row.error)
    return {table: median(errors[table]) for table in SWEEPS}


def _rows(name: str) -> list[Mapping[str, str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _timed(row: Mapping[str, str], answer: ExpectAnswer, speed: Speed) -> Timed:
    """Return one row scored; a source that prints only busbw gives its time through the factor."""
    size = int(row["size_bytes"])
    if row["time_s"]:
        measured = float(row["time_s"])
    else:
        factor = float(bus_factor(named(row["collective"]), np.array(answer.ranks)))
        measured = size * factor / float(row["busbw_bytes_per_s"])
    return Timed(
        id=row["id"],
        table=row["table"],
        system=row["system"],
        collective=row["collective"],
        algorithm=row["algorithm"],
        size=size,
        measured=measured,
        predicted=speed.seconds,
        low=speed.low,
        high=speed.high,
        fitted=row["fitted"] == "yes",
    )
