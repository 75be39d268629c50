from __future__ import annotations

from math import exp, inf

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import poisson

from artery.cloud.spares import nines, spares_for_domains, spares_needed


def test_few_nodes_out_by_hand() -> None:
    """Poisson with mean 1: P(more than 2) = 1 - e^-1·(1 + 1 + 1/2) = 8 %."""
    assert 1 - 2.5 * exp(-1) == pytest.approx(0.0803, abs=1e-4)
    assert spares_needed(1.0, 0.0804) == 2
    assert spares_needed(1.0, 0.0802) == 3
    assert spares_needed(0.0, 0.01) == 0


def test_a_hundred_thousand_chips() -> None:
    """81 nodes are out: 6.5 failures per 1,000 node-days on 12,500 nodes, a day each.

    Mean and three standard deviations is 108: about one chance in a thousand.
    """
    assert spares_needed(81.25, 0.00135) == pytest.approx(108, abs=2)


@given(out=st.floats(0.01, 200.0), risk=st.floats(1e-4, 0.5))
def test_the_fewest_that_do(out: float, risk: float) -> None:
    spares = spares_needed(out, risk)
    assert poisson.sf(spares, out) <= risk + 1e-9
    assert spares == 0 or poisson.sf(spares - 1, out) > risk - 1e-9


def test_nines() -> None:
    assert nines(0.999) == pytest.approx(3.0)
    assert nines(1.0) == inf
    assert str(nines(0.0)) == "0.0"


@pytest.mark.parametrize("risk", [1e-8, 1e-15, 1e-40, 1e-300])
def test_the_smallest_risks_have_an_answer(risk: float) -> None:
    spares = spares_needed(0.7, risk)
    assert poisson.sf(spares, 0.7) <= risk < poisson.sf(spares - 1, 0.7)


def test_racks_that_never_fall_change_nothing() -> None:
    assert spares_for_domains(3.0, 0.0, 16, 0.01) == spares_needed(3.0, 0.01)


def test_a_rack_that_is_often_down_must_be_spare_as_a_whole() -> None:
    """Nothing else fails; one rack of 16 is down with chance 1 - e^-0.05 = 4.9 %, two 0.12 %."""
    assert spares_for_domains(0.0, 0.05, 16, 0.01) == 16
    assert spares_for_domains(0.0, 0.05, 16, 0.001) == 32
    assert spares_for_domains(0.0, 0.05, 16, 0.06) == 0


@given(st.floats(0.1, 20.0), st.floats(0.01, 3.0), st.integers(2, 40), st.floats(1e-3, 0.3))
def test_the_fewest_that_do_with_racks(out: float, fallen: float, nodes: int, risk: float) -> None:
    def more(spares: int) -> float:
        parts = range(spares // nodes + 1)
        within = sum(poisson.pmf(k, fallen) * poisson.cdf(spares - k * nodes, out) for k in parts)
        return float(1 - within)

    spares = spares_for_domains(out, fallen, nodes, risk)
    assert more(spares) <= risk + 1e-9
    assert spares == 0 or more(spares - 1) > risk - 1e-9
