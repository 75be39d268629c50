"""``calibrate``: a system's constants fitted to what was measured on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from artery.answers.arguments import check_kinds
from artery.answers.calibrate.checks import Doubt, check_told, doubts
from artery.answers.calibrate.data import Sweep, measured_in
from artery.answers.calibrate.run import STEP_NOISE, Run, runs_of
from artery.answers.calibrate.system import (
    OF_FRAMEWORK,
    OF_STEPS,
    Base,
    Knob,
    after,
    base_of,
    parameter,
    predictor,
)
from artery.calibrator.fit import LEAST_NOISE, Confused, Fit, Predict, fit, separable
from artery.errors import InputError, Problem, ThresholdError
from artery.units import show_percent

Floats = NDArray[np.float64]
LEAST_POINTS: Final = 4
"""Assumed: fewer points say less than any prior."""

LEAST_CHECKED: Final = 8
"""Assumed: a sweep of fewer sizes is not split into fitted and tried ones."""

CLASSES: Final = (0, 16 * 2**10, 2**20, float("inf"))
"""Bytes between which a check tells its errors apart: starts decide, then protocols, then rates."""


@dataclass(frozen=True, slots=True)
class Changed:
    """A value that was fitted, with the 80 % interval of what it may be, in SI.

    ``at_limit`` says that it is as high as it can be: the data alone may ask for more.
    """

    knob: Knob
    before: float
    after: float
    low: float
    high: float
    at_limit: bool = False


@dataclass(frozen=True, slots=True)
class Kept:
    """A value that was left as it is, and why (``silent``, or ``pair`` with the other one)."""

    path: str
    reason: str
    other: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One measured point beside what the system gave before and gives now (s).

    A step of training is a ``collective`` called ``step``, of no size.
    """

    file: str
    collective: str
    ranks: int
    nodes: int | None
    size: int
    measured: float
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class SizeClass:
    """The median errors of messages from ``low`` bytes up, below ``high``."""

    low: float
    high: float
    points: int
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Check:
    """Fitted on every other size, tried on the rest: the median errors of the rest."""

    points: int
    before: float
    after: float
    classes: tuple[SizeClass, ...]

    @property
    def worse(self) -> bool:
        """Whether the fitted system does worse than the one before on what it did not see."""
        return self.after > self.before


@dataclass(frozen=True, slots=True)
class CalibrateAnswer:
    """The fit. ``noise`` is the deviation that remains, as a share; ``points`` how many count.

    ``doubts`` are what speaks against a healthy machine; ``framework`` is the training framework
    of which values may have been fitted.
    """

    system: str
    files: tuple[str, ...]
    changed: tuple[Changed, ...]
    kept: tuple[Kept, ...]
    rows: tuple[Row, ...]
    check: Check | None
    noise: float
    points: float
    doubts: tuple[Doubt, ...] = ()
    framework: str | None = None

    @property
    def before(self) -> float:
        """The median error of the system as it was."""
        return float(np.median([abs(one.before / one.measured - 1) for one in self.rows]))

    @property
    def after(self) -> float:
        """The median error of the system as it is fitted."""
        return float(np.median([abs(one.after / one.measured - 1) for one in self.rows]))


