"""The share of time that trains: checkpoints on one or more tiers against a failure model.

The complete model of Daly (FGCS 22(3), 2006) with the mean restart over all failures, times what
the failures cost that a nearer tier does not survive: they fall back to the last checkpoint of a
farther tier, at work rate mu = lambda/E over ``x = mu·(tau_far - tau_near)`` of work, so that
x/(e^x - 1) of it is kept. A failure before a copy is safe goes back one copy more: on the whole by
the time that a copy is not safe. Stalls, slow nodes and the notice of silent errors stretch time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, expm1, inf, sqrt
from typing import Final

from artery.cloud.checkpoints import Tier
from artery.cloud.intervals import complete, maximise
from artery.cloud.recovery import restart_time
from artery.core.failure import STOPPING, FailureModel, Severity
from artery.core.term import Term
from artery.units.durations import DAY

HOPELESS: Final = 0.01
"""Assumed: a job that trains less of its time than this will never end."""


@dataclass(frozen=True, slots=True)
class Job:
    """What a job pays for failures. ``tiers`` are ordered from the nearest to the farthest.

    ``parts`` are those of a restart without loading; ``loads`` says whether loading comes on top.
    """

    failures: FailureModel
    parts: tuple[Term, ...]
    tiers: tuple[Tier, ...]
    loads: bool = True


@dataclass(frozen=True, slots=True)
class Shares:
    """Where the wall clock goes, as fractions that sum to 1, and at which ``intervals``.

    ``intervals`` has the seconds of work between checkpoints on each tier.
    """

    intervals: tuple[float, ...]
    productive: float
    saving: float
    redone: float
    restarting: float
    waiting: float


def tier_of(job: Job, severity: Severity) -> Tier:
    """Return the nearest tier that survives ``severity``; the farthest if none does."""
    return next((tier for tier in job.tiers if severity in tier.survives), job.tiers[-1])


def restart_of(job: Job, severity: Severity) -> float:
    """Return the seconds from a failure of ``severity`` until work goes on."""
    load = tier_of(job, severity).load if job.loads else 0.0
    return restart_time(job.parts, severity) + load


def mean_restart(job: Job) -> float:
    """Return the mean restart over all failures that stop the job, in seconds."""
    rates = {severity: job.failures.rate((severity,)) for severity in STOPPING}
    whole = sum(rates.values())
    if whole <= 0.0:
        return 0.0
    return sum(rate * restart_of(job, severity) for severity, rate in rates.items()) / whole


def _fall_back(job: Job, index: int) -> float:
    """Failures a second that tier ``index - 1`` and all nearer ones do not survive."""
    nearer = frozenset().union(*(tier.survives for tier in job.tiers[:index]))
    return job.failures.rate(severity for severity in STOPPING if severity not in nearer)


@dataclass(frozen=True, slots=True)
class _Fixed:
    """What of a job does not depend on its intervals, summed over its failures once.

    ``falls`` has the failures a second that tier ``index - 1`` does not survive, ``stretch`` the
    time that stalls and slow nodes add to a second of training, ``silent`` what notice adds.
    """

    rate: float
    mtbf: float
    restart: float
    falls: tuple[float, ...]
    stretch: float
    silent: float


def _fixed(job: Job) -> _Fixed:
    silent = sum(
        each.per_second * each.duration
        for each in job.failures.classes
        if each.severity == "silent"
    )
    return _Fixed(
        rate=job.failures.rate(),
        mtbf=job.failures.mtbf,
        restart=mean_restart(job),
        falls=tuple(_fall_back(job, index) if index else 0.0 for index in range(len(job.tiers))),
        stretch=1.0 + _waits(job.failures),
        silent=silent,
    )


def shares(job: Job, intervals: Sequence[float]) -> Shares:
    """Return where time goes with checkpoints every ``intervals`` seconds of work on each tier."""
    return _shares(job, _fixed(job), intervals)


def _shares(job: Job, known: _Fixed, intervals: Sequence[float]) -> Shares:
    near = intervals[0]
    per_work = _saving(job, intervals)
    done = complete(near, per_work * near, known.mtbf, known.restart)
    kept = done / (1.0 + known.rate * job.tiers[0].unsafe)
    for index in range(1, len(job.tiers)):
        rate = known.falls[index]
        kept *= _kept(rate, done, intervals[index] - intervals[index - 1])
        kept /= 1.0 + rate * job.tiers[index].unsafe
    stretch = known.stretch
    useful = kept / (stretch * (1.0 + known.silent))
    down = 0.0 if known.mtbf == inf else -expm1(-known.restart / known.mtbf)
    saving, restarting = useful * per_work, down / stretch
    return Shares(
        intervals=tuple(intervals),
        productive=useful,
        saving=saving,
        redone=max(0.0, 1.0 / stretch - useful - saving - restarting),
        restarting=restarting,
        waiting=1.0 - 1.0 / stretch,
    )


def _saving(job: Job, intervals: Sequence[float]) -> float:
    """Blocking seconds per second of work: a save on a farther tier makes that on a nearer one."""
    often = [*(1.0 / tau for tau in intervals), 0.0]
    return sum(
        tier.save * (often[index] - often[index + 1]) for index, tier in enumerate(job.tiers)
    )


def _kept(rate: float, done: float, span: float) -> float:
    """Share of work that survives falling back over ``span`` seconds of work."""
    if done <= 0.0 or rate <= 0.0 or span <= 0.0:
        return 1.0
    lost = rate / done * span
    return lost / expm1(lost) if lost < 700.0 else 0.0


def _waits(failures: FailureModel) -> float:
    """Seconds waited on stalls and slow nodes for each second of training.

    Slow nodes wait together: a job is slow while at least one is (M/G/infinity: 1 - e^-mean).
    """
    stalls = sum(f.per_second * f.duration for f in failures.classes if f.severity == "stall")
    slow = [f for f in failures.classes if f.severity == "slow"]
    return stalls + sum(
        -expm1(-each.per_second * each.duration) * (each.slowdown - 1.0) for each in slow
    )


_WIDEST: Final = 30 * DAY
"""Assumed: nobody saves less than once in thirty days."""


def best(job: Job, interval: float | None = None) -> Shares:
    """Return the shares at the best interval of every tier; ``interval`` fixes the nearest one.

    A tier's interval is at least the time it takes until the copy is safe, and at least that of
    the tier before it. Found tier by tier, twice over, by golden section.
    """
    taus = [max(_first_guess(job, index), tier.persist) for index, tier in enumerate(job.tiers)]
    known = _fixed(job)
    if interval is not None:
        taus[0] = interval
    for _ in range(1 if len(taus) == 1 else 3):
        for index in range(len(taus)):
            if index == 0 and interval is not None:
                continue
            taus[index] = _best_one(job, known, taus, index)
    return _shares(job, known, taus)


def _first_guess(job: Job, index: int) -> float:
    """sqrt(2·d/lambda) of a tier (Young), with the failures that only it and farther ones bear."""
    rate = _fall_back(job, index) if index else job.failures.rate()
    guess = sqrt(2.0 * job.tiers[index].save / rate) if rate > 0.0 else _WIDEST
    return min(max(guess, 1.0), _WIDEST)


def _best_one(job: Job, known: _Fixed, taus: list[float], index: int) -> float:
    """The best interval of one tier, the others' kept."""
    tier = job.tiers[index]
    low = max(tier.persist, tier.save * 1e-3, taus[index - 1] if index else 1e-3)
    high = taus[index + 1] if index + 1 < len(taus) else _WIDEST
    if high <= low:
        return low

    def value(tau: float) -> float:
        return _shares(job, known, [*taus[:index], tau, *taus[index + 1 :]]).productive

    return maximise(value, low, high)


