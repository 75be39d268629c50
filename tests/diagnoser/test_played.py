"""Causes whose play gives other numbers than their price are lowered."""

from __future__ import annotations

from math import exp, log

import pytest

from artery.diagnoser.case import Case, Curve, Point
from artery.diagnoser.played import MOST_PLAYED, Play, after_play
from artery.diagnoser.rules import Cause, World
from artery.diagnoser.weigh import ELSE, TOLERANCE, Explanation, Priced, Weighed, weigh

CURVE = Curve("all_reduce", 32, 4, (Point(2**30, 200e9),), "a")


def cause(key: str, world: World, prior: float = 0.1) -> Cause:
    return Cause(key, key, key, prior, "next", "reference", worlds=(world,))


def price(world: World) -> Priced | None:
    share = world.get("network", world.get("node"))
    assert isinstance(share, float)
    return Priced([400e9 * share])


CAUSES = (
    cause("likeliest", {"network": 0.5}, 0.4),
    cause("same_world", {"network": 0.5}, 0.3),
    cause("other", {"node": 0.5}, 0.2),
)


def weighed() -> tuple[Weighed, ...]:
    return weigh(Case(), CURVE, None, price, CAUSES)


def missed(busbw: float) -> Play:
    return Play(busbw, abs(log(200e9 / busbw)), lands=False)


def test_what_lands_stays_as_it_was() -> None:
    assert after_play(weighed(), lambda *_: Play(200e9, 0.0, lands=True)) == weighed()


def test_what_cannot_be_played_stays_as_it_was() -> None:
    assert after_play(weighed(), lambda *_: None) == weighed()


def test_a_play_that_misses_lowers_every_cause_of_that_world_by_its_likelihood() -> None:
    def play(_: Cause, explained: Explanation) -> Play | None:
        return missed(240e9) if explained.world == {"network": 0.5} else None

    found = after_play(weighed(), play)
    share = exp(-((log(1.2) / TOLERANCE) ** 2) / 2)
    odds = {"likeliest": 0.4 * share, "same_world": 0.3 * share, "other": 0.2}
    total = ELSE + sum(odds.values())
    assert {one.cause.key: one.confidence for one in found} == pytest.approx(
        {key: value / total for key, value in odds.items()}
    )
    assert found[0].cause.key == "other"
    assert [one.explanation.played for one in found] == [None, 240e9, 240e9]


def test_so_many_are_played_and_no_more() -> None:
    causes = [cause(str(n), {"network": 0.5, "step": n}, 0.1) for n in range(9)]
    tried: list[str] = []

    def play(one: Cause, _: Explanation) -> Play | None:
        tried.append(one.key)
        return missed(390e9)

    after_play(weigh(Case(), CURVE, None, price, causes), play)
    assert len(tried) == MOST_PLAYED == len(set(tried))