def calibrate(
    *paths: str,
    on: str,
    wanted: Sequence[str] = (),
    smallest: int = 0,
    plan_from: str | Sequence[str] | None = None,
    overrides: Sequence[str] = (),
    nccl: str | None = None,
) -> CalibrateAnswer:
    """Return the values of system ``on`` that fit the measurements in the files at ``paths``.

    ``wanted`` names the values to fit (``node.bandwidth``, ``fabric.nic.efficiency``,
    the factors of ``calibration.``, ``fabric.latency``,
    ``fabric.hop``); without it those are fitted of which the data say something. Sizes below
    ``smallest`` bytes are left out. ``plan_from`` is the launch script, configuration or saved
    plan of the training logs among the files (one for all, or one for each), whose steps tell of
    the chips' clock, and several of them of the framework. Raises
    :class:`artery.errors.InputError` for files without a sweep, for chips or ranks that the system
    does not have, for measurements that no healthy machine gives, and for wanted values that the
    data cannot tell apart.
    """
    check_kinds(str, on=on, **{f"path{place}": path for place, path in enumerate(paths)})
    if not paths:
        rule = "there must be a file with measurements"
        raise InputError(Problem(found="no file", rule=rule, fix="the output of all_reduce_perf"))
    saved = [plan_from] if isinstance(plan_from, str) else list(plan_from or ())
    found = measured_in(paths, steps=bool(saved))
    base = base_of(on, overrides, nccl)
    base.knobs([path for path in wanted if path not in OF_FRAMEWORK])  # names none that it lacks
    runs = runs_of(found.readings, saved, base, overrides)
    check_told(base, found.sweeps, runs)
    base = _of_one_framework(base, runs, wanted)
    warned = doubts(base, found.sweeps, runs)
    sweeps = tuple(one.part(one.places(smallest)) for one in found.sweeps)
    data = _Data(base, tuple(one for one in sweeps if one.sizes), runs)
    measured = data.measured
    if len(measured) < LEAST_POINTS and not runs:
        rule = f"a fit needs {LEAST_POINTS} points at least"
        fix = "measure more sizes: -b 8 -e 16G -f 2"
        raise InputError(Problem(found=f"{len(measured)} points", rule=rule, fix=fix))
    knobs, kept = _tellable(data, wanted)
    return _answer(data, _fitted(data, knobs), kept, _checked(data, wanted), warned)


def _of_one_framework(base: Base, runs: Sequence[Run], wanted: Sequence[str]) -> Base:
    """Return the system with the values of the framework of all ``runs``, if it is one.

    Raises ``InputError`` if they are wanted and it is not.
    """
    names = sorted({one.profile.name for one in runs})
    if len(names) == 1:
        return base.of_framework(names[0])
    asked = [path for path in wanted if path in OF_FRAMEWORK]
    if asked:
        found = f"runs of {' and '.join(names)}" if names else "no training log with --from"
        rule = f"{asked[0]} is of one training framework"
        fix = "training logs of one framework, with what launched them: train.log --from run.sh"
        raise InputError(Problem(field="fit", found=found, rule=rule, fix=fix))
    return base


@dataclass(frozen=True, slots=True, eq=False)
class _Data:
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
class _Found:
    knobs: tuple[Knob, ...]
    fit: Fit
    before: Floats
    after: Floats


def _fitted(data: _Data, knobs: tuple[Knob, ...]) -> _Found:
    predict = data.predict(knobs)
    found = fit([parameter(one) for one in knobs], predict, data.measured, data.least)
    factors = np.array([one.factor for one in found.fitted])
    return _Found(knobs, found, data.predict(())(np.ones(0)), predict(factors))


def _tellable(data: _Data, wanted: Sequence[str]) -> tuple[tuple[Knob, ...], tuple[Kept, ...]]:
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


def _checked(data: _Data, wanted: Sequence[str]) -> Check | None:
    """Return how a fit on every other size does on the rest; ``None`` with too few sizes.

    What can be told is decided on the sizes that are fitted, too.
    """
    used, rest = (
        replace(
            data,
            sweeps=tuple(
                one.part(range(start, len(one.sizes), 2))
                for one in data.sweeps
                if len(one.sizes) >= LEAST_CHECKED
            ),
            runs=(),
            priced={},
        )
        for start in (0, 1)
    )
    if not used.sweeps:
        return None
    try:
        knobs, _ = _tellable(used, [path for path in wanted if path not in OF_STEPS])
    except InputError:
        return None
    factors = np.array([one.factor for one in _fitted(used, knobs).fit.fitted])
    truth, sizes = rest.measured, rest.sizes
    before = np.abs(rest.predict(())(np.ones(0)) / truth - 1)
    now = np.abs(rest.predict(knobs)(factors) / truth - 1)
    classes = []
    for low, high in pairwise(CLASSES):
        inside = (sizes >= low) & (sizes < high)
        if inside.any():
            errors = (float(np.median(each[inside])) for each in (before, now))
            classes.append(SizeClass(low, high, int(inside.sum()), *errors))
    return Check(len(truth), float(np.median(before)), float(np.median(now)), tuple(classes))


