"""The terms of a step, predicted or measured, with intervals that know how noisy the times were."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import hypot

from artery.core.term import Term
from artery.runner.probing.noise import EIGHTY, Noise

Ends = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Spread:
    """The 80 % intervals of times that are known as well as ``noise`` says.

    ``times``: how many times that noise enters, in squares added up: a prediction misses a
    measurement by its own noise and by the measurement's. ``tolerance``: of the model, a share.
    """

    noise: Noise
    times: float
    tolerance: float

    def step(self, seconds: float) -> Ends:
        """Return the ends of a step."""
        return self._ends(seconds, self.noise.step * seconds)

    def compute(self, seconds: float) -> Ends:
        """Return the ends of computing."""
        return self._ends(seconds, self.noise.compute * seconds)

    def exposed(self, seconds: float, step: float) -> Ends:
        """Return the ends of what the exchange adds to a step."""
        return self._ends(seconds, self.noise.exposed * step)

    def communication(self, seconds: float) -> Ends:
        """Return the ends of all-reduces."""
        return self._ends(seconds, self.noise.communication * seconds)

    def _ends(self, seconds: float, error: float) -> Ends:
        half = hypot(self.tolerance * seconds, EIGHTY * self.times * error)
        return max(0.0, seconds - half), seconds + half


def step_tree(
    parts: Mapping[str, float],
    times: tuple[float, float, float],
    spread: Spread,
    inputs: Mapping[str, float | int | str] | None = None,
    buckets: tuple[Term, ...] = (),
) -> Term:
    """Return step = compute + exposed communication, the same tree for both sides.

    ``times``: computing alone, exposed communication, communication, in s.
    """
    alone, added, talked = times
    compute = Term(
        "compute", "s", alone, *spread.compute(alone), "none",
        "sum over operators of host + fixed + FLOP / rate + bytes / bandwidth",
        source="operators timed one by one in the calibration",
        children=tuple(term(name, one, spread.compute(one)) for name, one in parts.items()),
    )  # fmt: skip
    about = "time with an all-reduce under way"
    wire = term("communication", talked, spread.communication(talked), about, buckets)
    hidden = Term(
        "exposed_communication", "s", added, *spread.exposed(added, alone + added), "none",
        "step with exchange - step without", children=(wire,),
    )  # fmt: skip
    whole = alone + added
    return Term("step", "s", whole, *spread.step(whole), "sum", "compute + exposed_communication",
                inputs or {}, children=(compute, hidden))  # fmt: skip


def term(  # noqa: PLR0917
    name: str,
    seconds: float,
    ends: Ends,
    formula: str = "",
    children: tuple[Term, ...] = (),
    inputs: Mapping[str, float | int | str] | None = None,
) -> Term:
    """Return one time as a term between its ``ends``."""
    return Term(name, "s", seconds, *ends, "none", formula, inputs or {},
                children=children)  # fmt: skip
