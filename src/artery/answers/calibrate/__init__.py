"""``calibrate``: a system's constants fitted to what was measured on it."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from types import NoneType
from typing import Final

from artery.answers.arguments import check_declared, check_kinds, check_texts, paths_of
from artery.answers.calibrate.checks import Doubt, check_told, doubts
from artery.answers.calibrate.data import measured_in
from artery.answers.calibrate.fitting import Data, Found, fitted, tellable
from artery.answers.calibrate.result import CalibrateAnswer, Changed, Check, Kept, Row
from artery.answers.calibrate.run import Run, runs_of
from artery.answers.calibrate.system import OF_FRAMEWORK, Base, after, base_of
from artery.answers.calibrate.trial import checked
from artery.answers.numbers import own_numbers
from artery.errors import InputError, Problem, ThresholdError
from artery.units import show_percent

LEAST_POINTS: Final = 4
"""Assumed: fewer points say less than any prior."""


@own_numbers
def calibrate(
    *paths: str | PathLike[str],
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
    paths = paths_of(
        paths, "there must be a file with measurements", "the output of all_reduce_perf"
    )
    check_kinds(str, on=on)
    check_kinds(str, NoneType, nccl=nccl)
    check_texts("overrides", overrides)
    check_texts("wanted", wanted)
    check_declared(calibrate, {"smallest": smallest, "plan_from": plan_from})
    saved = [plan_from] if isinstance(plan_from, str) else list(plan_from or ())
    found = measured_in(paths, steps=bool(saved))
    base = base_of(on, overrides, nccl)
    base.knobs([path for path in wanted if path not in OF_FRAMEWORK])  # names none that it lacks
    runs = runs_of(found.readings, saved, base, overrides)
    check_told(base, found.sweeps, runs)
    base = _of_one_framework(base, runs, wanted)
    warned = doubts(base, found.sweeps, runs)
    sweeps = tuple(one.part(one.places(smallest)) for one in found.sweeps)
    data = Data(base, tuple(one for one in sweeps if one.sizes), runs)
    measured = data.measured
    if len(measured) < LEAST_POINTS and not runs:
        rule = f"a fit needs {LEAST_POINTS} points at least"
        fix = "measure more sizes: -b 8 -e 16G -f 2"
        raise InputError(Problem(found=f"{len(measured)} points", rule=rule, fix=fix))
    knobs, kept = tellable(data, wanted)
    return _answer(data, fitted(data, knobs), kept, checked(data, wanted), warned)


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


def _answer(
    data: Data,
    found: Found,
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
