"""Intervals know how noisy the times were: against planted noise, and none where there is none."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from artery.answers.train.terms import Spread
from artery.runner.probing import rounds
from artery.runner.probing.measured import COUNTED, typical
from artery.runner.probing.noise import QUIET, Noise, larger, noise

ROUNDS = 6


def ranks(weather: np.ndarray[Any, Any], chance: np.random.Generator) -> list[dict[str, Any]]:
    """Two ranks, steps of 1 s, 0.8 s of it alone: ``weather`` by round, a little more by step."""
    found = []
    for _ in range(2):
        slower = np.repeat(weather, COUNTED) * (1 + 0.01 * chance.random(ROUNDS * COUNTED))
        spans = [[[0.0, 0.1 * one]] for one in slower]
        found.append({"whole": [*slower], "alone": [*(0.8 * slower)], "spans": spans})
    return found


def planted(seed: int) -> list[dict[str, Any]]:
    """Return rounds that others make up to half as long again."""
    chance = np.random.default_rng(seed)
    return ranks(1 + 0.5 * chance.random(ROUNDS), chance)


def test_where_all_rounds_are_alike_there_is_no_noise() -> None:
    same = {"whole": [1.0] * 18, "alone": [0.8] * 18, "spans": [[[0.0, 0.1]]] * 18}
    assert noise([same, same]) == QUIET
    step = Spread(QUIET, sqrt(2), 0.15)
    assert step.step(2.0) == pytest.approx((1.7, 2.3))
    one = {"whole": [1.0, 2.0, 3.0], "alone": [0.5] * 3, "spans": [[]] * 3}
    assert noise([one]) == QUIET


def test_the_interval_holds_another_measurement_of_the_same_four_times_of_five() -> None:
    held = []
    for seed in range(60):
        one, other = planted(seed), planted(1000 + seed)
        predicted = max(typical(rank["whole"]) for rank in one)
        low, high = Spread(noise(one), sqrt(2), 0.0).step(predicted)
        held.append(low <= max(typical(rank["whole"]) for rank in other) <= high)
    # 80 % of 60, and two standard deviations of such a count: 6.2.
    assert sum(held) == pytest.approx(48, abs=7)


def test_noise_widens_each_interval_in_its_own_measure() -> None:
    spread = Spread(Noise(step=0.1, compute=0.2, exposed=0.05, communication=0.3), 1.0, 0.0)
    assert spread.step(10.0) == pytest.approx((10 - 1.2816, 10 + 1.2816))
    assert spread.compute(10.0) == pytest.approx((10 - 2.5632, 10 + 2.5632))
    assert spread.communication(1.0) == pytest.approx((1 - 0.38448, 1 + 0.38448))
    # A difference of steps may be nothing, never less.
    assert spread.exposed(0.1, 10.0) == pytest.approx((0.0, 0.1 + 0.6408))
    assert larger(Noise(0.1, 0.4, 0.1, 0.0), Noise(0.2, 0.3, 0.0, 0.1)) == Noise(0.2, 0.4, 0.1, 0.1)


def test_an_all_reduce_of_the_sweep_follows_computing_as_in_a_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A rank that has just computed waits for its turn where others compute as well."""
    order: list[object] = []

    def begin(_: torch.Tensor) -> Callable[[], None]:
        order.append("begin")
        return lambda: order.append("wait")

    peers = SimpleNamespace(begin=begin, spans=[[0.0, 1.0]], under_way=lambda: False)
    monkeypatch.setattr(rounds, "TimedRanks", lambda _: peers)
    monkeypatch.setattr(rounds.Sweep, "_compute", lambda _, seconds=0.0: order.append(seconds))
    sweep = object.__new__(rounds.Sweep)
    group: Any = None
    assert sweep._alone(torch.ones(1), group) == [0.0, 1.0]
    assert sweep._beside(torch.ones(1), group) == [0.0, 1.0]
    assert order == [rounds._BUSY, "begin", "wait", rounds._BUSY, "begin"]
