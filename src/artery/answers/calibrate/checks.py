"""What forbids a calibration, or speaks against it: another machine's log, a machine that is ill.

A fit explains whatever it is given. A log that tells of other chips, or of more ranks than there
are, is refused; so is one that no healthy machine gives. What ``diagnose`` would call degraded is
fitted, with a warning that names it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from artery.answers.calibrate.data import Sweep
from artery.answers.calibrate.run import Run
from artery.answers.calibrate.system import Base, predictor
from artery.catalog.loader import names
from artery.collective import bus_factor
from artery.diagnoser.case import Point
from artery.diagnoser.shape import LARGE, fall_of
from artery.diagnoser.verdict import FAULTY, HEALTHY, TOO_GOOD
from artery.errors import Problem, Problems
from artery.units import show_percent

SLOW_STEP: Final = 0.67
"""Assumed: a step beyond half as much again as predicted is three spreads of the chips' clock."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why the measurements in ``source`` may be no healthy machine's: ``share`` of the expected.

    ``below`` and ``above`` are of bus bandwidth at the largest size, ``step`` of a step's speed.
    """

    source: str
    reason: Literal["below", "above", "step"]
    share: float


def check_told(base: Base, sweeps: Iterable[Sweep], runs: Iterable[Run]) -> None:
    """Refuse logs that tell of other chips than ``base`` has, or of more than were named.

    Chips of one name with other memory (``a100-40g`` and ``a100-80g``) have the same links.
    Raises ``InputError`` with all of them.
    """
    known = {_family(name) for name in names("chips")}
    ours = _family(base.chip.name)
    with Problems() as problems:
        for one in dict.fromkeys((sweep.source, sweep.chip) for sweep in sweeps):
            source, chip = one
            if chip is not None and ours in known and _family(chip) != ours:
                rule = f"the chips of {base.name} are {base.chip.name}"
                fix = f"--on a system with that chip: artery catalog {chip}"
                problems.add(Problem(file=source, found=f"a log of {chip}", rule=rule, fix=fix))
        most = base.named
        told = [(one.source, one.ranks, "ranks") for one in sweeps]
        told += [(one.source, one.plan.chips, "chips") for one in runs]
        for source, count, what in dict.fromkeys(told):
            if most is not None and count > most:
                rule = f"--on names {most} chips of {base.name}"
                fix = f"--on {base.name}, without a number: the log says how many"
                problems.add(Problem(file=source, found=f"{count} {what}", rule=rule, fix=fix))


def doubts(base: Base, sweeps: Sequence[Sweep], runs: Sequence[Run]) -> tuple[Doubt, ...]:
    """Return what speaks against a healthy machine, worst first.

    Raises ``InputError`` for bandwidth below ``FAULTY`` of the expected, or that falls as messages
    grow: ``diagnose`` calls both faulty.
    """
    found: list[Doubt] = []
    large = [one for one in sweeps if one.sizes[-1] >= LARGE]
    steps = [run.seconds for run in runs]
    last = [one.part([len(one.sizes) - 1]) for one in large]
    shares = predictor(base, last, (), runs)(np.ones(0))
    shares = shares / np.array([*(one.times[0] for one in last), *steps])
    with Problems() as problems:
        for sweep, share in zip(large, shares, strict=False):
            fall = fall_of(_points(sweep))
            if fall is not None:
                before, after = (f"{one.busbw / 1e9:.4g} GB/s" for one in fall)
                said = f"bus bandwidth falls from {before} at {fall[0].size} B to {after} and stays"
                problems.add(_refused(base, sweep.source, said))
            elif share < FAULTY:
                said = f"{show_percent(share)} of the expected bus bandwidth at the largest size"
                problems.add(_refused(base, sweep.source, said))
            elif not HEALTHY <= share <= TOO_GOOD:
                reason: Literal["below", "above"] = "below" if share < HEALTHY else "above"
                found.append(Doubt(sweep.source, reason, float(share)))
    for run, share in zip(runs, shares[len(large) :], strict=True):
        if share < SLOW_STEP:
            found.append(Doubt(run.source, "step", float(share)))
    return tuple(sorted(dict.fromkeys(found), key=lambda one: one.share))


def _points(sweep: Sweep) -> tuple[Point, ...]:
    factor = float(bus_factor(sweep.collective, np.array(sweep.ranks)))
    pairs = zip(sweep.sizes, sweep.times, strict=True)
    return tuple(Point(size, size * factor / time) for size, time in pairs)


def _refused(base: Base, source: str, found: str) -> Problem:
    rule = "a fault is no constant of a system"
    fix = f"artery diagnose {source} --on {base.name}"
    return Problem(file=source, found=found, rule=rule, fix=fix)


def _family(chip: str) -> str:
    return chip.partition("-")[0]
