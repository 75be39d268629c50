"""Rows of size and time of benchmarks of message passing: what they have in common."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from artery.core.term import Measurement, Term
from artery.errors import InputError, Problem
from artery.formats.text import Text

SPIKE: Final = 3.0
"""Assumed: a time this many times that of a larger message is no property of the network."""


def no_rows(text: Text, rule: str) -> InputError:
    """Return the error for a benchmark's output without a row."""
    fix = "send the whole output"
    return InputError(Problem(file=text.path, found="no row", rule=rule, fix=fix))


def spikes(rows: Sequence[dict[str, Any]], key: str = "time_s") -> list[int]:
    """Return the sizes that took ``SPIKE`` times as long as some larger one."""
    found: list[int] = []
    least = float("inf")
    for row in reversed(rows):
        time = row.get(key)
        if time is None:
            continue
        if time > SPIKE * least:
            found.append(row["size_bytes"])
        least = min(least, time)
    return found[::-1]


def measured(
    name: str, rows: Iterable[dict[str, Any]], source: str, ranks: int | None
) -> Measurement:
    """Return the times of ``rows`` by size as one tree; low and high are theirs, if known."""
    terms = tuple(
        Term(str(row["size_bytes"]), "s", row["time_s"], row.get("time_min_s") or row["time_s"],
             row.get("time_max_s") or row["time_s"], source=source)
        for row in rows if row.get("time_s") is not None
    )  # fmt: skip
    total = sum(term.value for term in terms)
    root = Term(name, "s", total, total, total, "sum", source=source, children=terms)
    return Measurement(root, source, {} if ranks is None else {"ranks": str(ranks)})
