"""What cannot be in a facts file: no GPUs, shares above any machine's, ranks that do not divide.

Every value is held against the bounds of its kind, then the values against each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from artery.core.pricing import named
from artery.errors import InputError, Problem, UnknownNameError
from artery.formats.facts.keys import FABRICS, PATHS

Path = tuple[str | int, ...]
"""Keys and places in lists, from the top of the file down."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The numbers that a value can be, ``low`` and ``high`` among them; ``whole``: no fractions."""

    low: float
    high: float
    whole: bool
    rule: str
    fix: str

    def check(self, value: float, said: object) -> None:
        """Raise ``InputError`` if ``value``, written as ``said``, is outside."""
        inside = self.low <= value <= self.high and (value.is_integer() or not self.whole)
        if not inside:
            raise InputError(Problem(found=f'"{said}"'[:80], rule=self.rule, fix=self.fix))


_MOST: Final = 9_999_999
"""Assumed: no cluster has ten million of anything that is counted here."""

BOUNDS: Final[Mapping[str, Bounds]] = {
    "count": Bounds(1, 1e12, whole=True, rule="must be a whole number, at least 1",
                    fix="leave out what is not known"),
    "parts": Bounds(1, _MOST, whole=True, rule=f"must be a whole number from 1 to {_MOST:,}",
                    fix="leave out what is not known"),
    "parts_or_none": Bounds(0, 1e12, whole=True, rule="must be a whole number, at least 0",
                            fix="leave out what is not known"),
    "stage": Bounds(0, 3, whole=True, rule="must be 0, 1, 2 or 3", fix="3 for FSDP"),
    "amount": Bounds(5e-324, 1e60, whole=False, rule="must be above 0",
                     fix="leave it out; of a run that stands write timed_out: true"),
    # People divide by a peak that is too small: of another chip, or FLOPs counted twice.
    "utilisation": Bounds(5e-324, 2, whole=False,
                          rule="must be a share; no wrong peak explains more than 200 %",
                          fix="40%, or 0.4; count active parameters, and the peak of all GPUs"),
    "part": Bounds(5e-324, 10, whole=False, rule="must be a share above 0, at most 1000 %",
                   fix="60%, or 0.6"),
}  # fmt: skip
"""By the kind of a value, as :mod:`artery.formats.facts.keys` names it."""


def name_of(said: str, kind: str) -> str:
    """Return a name of a ``fabric``, ``collective`` or ``path`` as the rest of artery writes it.

    Raises ``InputError`` with the nearest names for one that there is not.
    """
    if kind == "collective":
        return named(said)
    if kind == "fabric":
        folded = said.casefold().replace(" ", "-")
        found = FABRICS.get(folded)
        if found is None:
            raise UnknownNameError("fabric", said, FABRICS)
        return found
    if kind == "path" and said.upper() not in PATHS:
        rule = f"must be one of {', '.join(PATHS)}"
        raise InputError(
            Problem(found=f'"{said[:80]}"', rule=rule, fix="nvidia-smi topo -m prints it")
        )
    return said.casefold()


def contradictions(
    facts: Mapping[str, Any], rows: Sequence[tuple[int, Mapping[str, Any]]]
) -> Iterator[tuple[Path, Problem]]:
    """Yield where counts exclude each other: its path, and the problem.

    ``rows`` are measurements with their places in the list.
    """
    for key, problem in _counts(facts, facts):
        yield ("hardware", key), problem
    yield from _hardware(facts)
    for place, row in rows:
        if "ranks" in row:
            for key, problem in _counts(row, facts):
                yield ("measured", place, key), problem


def _counts(row: Mapping[str, Any], facts: Mapping[str, Any]) -> Iterator[tuple[str, Problem]]:
    """Yield what is wrong with the ``ranks`` and ``nodes`` of one row."""
    ranks, nodes = row.get("ranks"), row.get("nodes")
    if not ranks or not nodes:
        return
    each = facts.get("gpus_per_node")
    if each and ranks > nodes * each:
        found = f"{ranks:g} ranks on {nodes:g} node(s) of {each:g} GPUs"
        yield "ranks", Problem(found=found, rule="there is one GPU to a rank",
                               fix=f"at most {nodes * each:g} ranks, or more nodes")  # fmt: skip
    elif ranks % nodes:
        found = f"{ranks:g} ranks on {nodes:g} nodes"
        fix = f"a multiple of {nodes:g}, or the nodes that took part"
        yield "ranks", Problem(found=found, rule="every node must have as many", fix=fix)


def _hardware(facts: Mapping[str, Any]) -> Iterator[tuple[Path, Problem]]:
    each, used = facts.get("gpus_per_node"), facts.get("ranks_per_node")
    if each and used and used > each:
        yield ("hardware", "ranks_per_node"), Problem(
            found=f"{used:g} ranks of {each:g} GPUs", rule="there is one GPU to a rank",
            fix=f"at most {each:g}",
        )  # fmt: skip
    ranks, nodes = facts.get("ranks"), facts.get("nodes")
    if ranks and nodes and used and used * nodes != ranks:
        yield ("hardware", "ranks_per_node"), Problem(
            found=f"{used:g} on each of {nodes:g} nodes, and {ranks:g} ranks",
            rule="ranks_per_node times nodes is ranks", fix="leave one of the three out",
        )  # fmt: skip
    cards, there = facts.get("cards_used"), facts.get("nics_per_node")
    if cards and there is not None and cards > there:
        yield ("hardware", "cards_used"), Problem(
            found=f"{cards:g} of {there:g} cards", rule="at most those that a node has",
            fix="cards of one node; nics_per_node counts all of them",
        )  # fmt: skip
