from __future__ import annotations

from math import exp, inf, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from artery.cloud.intervals import best_complete, complete, daly, maximise, young

SAVES, TIMES = st.floats(1e-3, 300.0), st.floats(600.0, 1e7)


def test_young_is_the_first_order() -> None:
    assert young(30.0, 6000.0) == pytest.approx(600.0)


def test_daly_gives_up_where_saving_takes_twice_the_time_between_failures() -> None:
    assert daly(2000.0, 1000.0) == 1000.0


@given(save=SAVES, mtbf=TIMES)
def test_formulas_agree_where_saves_are_short(save: float, mtbf: float) -> None:
    tau = best_complete(save, mtbf, 600.0)[0]
    assert daly(save, mtbf) == pytest.approx(tau, rel=0.02)
    assert young(save, mtbf) == pytest.approx(tau + save, rel=0.6 * sqrt(save / mtbf) + 1e-3)


@given(save=SAVES, mtbf=TIMES, restart=st.floats(0.0, 1800.0), tau=st.floats(1.0, 1e6))
def test_the_share_is_one_and_falls_with_the_restart(
    save: float, mtbf: float, restart: float, tau: float
) -> None:
    share = complete(tau, save, mtbf, restart)
    assert 0.0 <= share < 1.0
    assert share == pytest.approx(complete(tau, save, mtbf, 0.0) * exp(-restart / mtbf), abs=1e-12)
    assert share <= best_complete(save, mtbf, restart)[1] + 1e-9


def test_where_nothing_fails_only_the_save_counts() -> None:
    assert complete(90.0, 10.0, inf, 600.0) == pytest.approx(0.9)
    assert best_complete(10.0, inf, 600.0) == (inf, 1.0)


def test_a_save_for_nothing_is_made_all_the_time() -> None:
    tau, share = best_complete(0.0, 6000.0, 600.0)
    assert tau == 0.0
    assert share == pytest.approx(exp(-0.1))


def test_hopeless_is_zero_and_no_overflow() -> None:
    assert complete(1e9, 1.0, 1.0, 600.0) == 0.0


def test_the_peak_is_found() -> None:
    assert maximise(lambda x: -((x - 7.0) ** 2), 1e-3, 1e6) == pytest.approx(7.0, rel=1e-4)
