"""What was fitted, and on which rows: ``fit.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from accuracy.rows import Row

PATH = Path(__file__).parent / "fit.toml"
MOST_CONSTANTS, MOST_ROWS, MOST_TABLES = 12, 40, 3


@dataclass(frozen=True, slots=True)
class Constant:
    """One fitted constant; ``places`` are ``file:field`` below the catalog's data."""

    name: str
    places: tuple[str, ...]
    value: float
    meaning: str
    meaning_zh: str


@dataclass(frozen=True, slots=True)
class Fit:
    """The fitted constants, and the ids of the rows that they were fitted on."""

    constants: tuple[Constant, ...] = ()
    rows: tuple[str, ...] = ()

    def tables(self, rows: Iterable[Row]) -> tuple[str, ...]:
        """Return the tables that hold a fitted row, in the order of ``rows``.

        Raises ``ValueError`` if a fitted row is not among ``rows``.
        """
        known = {row.id: row.table for row in rows}
        unknown = sorted(set(self.rows) - known.keys())
        if unknown:
            raise ValueError(f"fit.toml names rows that are not scored: {', '.join(unknown)}")
        return tuple(dict.fromkeys(table for row, table in known.items() if row in self.rows))


def read_fit(path: Path = PATH) -> Fit:
    """Return what ``path`` says was fitted."""
    table = tomllib.loads(path.read_text("utf-8"))
    constants = tuple(
        Constant(**{**entry, "places": tuple(entry["places"])}) for entry in table["constant"]
    )
    return Fit(constants, tuple(table["rows"]))
