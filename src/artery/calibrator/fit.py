"""Fits factors on constants to measured times: least squares of logarithms, with priors.

A constant is its value before times ``exp(x)``; x is normal around zero with the ``spread`` that
its knowledge had. Times are off by a factor, so that residuals are of logarithms. What is found is
the most likely x (Levenberg, 1944; Marquardt, 1963) with its normal approximation: the interval
covers 80 % if the model is right. Clouds are spiky, and no formula fits every size, so that a point
farther off than most counts less (Huber, Robust estimation of a location parameter, 1964). Where
residuals of neighbouring sizes hang together, fewer points count (autoregression of first order).
Two constants that change all points alike cannot be told apart, whatever the data: the condition
number of the scaled Jacobian says so (Belsley, Kuh, Welsch, Regression Diagnostics, 1980: from 30
on).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from artery.core.arrays import Floats

Predict = Callable[[Floats], Floats]
"""Times in s of all points for the factors on the constants."""

CONDITION: Final = 30.0
"""From here on two constants cannot be told apart (Belsley and others, 1980, section 3.2)."""

LEAST_NOISE: Final = 0.005
"""Assumed: no two runs of a machine agree more closely, as a share of the time."""

STEP: Final = 0.02
"""Assumed: change of a logarithm by which derivatives are taken; times are fastest lines of
several, which have corners."""

QUANTILE: Final = 1.2815515655446004
"""Of the normal distribution at 90 %: an interval of 80 %."""

HUBER: Final = 1.345
"""Deviations from which on a point counts less: 95 % of the precision where all are normal (Huber,
1964)."""

FEW: Final = 4
"""Assumed: fewer points do not tell how much they scatter; what is known of it holds."""

_ROUNDS, _TRIES, _SMALL = 40, 12, 1e-3
_NOISES: Final = 4


@dataclass(frozen=True, slots=True)
class Parameter:
    """A constant by name; ``spread`` is the standard deviation of what its logarithm may be.

    A ``floor`` moves nothing until it is high enough.
    """

    name: str
    spread: float
    floor: bool = False


@dataclass(frozen=True, slots=True)
class Fitted:
    """A constant's factor with its 80 % interval."""

    factor: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Fit:
    """All constants; ``noise`` is the deviation of log(measured / predicted).

    ``points`` are the measurements that count after what hangs together is taken off.
    """

    fitted: tuple[Fitted, ...]
    noise: float
    points: float


@dataclass(frozen=True, slots=True)
class Confused:
    """Why constants cannot be fitted: ``silent`` move nothing; ``pair`` move all points alike."""

    silent: tuple[str, ...] = ()
    pair: tuple[str, ...] = ()
    condition: float = 1.0


def separable(
    parameters: Sequence[Parameter], predict: Predict, measured: Floats, least: float = LEAST_NOISE
) -> Confused:
    """Return what stands in the way of fitting all ``parameters`` to ``measured`` times.

    They are fitted once with their priors; at that point a constant is silent if the data leave
    its logarithm more open than its prior does, and two are a pair if all points change alike.
    """
    found = _settled(parameters, predict, np.log(measured), least)
    norms = np.linalg.norm(found.slopes, axis=0)
    silent = [
        one.name
        for one, norm in zip(parameters, norms, strict=True)
        if norm == 0 or found.noise / norm > one.spread
    ]
    if silent or len(parameters) < 2:
        return Confused(tuple(silent))
    _, sizes, turned = np.linalg.svd(found.slopes / norms)
    least_size = sizes[-1] if len(sizes) == len(parameters) else 0.0  # fewer points than constants
    condition = float(sizes[0] / max(least_size, 1e-300))
    if condition < CONDITION:
        return Confused(condition=condition)
    worst = np.argsort(-np.abs(turned[-1]))[:2]
    return Confused(pair=tuple(parameters[i].name for i in sorted(worst)), condition=condition)


@dataclass(frozen=True, slots=True, eq=False)
class _Settled:
    """Logarithms found, slopes and residuals there, and the noise that remains."""

    at: Floats
    slopes: Floats
    residual: Floats
    noise: float


def _settled(
    parameters: Sequence[Parameter], predict: Predict, logs: Floats, least: float
) -> _Settled:
    """Return the fit with the noise that it leaves itself.

    A floor that is not reached has no slope: it is tried from a spread above too.
    """
    spreads = np.array([one.spread for one in parameters])
    best = _settled_from(np.zeros(len(spreads)), predict, logs, spreads, least)
    for place, one in enumerate(parameters):
        if one.floor and not best.slopes[:, place].any():
            start = best.at.copy()
            start[place] = one.spread
            other = _settled_from(start, predict, logs, spreads, least)
            noise = max(best.noise, other.noise)
            costs = [_cost(each.residual, each.at, spreads, noise) for each in (best, other)]
            if costs[1] < costs[0]:
                best = other
    return best


def _settled_from(
    at: Floats, predict: Predict, logs: Floats, spreads: Floats, least: float
) -> _Settled:
    """Return the fit that a search from ``at`` finds.

    It begins as if there were hardly any noise: most points then decide, and the others stand out.
    """
    noise = 4 * least
    for _ in range(_NOISES):
        at, slopes, residual = _least(predict, logs, spreads, noise, at)
        before = noise
        noise = max(_deviation(residual, _used(slopes, spreads, noise)), least)
        if abs(noise / before - 1) < 0.01:
            break
    return _Settled(at, slopes, residual, noise)


