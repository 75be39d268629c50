"""``Recipe``: how the rows of one table become plans; ``Refusal``: why some rows cannot."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

from accuracy.record import Record

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Match:
    """What a record must be. Text is searched by pattern; ``None`` asks for nothing.

    ``dtypes`` lists training dtypes; ``laid_out`` asks whether the tensor-parallel degree is
    published, ``timed`` whether a step time is.
    """

    dataset: str
    id: str | None = None
    model: str | None = None
    framework: str | None = None
    accelerator: str | None = None
    precision: str | None = None
    conditions: str | None = None
    dtypes: tuple[str, ...] = ()
    laid_out: bool | None = None
    timed: bool | None = None

    def __call__(self, record: Record) -> bool:
        """Return whether ``record`` is meant."""
        texts = ("id", "model", "framework", "accelerator", "precision", "conditions")
        patterns = ((getattr(self, name), getattr(record, name)) for name in texts)
        return (
            re.fullmatch(self.dataset, record.dataset) is not None
            and all(pattern is None or re.search(pattern, text) for pattern, text in patterns)
            and (not self.dtypes or record.dtype in self.dtypes)
            and self.laid_out in (None, record.tp is not None)
            and self.timed in (None, record.measured is not None)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """One entry of ``recipes.toml``; the file's head says what each field means."""

    table: str
    line: Literal["step", "apart"]
    match: Match
    workload: str
    system: str
    profile: str
    rule: str
    rule_zh: str
    known: Mapping[str, Any] = field(default_factory=dict)
    assumed: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    doubted: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """One entry of ``refusals.toml``: rows that cannot be expressed, and the reason."""

    match: Match
    reason: str
    reason_zh: str


@cache
def recipes() -> tuple[Recipe, ...]:
    """Return the entries of ``recipes.toml`` in their order."""
    entries = tomllib.loads((HERE / "recipes.toml").read_text("utf-8"))["recipe"]
    return tuple(Recipe(**{**entry, "match": _match(entry), **_unread(entry)}) for entry in entries)


@cache
def refusals() -> tuple[Refusal, ...]:
    """Return the entries of ``refusals.toml`` in their order."""
    entries = tomllib.loads((HERE / "refusals.toml").read_text("utf-8"))["refusal"]
    return tuple(Refusal(**{**entry, "match": _match(entry)}) for entry in entries)


def claim(record: Record) -> Recipe | Refusal:
    """Return the one recipe or refusal that ``record`` matches.

    Raises ``ValueError`` if none or more than one does: every row is spoken for exactly once.
    """
    entries: tuple[Recipe | Refusal, ...] = (*recipes(), *refusals())
    found = [entry for entry in entries if entry.match(record)]
    if len(found) != 1:
        raise ValueError(f"{record.id}: {len(found)} recipes and refusals match, not one")
    return found[0]


def _match(entry: Mapping[str, Any]) -> Match:
    values = dict(entry["match"])
    return Match(**{**values, "dtypes": tuple(values.get("dtypes", ()))})


def _unread(entry: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    return {"unread": tuple(entry.get("unread", ()))}