def replicas(mtbf: float, stall: float, rejoin: float, count: int) -> float:
    """Return the share of time that trains where a data-parallel replica is the failure unit.

    A failure stops everybody for ``stall`` seconds and one of ``count`` replicas for ``rejoin``:
    1 - (stall + rejoin/count)/M, first order, not below 0. Our form of what FT-HSDP (arXiv
    2602.00277) does.
    """
    return max(0.0, 1.0 - (stall + rejoin / count) / mtbf)


def scaled(failures: FailureModel, factor: float) -> FailureModel:
    """Return the model with every rate multiplied by ``factor``."""
    classes = (replace(each, rate=each.rate * factor) for each in failures.classes)
    return replace(failures, classes=tuple(classes))


def without(failures: FailureModel, name: str) -> FailureModel:
    """Return the model without the class called ``name``."""
    return replace(failures, classes=tuple(c for c in failures.classes if c.name != name))


def at(failures: FailureModel, end: str) -> FailureModel:
    """Return the model at the ``low`` or ``high`` end of every rate."""
    classes = (replace(each, rate=getattr(each, end)) for each in failures.classes)
    return replace(failures, classes=tuple(classes))


def availability(mtbf: float, down: float) -> float:
    """Return the share of time that no failure is being recovered from: e^(-down/M)."""
    return 1.0 if mtbf == inf else exp(-down / mtbf)
