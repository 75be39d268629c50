"""Which constants were fitted, and on which rows: ``fit.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from accuracy.rows import Row

PATH = Path(__file__).parent / "fit.toml"
MOST_CONSTANTS, MOST_ROWS, MOST_TABLES = 12, 40, 3


@dataclass(frozen=True, slots=True)
class Constant:
    """One fitted constant; ``rows`` are the ids of the rows that it was fitted on."""

    name: str
    place: str
    value: float
    meaning: str
    meaning_zh: str
    rows: tuple[str, ...]


def read_constants(path: Path = PATH) -> tuple[Constant, ...]:
    """Return the fitted constants in the file's order.

    A constant without ``rows`` of its own was fitted on all rows that the file's head lists.
    """
    table: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))
    common = table.get("rows", [])
    return tuple(
        Constant(**{**entry, "rows": tuple(entry.get("rows", common))})
        for entry in table["constant"]
    )


def fitted_ids(constants: Iterable[Constant]) -> frozenset[str]:
    """Return the ids of all fitted rows."""
    return frozenset(row for constant in constants for row in constant.rows)


def fitted_tables(constants: Iterable[Constant], rows: Iterable[Row]) -> tuple[str, ...]:
    """Return the tables that hold a fitted row, in the rows' order.

    Raises ``ValueError`` if a fitted row is not among ``rows``.
    """
    ids = fitted_ids(constants)
    known = {row.id: row.table for row in rows}
    unknown = sorted(ids - known.keys())
    if unknown:
        raise ValueError(f"fit.toml names rows that are not scored: {', '.join(unknown)}")
    return tuple(dict.fromkeys(table for row, table in known.items() if row in ids))
