"""What the rows of an nccl-tests table mean: ranks, collective, peak, conventions, shape.

``busbw = algbw * 2 (n-1)/n`` for all-reduce and ``algbw * (n-1)/n`` for all-gather,
reduce-scatter and all-to-all (nccl-tests, PERFORMANCE.md), so that n follows from their ratio.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from artery.core.term import Measurement, Term

Row = Mapping[str, Any]

_ONE_SHARE: Final = ("all_gather", "reduce_scatter", "alltoall", "gather", "scatter", "hypercube")
_NEAR: Final = 0.02
"""Assumed: two decimals of a bandwidth and four digits of a time leave less than 2 %."""

_PRECISE: Final = 5e9
"""B/s. Assumed: below, two decimals say too little to find n."""


def side_values(row: Row, key: str) -> list[float]:
    """Return the values of ``key`` on both sides of a row, as far as known."""
    sides = (row["out_of_place"], row["in_place"])
    return [side[key] for side in sides if side is not None and side[key] is not None]


def ratio_of(rows: Iterable[Row]) -> float | None:
    """Return busbw / algbw of the row with the largest busbw, the most digits."""
    best: tuple[float, float] | None = None
    for row in rows:
        side = row["out_of_place"]
        bus, algorithm = side["busbw_bytes_per_s"], side["algbw_bytes_per_s"]
        if bus and algorithm and (best is None or bus > best[0]):
            best = bus, algorithm
    return None if best is None else best[0] / best[1]


def collective_of(
    name: str | None, rows: Sequence[Row], *, root: bool, reduction: bool
) -> str | None:
    """Return the collective: as ``name`` says, else as the columns and busbw / algbw tell."""
    if name is not None:
        return {"sendrecv": "sendrecv"}.get(name, name)
    ratio = ratio_of(rows)
    if ratio is not None and ratio > 1 + _NEAR:
        return "all_reduce"
    rooted = any((row["root"] or 0) >= 0 and row["root"] is not None for row in rows)
    if rows and root and rooted:
        return "reduce" if any(row["reduction"] for row in rows) else "broadcast"
    if reduction and not root and rows:
        return "all_reduce"
    return None


def ranks_from_ratio(collective: str | None, rows: Sequence[Row]) -> int | None:
    """Return n from busbw / algbw; ``None`` where the ratio does not tell."""
    ratio = ratio_of([row for row in rows if max(side_values(row, "busbw_bytes_per_s"), default=0)
                      >= _PRECISE] or rows)  # fmt: skip
    if ratio is None:
        return None
    if collective in ("all_reduce", None) and 1 < ratio < 2 - 1e-3:
        return round(2 / (2 - ratio))
    if collective in _ONE_SHARE and ratio < 1 - 1e-3:
        return round(1 / (1 - ratio))
    return 2 if collective == "all_reduce" and abs(ratio - 1) < 1e-9 else None


def old_share(rows: Sequence[Row]) -> float | None:
    """Return (n-1)/n if both columns already carry it, as in very old all-gather output.

    There size / time is larger than algbw by that factor, the same on every row.
    """
    shares = [
        side["algbw_bytes_per_s"] * side["time_s"] / row["size_bytes"]
        for row in rows
        for side in (row["out_of_place"],)
        if side["time_s"] and row["size_bytes"] and (side["algbw_bytes_per_s"] or 0) > 1e9
        and side["algbw_bytes_per_s"] == side["busbw_bytes_per_s"]
    ]  # fmt: skip
    if not shares or max(shares) > 1 - _NEAR or min(shares) < 0.45:
        return None
    middle = sorted(shares)[len(shares) // 2]
    return middle if all(abs(one - middle) < _NEAR for one in shares) else None


def peak(rows: Iterable[Row]) -> tuple[float, int] | None:
    """Return the largest busbw in B/s and the size in bytes where it was reached."""
    best: tuple[float, int] | None = None
    for row in rows:
        for value in side_values(row, "busbw_bytes_per_s"):
            if best is None or value > best[0]:
                best = value, row["size_bytes"]
    return best


def collapse(rows: Sequence[Row]) -> tuple[Row, Row] | None:
    """Return the two neighbours between which busbw falls below half as the size grows."""
    for before, after in pairwise(rows):
        if after["extra"] != before["extra"] or after["size_bytes"] <= before["size_bytes"]:
            continue
        ones, twos = (side_values(row, "busbw_bytes_per_s") for row in (before, after))
        if ones and twos and max(ones) > 1e9 and max(twos) < max(ones) / 2:
            return before, after
    return None


def measurement(
    collective: str, rows: Sequence[Row], ranks: int | None, source: str
) -> Measurement:
    """Return the out-of-place times by size as one tree."""
    terms = tuple(
        Term(str(row["size_bytes"]), "s", time, time, time, source=source)
        for row in rows
        if (time := row["out_of_place"]["time_s"]) is not None
    )
    total = sum(term.value for term in terms)
    root = Term(collective, "s", total, total, total, "sum", source=source, children=terms)
    conditions = {} if ranks is None else {"ranks": str(ranks)}
    return Measurement(root, source, conditions)
