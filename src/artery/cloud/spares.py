"""How many nodes to keep spare, and availability in nines."""

from __future__ import annotations

from math import exp, inf, lgamma, log, log10
from typing import Final

from artery.units.durations import DAY

REPAIR: Final = DAY
"""Assumed: a failed node is back after a day."""

_CANCELLED: Final = 1e-6
"""Below this too few digits are left of one minus a sum of chances."""


def spares_needed(out: float, risk: float) -> int:
    """Return the fewest spares with which more are out at most ``risk`` of the time.

    Nodes that fail at random and are repaired in any time of the same mean: the number out is
    Poisson with mean ``out`` = failure rate times repair time (M/G/infinity; Palm).
    """
    spares, chance = 0, 0.0
    if out <= 0.0:
        return 0
    while True:
        chance += _chance(out, spares)
        more = 1.0 - chance
        if (more if more > _CANCELLED else _more_than(out, spares)) <= risk:
            return spares
        spares += 1


def spares_for_domains(out: float, fallen: float, nodes: int, risk: float) -> int:
    """Return the fewest spares where parts fall that take ``nodes`` nodes each with them.

    ``out`` nodes are out alone, ``fallen`` parts are, both means of Poisson numbers: the nodes out
    are compound Poisson, N1 + nodes·N2.
    """
    low, high = 0, spares_needed(out, risk / 2) + nodes * spares_needed(fallen, risk / 2)
    while low < high:
        middle = (low + high) // 2
        if _more_than_spares(middle, out, fallen, nodes) <= risk:
            high = middle
        else:
            low = middle + 1
    return low


def _more_than_spares(spares: int, out: float, fallen: float, nodes: int) -> float:
    """The chance that more than ``spares`` nodes are out, alone or with their part."""
    within, total = spares // nodes, 0.0
    for parts in range(within + 1):
        alone = sum(_chance(out, count) for count in range(spares - nodes * parts + 1))
        total += _chance(fallen, parts) * alone
    return 1.0 - total


def _chance(out: float, count: int) -> float:
    """Return the Poisson chance that exactly ``count`` are out."""
    if out <= 0.0:
        return 1.0 if count == 0 else 0.0
    return exp(count * log(out) - out - lgamma(count + 1))


def _more_than(out: float, count: int) -> float:
    """Return the chance of more than ``count`` > ``out``, summed term by term: no cancelling."""
    total, number = 0.0, count + 1
    while (term := _chance(out, number)) > total * 1e-12:
        total, number = total + term, number + 1
    return total


def nines(availability: float) -> float:
    """Return -log10(1 - availability): 3 for 99.9 %; infinite for always.

    >>> round(nines(0.99999), 6)
    5.0
    """
    return inf if availability >= 1.0 else 0.0 - log10(1.0 - availability)
