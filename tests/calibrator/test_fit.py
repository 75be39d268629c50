"""The fit on models of which everything is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from artery.calibrator.fit import Parameter, fit, separable, student
from artery.core.arrays import Floats

SIZES = 2.0 ** np.arange(10, 34)
START, RATE = Parameter("start", 0.5), Parameter("rate", 0.3)


def line(factors: Floats) -> Floats:
    return np.asarray(40e-6 * factors[0] + SIZES / (300e9 * factors[1]))


def test_without_noise_the_constants_come_back() -> None:
    found = fit([START, RATE], line, line(np.array([1.7, 0.8])))
    assert [one.factor for one in found.fitted] == pytest.approx([1.7, 0.8], rel=0.01)


def test_intervals_of_80_percent_hold_in_8_of_10_cases() -> None:
    held = np.zeros(2)
    cases = 150
    for seed in range(cases):
        draw = np.random.default_rng(seed)
        planted = np.exp(draw.normal(0.0, [0.5, 0.3]))
        measured = line(planted) * np.exp(draw.normal(0.0, 0.05, len(SIZES)))
        for place, one in enumerate(fit([START, RATE], line, measured).fitted):
            held[place] += one.low <= planted[place] <= one.high
    assert (held / cases >= 0.7).all(), held / cases
    assert (held / cases <= 0.9).all(), held / cases


def test_a_spike_moves_little() -> None:
    planted = np.array([1.5, 0.7])
    measured = line(planted)
    spiked = measured * np.where(np.arange(len(SIZES)) == 20, 5.0, 1.0)
    found = fit([START, RATE], line, spiked)
    assert [one.factor for one in found.fitted] == pytest.approx(planted.tolist(), rel=0.03)


def test_residuals_that_hang_together_count_as_fewer_points() -> None:
    wave = 0.05 * np.sin(np.arange(len(SIZES)) / 4)
    found = fit([START, RATE], line, line(np.array([1.2, 0.9])) * np.exp(wave))
    assert found.points < len(SIZES) / 2
    calm = np.random.default_rng(1).normal(0.0, 0.03, len(SIZES))
    assert fit([START, RATE], line, line(np.ones(2)) * np.exp(calm)).points == len(SIZES)


def test_what_moves_nothing_is_silent() -> None:
    other = Parameter("other", 0.3)
    found = separable(
        [START, other], lambda f: line(np.array([f[0], 1.0])), line(np.ones(2)) * 1.05
    )
    assert found.silent == ("other",)


def test_two_that_move_all_points_alike_are_a_pair() -> None:
    twin = Parameter("twin", 0.3)

    def model(factors: Floats) -> Floats:
        return line(np.array([factors[0] * factors[1], 1.0]))

    found = separable([START, twin], model, line(np.array([1.4, 1.0])))
    assert found.pair == ("start", "twin")
    assert found.condition > 30


def test_what_can_be_told_apart_is() -> None:
    found = separable([START, RATE], line, line(np.array([1.4, 0.9])))
    assert not found.silent
    assert not found.pair


@pytest.mark.parametrize("freedom", [3, 5, 10, 30, 1000])
def test_student_s_quantile_against_scipy(freedom: int) -> None:
    assert student(freedom) == pytest.approx(float(stats.t.ppf(0.9, freedom)), rel=0.01)


def test_fewer_points_than_constants_cannot_tell_them_apart() -> None:
    parameters = [Parameter("one", 0.5), Parameter("two", 0.5)]

    def predict(factors: Floats) -> Floats:
        return np.array([factors[0] ** 0.6 * factors[1] ** 0.4])

    assert separable(parameters, predict, np.array([1.5])).pair == ("one", "two")


def test_a_floor_that_is_not_reached_beforehand_is_found() -> None:
    def predict(factors: Floats) -> Floats:
        work = 1e-3 * factors[0]
        return np.array([work, 2 * work, 5 * work, 9 * work, np.maximum(work, 0.8e-3 * factors[1])])

    parameters = [Parameter("work", 0.2), Parameter("floor", 0.5, floor=True)]
    measured = predict(np.array([1.1, 2.0]))
    assert not separable(parameters, predict, measured).silent
    found = fit(parameters, predict, measured)
    assert [one.factor for one in found.fitted] == pytest.approx([1.1, 2.0], rel=0.03)
