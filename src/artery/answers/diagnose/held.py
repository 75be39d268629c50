"""Every measured curve held against what its system should give; which of them falls shortest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from artery.answers.diagnose.facts import PLATEAU
from artery.answers.diagnose.system import Asked, Stand, stand_for
from artery.answers.diagnose.worlds import band, has_two_ways
from artery.answers.expect.pricing import Setting
from artery.core.pricing import Collective, named
from artery.diagnoser.case import Case, Curve, Point, Refusal
from artery.diagnoser.shape import shape_of
from artery.diagnoser.verdict import HEALTHY, Judged

_IMPOSSIBLE: Final = 4.0
"""Assumed: no system gives so many times what it should; bits for bytes are eight times."""


@dataclass(frozen=True, slots=True)
class Held:
    """A curve held against its system, as far as that is known."""

    stand: Stand | None = None
    judged: Judged | None = None

    @property
    def above_link(self) -> bool:
        """Whether busbw inside one node is above the rate of a chip's links: NVSwitches add."""
        if self.stand is None or self.stand.setting is None or self.judged is None:
            return False
        system, curve = self.stand.setting.system, self.judged.curve
        inner = system.tiers[0] if system.tiers else None
        adds = inner is not None and inner.reduction is not None
        one = system.nodes == 1 or curve.nodes == 1
        return bool(adds and one and inner and curve.last.busbw > inner.burst)


def held_of(case: Case, asked: Asked) -> tuple[Held, ...]:
    """Return every curve held against what it should be."""
    found = []
    for curve in () if case.refusals else case.curves:
        stand = stand_for(case, curve, asked)
        judged = None if stand.setting is None else against(curve, stand.setting)
        found.append(Held(stand, judged))
    for share in () if case.refusals else case.shares:
        probe = Curve(share.collective, share.ranks, share.nodes,
                      (Point(share.size or PLATEAU, 1.0),), share.source,
                      sized=share.size is not None)  # fmt: skip
        stand = stand_for(case, probe, asked)
        if stand.setting is not None:
            found.append(Held(stand, _at_share(probe, stand.setting, share.part)))
    return tuple(found)


def _at_share(probe: Curve, setting: Setting, part: float) -> Judged:
    """Return the one size of ``probe`` at a ``part`` of what it should be.

    Over two nodes that is a ring's bandwidth: people expect what the cards carry.
    """
    collective, size = collective_of(probe), probe.last.size
    way = ("ring",) if has_two_ways(probe, collective) else ()
    should = band(setting, collective, [size], *way)
    curve = replace(probe, points=(Point(size, part * should[0][0]),))
    return Judged(curve, shape_of(curve), *should)


def against(curve: Curve, setting: Setting) -> Judged:
    """Return ``curve`` beside what it should be.

    Over two nodes that is a tree's bandwidth or, if the run comes up to it, a ring's: both put
    on the network what the cards carry.
    """
    sizes = [point.size for point in curve.points]
    collective = collective_of(curve)
    judged = Judged(curve, shape_of(curve), *band(setting, collective, sizes))
    if judged.least >= HEALTHY or not has_two_ways(curve, collective):
        return judged
    ring = Judged(curve, judged.shape, *band(setting, collective, sizes, "ring"))
    return ring if ring.least >= HEALTHY else judged


def worst(held: Sequence[Held]) -> Held:
    """Return the curve that falls shortest of what it should be; any, if none was compared."""
    compared = [each for each in held if each.judged is not None]
    if compared:
        return min(compared, key=lambda each: each.judged.least if each.judged else 0.0)
    return held[0] if held else Held()


def collective_of(curve: Curve) -> Collective:
    """Return what was measured; an unnamed table is all-reduce, which notes say."""
    return named(curve.collective) if curve.collective is not None else "all_reduce"


def impossible(found: Sequence[Held]) -> tuple[Refusal, ...]:
    """Return why no curve counts, where one gives more than any system can."""
    judged = [each.judged for each in found if each.judged is not None]
    return tuple(_impossible(one) for one in judged if one.ratio > _IMPOSSIBLE)


def _impossible(judged: Judged) -> Refusal:
    last = judged.curve.last
    return Refusal(
        "above_the_links",
        f"{judged.curve.source}: {last.busbw / 1e9:.4g} GB/s is "
        f"{judged.ratio:.3g} times what the system can give",
        "look whether Gb/s were written as GB/s, and whether the system (--on) is the one measured",
    )
