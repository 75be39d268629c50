"""Scores: how far predictions are from measurements, per table and over all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median

TIGHT, LOOSE = 0.10, 0.12
"""Relative errors that the shares count: within 10 % and within 12 %."""


class Compared:
    """What a record of a prediction beside a measurement, with an 80 % interval, gives."""

    __slots__ = ()
    measured: float
    predicted: float
    low: float
    high: float

    @property
    def signed(self) -> float:
        """predicted / measured - 1: above zero, the model is too slow."""
        return self.predicted / self.measured - 1

    @property
    def error(self) -> float:
        """Absolute relative error."""
        return abs(self.signed)

    @property
    def covered(self) -> bool:
        """Whether the interval holds the measurement."""
        return self.low <= self.measured <= self.high


@dataclass(frozen=True, slots=True)
class Scored(Compared):
    """One row's prediction beside its measurement, in seconds.

    ``low`` and ``high`` bound the 80 % interval, widened by what the source leaves open;
    ``model_flops_rate`` is the model's FLOP per second and chip that were measured.
    """

    id: str
    table: str
    chip: str
    measured: float
    predicted: float
    low: float
    high: float
    model_flops_rate: float
    recalled: bool = False


@dataclass(frozen=True, slots=True)
class Summary:
    """The errors of ``count`` rows: shares and errors are fractions, ``bias`` is signed."""

    count: int
    median: float
    mean: float
    p90: float
    worst: float
    bias: float
    within_tight: float
    within_loose: float
    covered: float


def summarise(rows: Sequence[Compared]) -> Summary:
    """Return the summary of at least one row."""
    errors = [row.error for row in rows]
    return Summary(
        count=len(rows),
        median=median(errors),
        mean=fmean(errors),
        p90=quantile(errors, 0.9),
        worst=max(errors),
        bias=fmean(row.signed for row in rows),
        within_tight=share(error <= TIGHT for error in errors),
        within_loose=share(error <= LOOSE for error in errors),
        covered=share(row.covered for row in rows),
    )


def quantile(values: Sequence[float], fraction: float) -> float:
    """Return the quantile by linear interpolation between order statistics."""
    ordered = sorted(values)
    place = fraction * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def share(hits: Iterable[bool]) -> float:
    """Return the fraction of true values, 0 of none."""
    found = list(hits)
    return sum(found) / len(found) if found else 0.0


def by_table(rows: Iterable[Scored]) -> dict[str, list[Scored]]:
    """Return the rows grouped by table, in the order of first appearance."""
    groups: dict[str, list[Scored]] = {}
    for row in rows:
        groups.setdefault(row.table, []).append(row)
    return groups


@dataclass(frozen=True, slots=True)
class Headline:
    """The numbers that the thresholds speak of, over whole tables.

    ``table_median_mean`` is the mean over tables of the table's median error, ``pooled_mean``
    the mean error over all rows, ``lookup_mean`` that of the lookup of one constant per chip
    and table.
    """

    tables: tuple[str, ...]
    count: int
    table_median_mean: float
    pooled_mean: float
    within_loose: float
    lookup_mean: float


def headline(rows: Sequence[Scored]) -> Headline:
    """Return the headline over ``rows``, at least one."""
    tables = by_table(rows)
    return Headline(
        tables=tuple(tables),
        count=len(rows),
        table_median_mean=fmean(median(row.error for row in group) for group in tables.values()),
        pooled_mean=fmean(row.error for row in rows),
        within_loose=share(row.error <= LOOSE for row in rows),
        lookup_mean=fmean(lookup_errors(rows)),
    )


def lookup_errors(rows: Iterable[Scored]) -> list[float]:
    """Return each row's error under the best constant of its chip and table.

    The lookup predicts model FLOP / (constant · peak); with r the row's own measured fraction
    of the peak, its error is |r / constant - 1|. The constant is the one with the least mean
    error on these very rows, so the lookup is judged more kindly than anything that predicts.
    """
    groups: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        groups.setdefault((row.chip, row.table), []).append(row.model_flops_rate)
    errors = []
    for rates in groups.values():
        constant = best_constant(rates)
        errors += [abs(rate / constant - 1) for rate in rates]
    return errors


def best_constant(rates: Sequence[float]) -> float:
    """Return the c that minimises the sum of |r/c - 1| over ``rates``.

    The sum is convex and piecewise linear in 1/c with kinks at 1/r, so the minimum lies at one
    of the rates: the one where the slopes to either side change sign (a weighted median).
    """
    return min(rates, key=lambda constant: sum(abs(rate / constant - 1) for rate in rates))
