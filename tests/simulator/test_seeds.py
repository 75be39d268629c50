"""The range over seeds: never without the run that is told."""

from __future__ import annotations

import pytest

from artery.simulator.seeds import FEW, Range


def test_percentiles_need_twenty_seeds() -> None:
    few, many = [float(one) for one in range(9, FEW + 8)], [50.0, *map(float, range(100))]
    assert Range.of(few) == Range(FEW - 1, 9.0, 18.0, 27.0, whole=True)
    found = Range.of(many)
    assert not found.whole
    assert (found.low, found.median, found.high) == pytest.approx((5, 50, 94), abs=0.6)


@pytest.mark.parametrize("odd", [-1.0, 100.0])
def test_a_first_run_beyond_the_percentiles_is_within_what_is_told(odd: float) -> None:
    found = Range.of([odd, *map(float, range(100))])
    assert found.whole
    assert found.low <= odd <= found.high
