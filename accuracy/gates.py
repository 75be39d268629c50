"""The thresholds that the accuracy page claims, each with what was found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from accuracy.collectives import SWEEP_MEDIAN, sweep_medians
from accuracy.memory import Peak
from accuracy.report import Report

TABLE_MEDIAN, POOLED, WITHIN = 0.06, 0.065, 0.88
COVERAGE = (0.70, 0.90)
REGRET_SHARE, ORDERED = 0.5, 0.75
LAYER, PEAK = 0.05, 0.15


@dataclass(frozen=True, slots=True)
class Gate:
    """One threshold: ``name`` is a key of the page's words, the texts are ready to print."""

    name: str
    threshold: str
    found: str
    held: bool


def percent(value: float) -> str:
    """Return a fraction as a percentage with one decimal."""
    return f"{100 * value:.1f} %"


def gates(report: Report) -> list[Gate]:
    """Return all thresholds in the page's order; those without any row are left out."""
    return [*_step(report), *_choice(report), *_collectives(report), *_memory(report)]


def _step(report: Report) -> list[Gate]:
    head = report.head
    if head is None:
        return []
    low, high = COVERAGE
    return [
        _most("table_median", head.table_median_mean, TABLE_MEDIAN),
        _most("pooled", head.pooled_mean, POOLED),
        _least("within", head.within_loose, WITHIN),
        Gate(
            "lookup",
            f"< {percent(head.lookup_mean)}",
            percent(head.pooled_mean),
            head.pooled_mean < head.lookup_mean,
        ),
        Gate(
            "coverage",
            f"{percent(low)} to {percent(high)}",
            percent(report.covered),
            low <= report.covered <= high,
        ),
    ]


def _choice(report: Report) -> list[Gate]:
    if not report.choices:
        return []
    pooled = report.choices[-1]
    return [
        _most("regret", pooled.regret, REGRET_SHARE * pooled.random_regret),
        _least("ordered", pooled.ordered, ORDERED),
    ]


def _collectives(report: Report) -> list[Gate]:
    medians = sweep_medians(report.timed)
    counted = [one.held for one in report.quoted if one.counted]
    return [
        _most("sweeps", max(medians.values()), SWEEP_MEDIAN),
        Gate("quoted", f"{len(counted)}", f"{sum(counted)}", all(counted)),
    ]


def _memory(report: Report) -> list[Gate]:
    step = {one.id for one in report.step}
    fits = [one.fits != "no" for one in report.ran if one.row.id in step]
    titan = titan_peaks(report.peaks)
    return [
        _most("layers", max(abs(check.signed) for check in report.layers), LAYER),
        Gate("ran", f"{len(fits)}", f"{sum(fits)}", all(fits)),
        _most("peaks", max(abs(peak.signed) for peak in titan), PEAK),
    ]


def titan_peaks(peaks: Iterable[Peak]) -> list[Peak]:
    """Return the peaks that torchtitan prints."""
    return [peak for peak in peaks if peak.row.record.dataset == "torchtitan"]


def _most(name: str, found: float, limit: float) -> Gate:
    return Gate(name, f"<= {percent(limit)}", percent(found), found <= limit)


def _least(name: str, found: float, limit: float) -> Gate:
    return Gate(name, f">= {percent(limit)}", percent(found), found >= limit)
