"""Causes compete: each that can be said as a changed world re-prices the whole curve.

Bayes on odds: the prior of a cause, times how likely the measured curve is in its world, times
the factors of the evidence. A curve is off by a factor, so that residuals are of logarithms;
they are taken as normal with a spread of :data:`TOLERANCE`. "Something else" competes too, so
that confidence is never shared out among causes that all fit badly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, log, prod, sqrt
from typing import Final

from artery.diagnoser.case import Case, Curve
from artery.diagnoser.rules import Cause, Evidence, World, worlds_of


@dataclass(frozen=True, slots=True)
class Priced:
    """Bus bandwidth at each size of the curve in a changed world, B/s, and by which algorithm.

    ``algorithm`` is ``auto`` where the library chooses at every size.
    """

    busbw: Sequence[float]
    algorithm: str = "auto"


Reprice = Callable[[World], Priced | None]
"""The price of a changed world; ``None`` if it cannot be, or changes nothing. That of no change at
all is the price of the system as it should be."""

TOLERANCE: Final = 0.12
"""Assumed: a factor of 1.13 between a machine and its price is nothing (the spread of the
library's tables, 1.1 to 1.25 for bandwidth, is of 80 %)."""

FITS: Final = 1.8
"""Assumed: tolerances that may remain (root mean square of logarithms; a factor of 1.24)."""

UNPRICED: Final = 0.1
"""Assumed: likelihood of any curve under a cause that says nothing about its numbers."""

MISSED: Final = 0.02
"""Assumed: how often a cause that is seen in the files is there, and the curve lies below its price
all the same: the price is of a good host, and slow runs may have more than one cause."""

SEEN: Final = 30.0
"""Assumed: evidence that is worth such odds is of the cause itself, not of its likes."""

ELSE: Final = 0.1
"""Assumed: prior times likelihood that it is something nobody wrote a rule for."""

DOUBTED: Final = 20.0
"""Assumed: odds that it is something else, where files and the named system contradict each other,
over those where they agree."""

_THERE: Final = 0.5
"""Assumed: a fault that is less likely than not is no fault beside the numbers."""

_FROM: Final = 4 * 2**20
"""Bytes. Below, start-up times rule, in which machines differ twofold without any fault."""

_BOUND: Final = 0.75
"""Assumed: a size with less than three quarters of the largest size's bandwidth is bound by
start-up times too, whatever its bytes."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a cause makes of the numbers, at the size that counts, in B/s.

    ``predicted`` is the bandwidth in its world, ``remains`` the factor between measured and
    predicted over the curve (1: none); both ``None`` if it has no world. ``fits`` says whether
    what remains is small; ``None`` where nothing was priced. ``algorithm`` is the one that was
    priced. ``played`` is the bandwidth of the cause played on the network where that is not what
    was measured, at ``played_size`` bytes; ``None`` where it is, or nobody played it.
    """

    fits: bool | None
    predicted: float | None
    remains: float | None
    world: World | None
    algorithm: str | None = None
    played: float | None = None
    played_size: int | None = None


@dataclass(frozen=True, slots=True)
class Weighed:
    """A cause with what speaks for it and against it, and its share of all odds.

    ``beside``: it explains nothing of the numbers, and is a fault in itself; ``confidence`` is then
    that it is there at all.
    """

    cause: Cause
    evidence: tuple[str, ...]
    against: tuple[str, ...]
    explanation: Explanation
    odds: float
    confidence: float = 0.0
    beside: bool = False


def faults(case: Case, candidates: Sequence[Cause]) -> tuple[Weighed, ...]:
    """Return the candidates of which evidence tells that is a fault whatever the numbers say."""
    found = []
    for cause in candidates:
        if cause.stops and cause.scope == "network" and case.facts.get("nodes") == 1.0:
            continue  # it stops what crosses nodes, and nothing does
        broken = [rule for rule in cause.evidence if rule.fault]
        texts = tuple(text for _, text in _holding(broken, case, None))
        if texts:
            odds = cause.prior * prod(factor for factor, _ in _holding(cause.evidence, case, None))
            nothing = Explanation(None, None, None, None)
            share = odds / (odds + ELSE)
            if share >= _THERE:
                found.append(Weighed(cause, texts, (), nothing, odds, share, beside=True))
    return tuple(sorted(found, key=lambda one: -one.odds))


def _holding(
    rules: Sequence[Evidence], case: Case, shape: str | None
) -> tuple[tuple[float, str], ...]:
    """Return the factors of the rules that hold, each with what meets it.

    One line that meets two rules to the same effect is one piece of evidence: the stronger counts.
    """
    found: dict[tuple[str, bool], float] = {}
    for rule in rules:
        text = rule.met(case, shape)
        if text is not None:
            key = text, rule.odds >= 1
            found[key] = max(found.get(key, 1.0), rule.odds, key=lambda one: abs(log(one)))
    return tuple((factor, text) for (text, _), factor in found.items())


def weigh(
    case: Case,
    curve: Curve | None,
    shape: str | None,
    reprice: Reprice | None,
    candidates: Sequence[Cause],
) -> tuple[Weighed, ...]:
    """Return the candidates, the likeliest first, with confidences that sum to less than one."""
    found = [_one(cause, case, curve, shape, reprice) for cause in candidates]
    found = [one for one in found if one.evidence or not one.cause.only_with_evidence]
    if reprice is not None and curve is not None and curve.sized:
        found = [one for one in found if not one.cause.by_size]
    total = ELSE * (DOUBTED if case.doubts else 1.0) + sum(one.odds for one in found)
    ranked = sorted(found, key=lambda one: -one.odds)
    return tuple(
        Weighed(one.cause, one.evidence, one.against, one.explanation, one.odds, one.odds / total)
        for one in ranked
    )


def _lies_below(explained: Explanation, curve: Curve | None) -> bool:
    """Whether less was measured than the cause leaves: more refutes it, whatever was seen."""
    priced = explained.predicted
    return curve is not None and priced is not None and curve.last.busbw <= priced


def residual(curve: Curve, predicted: Sequence[float]) -> float:
    """Return the root mean square of log(measured / predicted) over the large sizes.

    They are those bound by bandwidth, as predicted; the largest is one of them.
    """
    least = _BOUND * predicted[-1]
    pairs = [
        (point.busbw, value)
        for point, value in zip(curve.points, predicted, strict=True)
        if point.size >= min(_FROM, curve.last.size) and point.busbw > 0 and value >= least > 0
    ]
    if not pairs:
        return float("inf")
    return sqrt(sum(log(one / other) ** 2 for one, other in pairs) / len(pairs))


def _one(
    cause: Cause, case: Case, curve: Curve | None, shape: str | None, reprice: Reprice | None
) -> Weighed:
    holding = _holding(cause.evidence, case, shape)
    told = prod(factor for factor, _ in holding)
    odds = cause.prior * told
    explanation, likely = _explain(cause, case, curve, reprice)
    if told >= SEEN and _lies_below(explanation, curve):
        likely = max(likely, MISSED)
    return Weighed(
        cause,
        tuple(dict.fromkeys(text for factor, text in holding if factor >= 1)),
        tuple(dict.fromkeys(text for factor, text in holding if factor < 1)),
        explanation,
        odds * likely,
    )


def _explain(
    cause: Cause, case: Case, curve: Curve | None, reprice: Reprice | None
) -> tuple[Explanation, float]:
    """Return what the cause's best world makes of the curve, and how likely it makes it."""
    worlds = worlds_of(cause, case.facts)
    if not worlds or curve is None or reprice is None:
        return Explanation(None, None, None, None), UNPRICED
    priced = [(world, reprice(world)) for world in worlds]
    able = [(residual(curve, found.busbw), world, found) for world, found in priced if found]
    if not able:
        # It touches nothing here: links above the leaves, say, of nodes on one leaf.
        usual = reprice({})
        left = residual(curve, usual.busbw) if usual is not None else 0.0
        return Explanation(None, None, None, None), UNPRICED * likelihood(cause, left)
    left, world, found = min(able, key=lambda one: one[0])
    best = max(range(len(found.busbw)), key=lambda index: curve.points[index].size)
    fits = left <= FITS * spread_of(cause)
    remains = exp(min(left, 50.0))
    explanation = Explanation(fits, found.busbw[best], remains, world, found.algorithm)
    # A cause of many variants fits more easily: each costs its share (Occam).
    return explanation, likelihood(cause, left) / sqrt(len(worlds))


def spread_of(cause: Cause) -> float:
    """Return the spread of log(measured / priced) of a machine that has this cause."""
    return max(cause.tolerance, TOLERANCE)


def likelihood(cause: Cause, left: float) -> float:
    """Return how likely a curve is of which ``left`` remains, over one that fits exactly."""
    return exp(-min((left / spread_of(cause)) ** 2 / 2, 700.0))
