"""The columns of a table held against each other: time and size, algbw, busbw.

``algbw = size / time`` and ``busbw = algbw · f(n)`` (nccl-tests, PERFORMANCE.md), so that any two
columns tell which of the others lies. Very old all-gather output carries (n-1)/n in both
bandwidths; its reader knows that, and its busbw is right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Final, Literal

import numpy as np

from artery.collective import bus_factor
from artery.core.pricing import Collective
from artery.units import show_rate

Lies = Literal["none", "busbw", "algbw", "unit", "rows", "unknown"]

_NEAR: Final = 0.04
"""Assumed: two decimals of a bandwidth and four digits of a time leave less."""

_LEAST: Final = 0.5e9
"""B/s. Assumed: below, two decimals say too little."""

_BITS: Final = 8.0


@dataclass(frozen=True, slots=True)
class Columns:
    """Which column lies.

    ``algbw`` and ``busbw`` are what the columns say over what size and time give; ``rates`` are
    busbw in B/s by size as size and time give them, of the rows that agree. ``unit``: both
    bandwidths are eight times too large, so that they are bits. ``rows``: some rows alone.
    ``unknown``: nothing tells whether time or both bandwidths lie.
    """

    lies: Lies
    algbw: float
    busbw: float
    rates: Mapping[int, float]


def columns_of(
    rows: Sequence[Mapping[str, Any]], collective: Collective, ranks: int | None
) -> Columns | None:
    """Return which column of the ``rows`` lies; ``None`` where too little is there to tell."""
    sides = [(row["size_bytes"], row["out_of_place"]) for row in rows]
    told = [
        (size, side["time_s"], side["algbw_bytes_per_s"], side["busbw_bytes_per_s"])
        for size, side in sides
        if size
        and side["time_s"]
        and (side["algbw_bytes_per_s"] or 0.0) >= _LEAST
        and (side["busbw_bytes_per_s"] or 0.0) >= _LEAST
    ]
    if not told or ranks is None or ranks < 2:
        return None
    factor = float(bus_factor(collective, np.array(ranks)))
    first = [algbw * time / size for size, time, algbw, _ in told]
    second = [busbw * time / size / factor for size, time, _, busbw in told]
    a, b = median(first), median(second)
    lies = _lies(a, b)
    off = [not _same(one, a) or not _same(two, b) for one, two in zip(first, second, strict=True)]
    if lies == "none" and any(off):
        lies = "rows"
    rates = {
        size: size / time * factor
        for (size, time, *_), wrong in zip(told, off, strict=True)
        if not wrong
    }
    return Columns(lies, a, b, rates)


def _lies(algbw: float, busbw: float) -> Lies:
    if _same(algbw, 1.0) and _same(busbw, 1.0):
        return "none"
    if _same(algbw, 1.0):
        return "busbw"
    if _same(busbw, 1.0):
        return "algbw"
    return "unit" if _same(algbw, _BITS) and _same(busbw, _BITS) else "unknown"


def _same(one: float, other: float) -> bool:
    return abs(one / other - 1.0) < _NEAR


_TOLD: Final = 0.15
"""Assumed: what people round when they tell a time and a bandwidth."""


def told_busbw(row: Mapping[str, Any], collective: Collective, ranks: int) -> float | None:
    """Return busbw in B/s of a measurement that tells algbw alone; ``None`` for any other."""
    if "busbw" in row or not row.get("algbw"):
        return None
    return float(row["algbw"]) * float(bus_factor(collective, np.array(ranks)))


def told_contradiction(row: Mapping[str, Any], collective: Collective, ranks: int) -> str | None:
    """Return how a measurement that people tell contradicts itself; ``None`` if it does not.

    Of ``busbw``, ``algbw``, and ``size`` over ``latency``, any two say the same.
    """
    factor = float(bus_factor(collective, np.array(ranks)))
    found = {}
    if row.get("busbw"):
        found["busbw"] = float(row["busbw"]) / factor
    if row.get("algbw"):
        found["algbw"] = float(row["algbw"])
    if row.get("size") and row.get("latency"):
        found["size / latency"] = float(row["size"]) / float(row["latency"])
    ranked = sorted(found.items(), key=lambda one: one[1])
    if len(ranked) < 2 or ranked[-1][1] <= (1 + _TOLD) * ranked[0][1]:
        return None
    (low, least), (high, most) = ranked[0], ranked[-1]
    return (
        f"{high} of {ranks} ranks is an algbw of {show_rate(most)}, and {low} one of "
        f"{show_rate(least)}"
    )
