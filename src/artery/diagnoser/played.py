"""Causes played on the network: one whose play does not give what was measured is lowered.

The price of a cause is a formula. Where its play, which knows nothing of that formula, comes out
elsewhere, the curve is as likely under the cause as its play says, no more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Final

from artery.diagnoser.rules import Cause
from artery.diagnoser.weigh import Explanation, Weighed, likelihood

MOST_PLAYED: Final = 3
"""Assumed: causes that are played one after the other, each a second or so."""


@dataclass(frozen=True, slots=True)
class Play:
    """What a cause gives when it is played, in B/s, at the ``size`` that is farthest off.

    ``left`` is the root mean square of log(measured / played); ``lands`` says whether every size
    that counts comes out as it was measured.
    """

    busbw: float
    left: float
    lands: bool
    size: int = 0


Player = Callable[[Cause, Explanation], Play | None]
"""Plays a cause as it was priced: its world, by the same algorithm; ``None`` if that cannot be."""


def after_play(weighed: Sequence[Weighed], play: Player) -> tuple[Weighed, ...]:
    """Return the causes, the likeliest first, after the likeliest were played.

    The first is played; where that does not land, it and all causes of the same world are lowered,
    and whichever is first then is played, up to :data:`MOST_PLAYED` times.
    """
    found = tuple(weighed)
    for _ in range(MOST_PLAYED):
        first = found[0] if found else None
        if first is None or not first.explanation.fits or first.explanation.played is not None:
            return found
        outcome = play(first.cause, first.explanation)
        if outcome is None or outcome.lands:
            return found
        found = _lowered(found, first.explanation, outcome)
    return found


def _lowered(
    weighed: Sequence[Weighed], explained: Explanation, outcome: Play
) -> tuple[Weighed, ...]:
    """Return the causes with those of the same world and algorithm lowered to what was played."""
    rest = weighed[0].odds / weighed[0].confidence - sum(one.odds for one in weighed)
    found = [
        _one(each, outcome) if _same(each.explanation, explained) else each for each in weighed
    ]
    total = rest + sum(one.odds for one in found)
    ranked = sorted(found, key=lambda one: -one.odds)
    return tuple(replace(one, confidence=one.odds / total) for one in ranked)


def _one(each: Weighed, outcome: Play) -> Weighed:
    priced = likelihood(each.cause, log(each.explanation.remains or 1.0))
    share = min(1.0, likelihood(each.cause, outcome.left) / priced)
    told = replace(each.explanation, played=outcome.busbw, played_size=outcome.size)
    return replace(each, odds=each.odds * share, explanation=told)


def _same(one: Explanation, other: Explanation) -> bool:
    return one.world == other.world and one.algorithm == other.algorithm
