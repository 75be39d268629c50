"""``Term``, and the trees made of it: ``Estimate`` and ``Measurement``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

Combine = Literal["sum", "max", "none"]


@dataclass(frozen=True, slots=True)
class Term:
    """One number that can say why.

    ``value``, ``low`` and ``high`` in ``unit`` (SI); low and high bound an 80 % interval.
    ``combine`` says how ``children`` make the value: their ``sum``, their ``max``, or
    ``none`` (they explain it, but do not add up to it). ``inputs`` are the named numbers
    that went into ``formula``; ``source`` is the paper, equation or datasheet.
    """

    name: str
    unit: str
    value: float
    low: float
    high: float
    combine: Combine = "none"
    formula: str = ""
    inputs: Mapping[str, float | int | str] = field(default_factory=dict)
    source: str = ""
    children: tuple[Term, ...] = ()

    def walk(self, prefix: str = "") -> Iterator[tuple[str, Term]]:
        """Yield (dotted path, term) for this term and all below it, depth first."""
        path = f"{prefix}.{self.name}" if prefix else self.name
        yield path, self
        for child in self.children:
            yield from child.walk(path)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A predicted tree. ``source`` says by what: ``closed form`` or ``simulated``."""

    root: Term
    source: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Measurement:
    """A measured tree, with the conditions under which it was taken."""

    root: Term
    source: str
    conditions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Difference:
    """One term that stands in both trees: predicted, measured, and measured / predicted."""

    path: str
    unit: str
    predicted: float
    measured: float

    @property
    def ratio(self) -> float:
        """Measured over predicted; infinite where nothing was predicted."""
        return self.measured / self.predicted if self.predicted else float("inf")


def compare(estimate: Estimate, measurement: Measurement) -> tuple[Difference, ...]:
    """Return the terms that both trees have, matched by path, in the estimate's order.

    Terms of different unit are never compared: a unit mismatch raises ``ValueError``.
    """
    measured = dict(measurement.root.walk())
    differences = []
    for path, term in estimate.root.walk():
        other = measured.get(path)
        if other is None:
            continue
        if other.unit != term.unit:
            raise ValueError(f"{path}: predicted in {term.unit}, measured in {other.unit}")
        differences.append(Difference(path, term.unit, term.value, other.value))
    return tuple(differences)