def _answer(
    data: _Data,
    found: _Found,
    kept: tuple[Kept, ...],
    check: Check | None,
    warned: tuple[Doubt, ...],
) -> CalibrateAnswer:
    base = data.base
    measured = base.table.calibration
    sources = [*(one.source for one in data.sweeps), *(one.source for one in data.runs)]
    points: list[tuple[str, str, int, int | None, int]] = [
        (one.source, one.collective, one.ranks, one.nodes, size)
        for one in data.sweeps
        for size in one.sizes
    ]
    points += [(one.source, "step", one.plan.chips, None, 0) for one in data.runs]
    rows = zip(points, data.measured.tolist(), found.before, found.after, strict=True)
    return CalibrateAnswer(
        system=base.name,
        files=tuple(dict.fromkeys(sources)),
        changed=tuple(
            Changed(
                knob,
                base.values[knob.path],
                after(base, knob, each.factor),
                after(base, knob, each.low),
                after(base, knob, each.high),
                after(base, knob, each.factor) >= base.most(knob),
            )
            for knob, each in zip(found.knobs, found.fit.fitted, strict=True)
        ),
        kept=kept,
        rows=tuple(
            Row(*point, measured, float(before), float(now))
            for point, measured, before, now in rows
        ),
        check=check,
        noise=found.fit.noise,
        points=found.fit.points,
        doubts=warned,
        framework=None if measured is None else measured.framework,
    )


def calibrated_values(answer: CalibrateAnswer, overrides: Sequence[str] = ()) -> dict[str, Any]:
    """Return the tables of a system file with the fitted values, each with its source.

    A system of the catalog is named as the base; a file of one's own is written out whole. Values
    given with ``--set`` are in it.
    """
    from datetime import UTC, datetime

    from artery.catalog.door import is_path
    from artery.catalog.overrides import apply_overrides
    from artery.catalog.syntax import read_document

    values: dict[str, Any]
    if is_path(answer.system):
        values = dict(read_document(answer.system).values)
    else:
        values = {"base": answer.system, "title": f"{answer.system}, calibrated"}
    own = [one for one in overrides if not one.startswith("chip.")]
    values = apply_overrides(values, own).values
    for one in answer.changed:
        table = values
        *above, last = one.knob.path.split(".")
        for name in above:
            table = table.setdefault(name, {})
        value: object = one.after if one.knob.unit == "1" else one.knob.text(one.after)
        table[last] = [value, "calibration"]
    if OF_FRAMEWORK & {one.knob.path for one in answer.changed}:
        values["calibration"]["framework"] = answer.framework
    measured = (
        f"fitted by artery calibrate to {len(answer.rows)} points of {', '.join(answer.files)}; "
        f"median error {answer.before:.1%} before, {answer.after:.1%} after"
    )
    sources: Mapping[str, Any] = values.get("sources", {})
    now = datetime.now(UTC).date().isoformat()
    values["sources"] = {
        **sources,
        "calibration": {"text": measured, "as_of": now, "confidence": "measured"},
    }
    return values


def check_better(answer: CalibrateAnswer) -> None:
    """Raise :class:`artery.errors.ThresholdError` if sizes that the fit did not see got worse."""
    check = answer.check
    if check is not None and check.worse:
        raise ThresholdError(
            f"no system is written: on {check.points} sizes that the fit did not see the median "
            f"error grows from {show_percent(check.before)} to {show_percent(check.after)}; the "
            "values before do better (measure more sizes, or fit fewer values with --fit; "
            "--even-worse writes it all the same)"
        )


def file_name(answer: CalibrateAnswer) -> str:
    """Return what the system is called in sentences."""
    return Path(answer.system).name