def fit(
    parameters: Sequence[Parameter], predict: Predict, measured: Floats, least: float = LEAST_NOISE
) -> Fit:
    """Return the constants that fit ``measured`` (s) best, with intervals of 80 %.

    ``least`` is how closely two measurements of the same thing agree at best, as a share.
    """
    logs = np.log(measured)
    spreads = np.array([one.spread for one in parameters])
    found = _settled(parameters, predict, logs, least)
    slopes, noise = found.slopes, found.noise
    counted = _counted(found.residual)
    used = _used(slopes, spreads, noise)
    scale = max(_scale(found.residual, noise, used), least) * np.sqrt(len(logs) / counted)
    information = slopes.T @ slopes / scale**2
    deviation = np.sqrt(np.diag(np.linalg.inv(information + np.diag(spreads**-2.0))))
    reach = student(max(counted - used, 3.0)) * deviation
    return Fit(
        tuple(
            Fitted(
                float(np.exp(found.at[i])),
                float(np.exp(found.at[i] - reach[i])),
                float(np.exp(found.at[i] + reach[i])),
            )
            for i in range(len(parameters))
        ),
        noise,
        counted,
    )


def student(freedom: float) -> float:
    """Return the 90 % quantile of Student's t (Cornish-Fisher; within 1 % from 3 degrees on).

    >>> round(student(10), 3), round(student(1e9), 3)
    (1.372, 1.282)
    """
    z = QUANTILE
    found = z + (z**3 + z) / (4 * freedom)
    found += (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    return found + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)


def _linear(predict: Predict, logs: Floats, at: Floats) -> tuple[Floats, Floats]:
    """Return the slopes of log(predicted) by each logarithm at ``at``, and the residuals there."""
    here = np.log(predict(np.exp(at))) - logs
    slopes = np.empty((len(logs), len(at)))
    for place in range(len(at)):
        step = np.zeros(len(at))
        step[place] = STEP
        above, below = (np.log(predict(np.exp(at + sign * step))) for sign in (1, -1))
        slopes[:, place] = (above - below) / (2 * STEP)
    return slopes, here


def _least(
    predict: Predict, logs: Floats, spreads: Floats, noise: float, at: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the most likely logarithms at that noise, with slopes and residuals there.

    The search begins ``at``.
    """
    slopes, residual = _linear(predict, logs, at)
    damping = 1e-3
    for _ in range(_ROUNDS):
        weight = np.minimum(1.0, HUBER * noise / np.maximum(np.abs(residual), 1e-300))
        downhill = slopes.T @ (weight * residual) / noise**2 + at / spreads**2
        curved = slopes.T @ (weight[:, None] * slopes) / noise**2 + np.diag(spreads**-2.0)
        cost = _cost(residual, at, spreads, noise)
        for _ in range(_TRIES):
            step = -np.linalg.solve(curved + damping * np.diag(np.diag(curved)), downhill)
            step = np.clip(step, -1.0, 1.0)
            there = np.log(predict(np.exp(at + step))) - logs
            if _cost(there, at + step, spreads, noise) < cost:
                damping = max(damping / 5, 1e-9)
                break
            damping *= 4
        else:
            break
        at = at + step
        slopes, residual = _linear(predict, logs, at)
        if float(np.abs(step).max()) < _SMALL:
            break
    return at, slopes, residual


def _cost(residual: Floats, at: Floats, spreads: Floats, noise: float) -> float:
    far = np.abs(residual) / noise
    loss = np.where(far <= HUBER, far**2, 2 * HUBER * far - HUBER**2)
    return float(loss.sum() + (at / spreads) @ (at / spreads))


def _used(slopes: Floats, spreads: Floats, noise: float) -> float:
    """Return how many constants the data, and not the priors, decide."""
    information = slopes.T @ slopes / noise**2
    return float(np.trace(information @ np.linalg.inv(information + np.diag(spreads**-2.0))))


def _deviation(residual: Floats, used: float) -> float:
    """Return the standard deviation by the median of absolute values, which outliers do not move.

    ``used`` constants were fitted to these points.
    """
    count = len(residual)
    if count < FEW:
        return 0.0
    freed = np.sqrt(count / max(count - used, 1.0))
    return float(1.4826 * np.median(np.abs(residual)) * freed)


def _scale(residual: Floats, noise: float, used: float) -> float:
    """Return the deviation that counts for the intervals, points far off cut (Huber, 1981, 7.6)."""
    count = len(residual)
    if count < FEW:
        return 0.0
    cut = np.clip(residual, -HUBER * noise, HUBER * noise)
    inside = max(float((np.abs(residual) <= HUBER * noise).mean()), 0.1)
    spread = float(np.sqrt(cut @ cut / max(count - used, 1.0)))
    return spread / inside


def _counted(residual: Floats) -> float:
    """Return how many independent points these are worth: n (1 - r) / (1 + r), at least three."""
    count = len(residual)
    if count < 8:
        return float(count)
    centred = residual - residual.mean()
    whole = float(centred @ centred)
    together = float(centred[1:] @ centred[:-1]) / whole if whole > 0 else 0.0
    # Chance alone makes 1.3/sqrt(n) of it in one of ten cases: only what is beyond that counts.
    together = 0.0 if together < QUANTILE / np.sqrt(count) else min(together, 0.9)
    return max(count * (1 - together) / (1 + together), 3.0)
