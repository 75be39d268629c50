"""What was measured beside the system fitted to it; which values the data can tell apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from artery.answers.calibrate.data import Sweep
from artery.answers.calibrate.result import Kept
from artery.answers.calibrate.run import STEP_NOISE, Run
from artery.answers.calibrate.system import Base, Knob, parameter, predictor
from artery.calibrator.fit import LEAST_NOISE, Confused, Fit, Predict, fit, separable
from artery.core.arrays import Floats
from artery.errors import InputError, Problem


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """What was measured, and the system that is fitted to it."""

    base: Base
    sweeps: tuple[Sweep, ...]
    runs: tuple[Run, ...]
    priced: dict[tuple[str, ...], Predict] = field(default_factory=dict, repr=False)

    @property
    def measured(self) -> Floats:
        """All times in s: sweeps, then steps."""
        times = [time for one in self.sweeps for time in one.times]
        return np.array([*times, *(one.seconds for one in self.runs)])

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Sizes of all points of the sweeps in bytes."""
        return np.array([size for one in self.sweeps for size in one.sizes], dtype=np.int64)

    @property
    def least(self) -> float:
        """How closely measurements of the same thing agree at best."""
        return STEP_NOISE if self.runs else LEAST_NOISE

    def predict(self, knobs: Sequence[Knob]) -> Predict:
        """Return the prices of all points by factors on the ``knobs``; prices are kept."""
        key = tuple(one.path for one in knobs)
        if key not in self.priced:
            self.priced[key] = predictor(self.base, self.sweeps, knobs, self.runs)
        return self.priced[key]


@dataclass(frozen=True, slots=True)
class Found:
    """A fit, with the prices (s) of all points before and after."""

    knobs: tuple[Knob, ...]
    fit: Fit
    before: Floats
    after: Floats


def fitted(data: Data, knobs: tuple[Knob, ...]) -> Found:
    """Return the values of the ``knobs`` that fit the data best."""
    predict = data.predict(knobs)
    found = fit([parameter(one) for one in knobs], predict, data.measured, data.least)
    factors = np.array([one.factor for one in found.fitted])
    return Found(knobs, found, data.predict(())(np.ones(0)), predict(factors))


def tellable(data: Data, wanted: Sequence[str]) -> tuple[tuple[Knob, ...], tuple[Kept, ...]]:
    """Return the knobs that the data can tell apart, and those that are kept.

    Raises ``InputError`` if that leaves out one that is wanted, or leaves none.
    """
    knobs = data.base.knobs(wanted, len(data.runs))
    kept: list[Kept] = []
    while True:
        parameters = [parameter(one) for one in knobs]
        why = separable(parameters, data.predict(knobs), data.measured, data.least)
        if not why.silent and not why.pair:
            return knobs, tuple(kept)
        if wanted:
            raise InputError(_refusal(why))
        if why.silent:
            kept += [Kept(path, "silent") for path in why.silent]
            knobs = tuple(one for one in knobs if one.path not in why.silent)
        else:
            first, second = (next(one for one in knobs if one.path == name) for name in why.pair)
            better, worse = sorted((first, second), key=lambda one: -one.spread)
            kept.append(Kept(worse.path, "pair", better.path))
            knobs = tuple(one for one in knobs if one is not worse)
        if not knobs:
            rule = "the data must say something of one value at least"
            fix = "more sizes, or artery diagnose: what is far off has a cause, not a constant"
            raise InputError(Problem(found="nothing that can be fitted", rule=rule, fix=fix))


def _refusal(why: Confused) -> Problem:
    if why.silent:
        return Problem(
            field="fit",
            found=", ".join(why.silent),
            rule="the data say less of it than is known already",
            fix="leave it out, or measure what it decides: large messages for rates, small ones "
            "for starts, several nodes for the network",
        )
    return Problem(
        field="fit",
        found=" and ".join(why.pair),
        rule=f"these data cannot tell them apart (condition number {why.condition:.0f}, limit 30)",
        fix=f"fit one of them, or add runs in which only {why.pair[0]} matters",
    )
