"""How often to save: Young's and Daly's intervals, and the complete model with its optimum.

Symbols: ``save`` d, the seconds that a checkpoint blocks the job; ``mtbf`` M; ``restart`` R, from
the failure until work goes on; ``interval`` tau, seconds of work between checkpoints. Failures are
exponential and happen during saves and restarts too.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, expm1, inf, isinf, log, sqrt
from typing import Final

_GOLDEN: Final = (sqrt(5.0) - 1.0) / 2.0
_ROUNDS: Final = 48
"""Golden-section steps: the bracket of a logarithm shrinks by 0.618 each, to 1e-9."""


def young(save: float, mtbf: float) -> float:
    """Return sqrt(2·d·M), in seconds (Young, CACM 17(9), 1974)."""
    return sqrt(2.0 * save * mtbf)


def daly(save: float, mtbf: float) -> float:
    """Return Daly's higher-order optimum, in seconds.

    sqrt(2dM)·[1 + sqrt(d/2M)/3 + (d/2M)/9] - d for d < 2M, else M (Daly, FGCS 22(3), 2006,
    equation 37).
    """
    if save >= 2.0 * mtbf:
        return mtbf
    part = save / (2.0 * mtbf)
    return young(save, mtbf) * (1.0 + sqrt(part) / 3.0 + part / 9.0) - save


def complete(interval: float, save: float, mtbf: float, restart: float) -> float:
    """Return work done over time passed, 0 to 1: tau / (M·e^(R/M)·(e^((tau+d)/M) - 1)).

    Daly 2006, equation 20, the other way round. Where nothing fails it is tau / (tau + d).
    """
    if isinf(mtbf):
        return interval / (interval + save)
    exponent = (interval + save) / mtbf
    if exponent + restart / mtbf > 700.0:
        return 0.0
    return interval / (mtbf * exp(restart / mtbf) * expm1(exponent))


def best_complete(save: float, mtbf: float, restart: float) -> tuple[float, float]:
    """Return the interval that makes :func:`complete` largest, in seconds, and that value."""
    if save <= 0.0 or isinf(mtbf):
        value = 1.0 if isinf(mtbf) else exp(-restart / mtbf)
        return (inf if isinf(mtbf) else 0.0), value
    best = maximise(
        lambda tau: complete(tau, save, mtbf, restart), save * 1e-3, 10.0 * (mtbf + save)
    )
    return best, complete(best, save, mtbf, restart)


def maximise(value: Callable[[float], float], low: float, high: float) -> float:
    """Return where between ``low`` and ``high`` (above 0) ``value`` with one peak is largest.

    Golden-section search on the logarithm.
    """
    left, right = log(low), log(high)
    inner, outer = right - _GOLDEN * (right - left), left + _GOLDEN * (right - left)
    at_inner, at_outer = value(exp(inner)), value(exp(outer))
    for _ in range(_ROUNDS):
        if at_inner >= at_outer:
            right, outer, at_outer = outer, inner, at_inner
            inner = right - _GOLDEN * (right - left)
            at_inner = value(exp(inner))
        else:
            left, inner, at_inner = inner, outer, at_outer
            outer = left + _GOLDEN * (right - left)
            at_outer = value(exp(outer))
    return exp((left + right) / 2.0)
