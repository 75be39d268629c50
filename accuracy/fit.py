"""``python -m accuracy.fit``: fits the step model's constants on the declared rows.

The constants, the tables and the rule that picks their rows were named before any prediction of
the other tables was looked at. Values go by hand from here into ``fit.toml`` and the catalog; a
test holds the two together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from accuracy.rows import Row, read_rows
from artery.answers.pricing import closed_form
from artery.catalog import profile, system
from artery.core.chip import AttentionCurve, Chip
from artery.core.pricing import Pricer
from artery.core.profile import Profile
from artery.core.system import System
from artery.step import evaluate

MOST_ROWS = 24
"""Rows taken of one table: evenly spaced in the order of their ids."""

TABLES = ("megatron-sc21-table1", "llm-foundry", "dle-bert")

PRIOR_SPREAD = 0.15
"""Relative standard deviation of the weak prior that holds constants the rows hardly move."""

ROW_SPREAD = 0.05
"""Relative standard deviation of a row; residuals beyond it count less (soft l1)."""

Change = Callable[[Chip, Profile, float], tuple[Chip, Profile]]

FUSED = ("megatron-2021", "megatron-core", "nemo", "meta-llama3", "torchtitan", "deepspeed-2021")
EAGER = ("fsdp-foundry", "torchtitan-eager", "pytorch-ddp")
FSDP = ("fsdp-foundry", "torchtitan", "torchtitan-eager")


@dataclass(frozen=True, slots=True)
class Constant:
    """A fitted constant: what it means, where the fit starts, its bounds, how it is applied."""

    name: str
    start: float
    low: float
    high: float
    apply: Change


def _sustained(chips: Sequence[str]) -> Change:
    def change(chip: Chip, known: Profile, value: float) -> tuple[Chip, Profile]:
        if chip.name not in chips:
            return chip, known
        return replace(chip, efficiency=replace(chip.efficiency, sustained=value)), known

    return change


def _flash1_h100(chip: Chip, known: Profile, value: float) -> tuple[Chip, Profile]:
    if chip.name != "h100-sxm":
        return chip, known
    curves = dict(chip.efficiency.attention)
    curves["flash1"] = AttentionCurve(value, curves["flash1"].half_length)
    return replace(chip, efficiency=replace(chip.efficiency, attention=curves)), known


def _profile(field: str, names: Sequence[str] | None = None) -> Change:
    def change(chip: Chip, known: Profile, value: float) -> tuple[Chip, Profile]:
        if names is not None and known.name not in names:
            return chip, known
        one: dict[str, Any] = {field: value}
        return chip, replace(known, **one)

    return change


def _fsdp_overlap(chip: Chip, known: Profile, value: float) -> tuple[Chip, Profile]:
    if known.name not in FSDP:
        return chip, known
    return chip, replace(known, overlap={**known.overlap, "dp": value})


CONSTANTS = (
    Constant("sustained clock, A100", 0.98, 0.80, 1.0, _sustained(("a100-80g", "a100-40g"))),
    Constant("sustained clock, H100", 0.85, 0.70, 1.0, _sustained(("h100-sxm",))),
    Constant("straggler per doubling of nodes", 0.0124, 0.0, 0.03, _profile("straggler")),
    Constant("traffic, fused kernels", 1.0, 0.7, 2.0, _profile("traffic", FUSED)),
    Constant("traffic, eager kernels", 1.5, 0.7, 3.0, _profile("traffic", EAGER)),
    Constant("traffic, BERT script", 1.5, 0.7, 3.0, _profile("traffic", ("dle-bert",))),
    Constant("FSDP overlap", 0.8, 0.0, 1.0, _fsdp_overlap),
    Constant("FSDP contention", 0.3, 0.0, 1.0, _profile("contention", FSDP)),
    Constant("FlashAttention 1 on H100", 0.20, 0.1, 0.5, _flash1_h100),
)


def fit_rows(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Return the declared rows: of each table at most ``MOST_ROWS``, evenly spaced by id."""
    chosen: list[Row] = []
    for table in TABLES:
        there = sorted((row for row in rows if row.table == table), key=lambda row: row.id)
        count = min(len(there), MOST_ROWS)
        step = (len(there) - 1) / max(count - 1, 1)
        chosen += [there[round(i * step)] for i in range(count)]
    return tuple(chosen)


@cache
def _priced(name: str) -> tuple[System, Pricer]:
    found = system(name)
    return found, closed_form(found)


def seconds(row: Row, values: Sequence[float]) -> float:
    """Return the predicted step of ``row`` with the constants at ``values``."""
    found, pricer = _priced(row.system)
    chip, known = found.chip, profile(row.profile)
    for constant, value in zip(CONSTANTS, values, strict=True):
        chip, known = constant.apply(chip, known, float(value))
    answer = evaluate(
        row.workload, replace(found, chip=chip), [row.plan], profile=known, pricer=pricer
    )
    return float(answer.step[0])


def fitted(rows: Sequence[Row]) -> Mapping[str, float]:
    """Return the constants by name that fit ``rows`` best: least squares of log errors."""
    start = np.array([c.start for c in CONSTANTS])
    bounds = (np.array([c.low for c in CONSTANTS]), np.array([c.high for c in CONSTANTS]))

    def residuals(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> list[float]:
        errors = [np.log(seconds(row, values.tolist()) / row.seconds) / ROW_SPREAD for row in rows]
        prior = (values / start - 1.0) / PRIOR_SPREAD
        return [*errors, *prior]

    best = least_squares(residuals, start, bounds=bounds, loss="soft_l1", x_scale=start)
    return {c.name: float(v) for c, v in zip(CONSTANTS, best.x, strict=True)}


def main() -> None:
    """Fit, and print constants and residuals."""
    rows = fit_rows(read_rows()[0])
    constants = fitted(rows)
    for name, value in constants.items():
        print(f"{name:34s} {value:.4f}")
    values = list(constants.values())
    for row in rows:
        error = seconds(row, values) / row.seconds - 1.0
        print(f"{row.id:44s} {row.seconds:9.3f} s  {error:+.3f}")


if __name__ == "__main__":
    main()
