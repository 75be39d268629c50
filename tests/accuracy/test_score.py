"""Scores by hand, and what must hold for any of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accuracy.score import (
    Scored,
    best_constant,
    headline,
    lookup_errors,
    quantile,
    summarise,
)


def one(predicted: float, *, table: str = "t", chip: str = "c", rate: float = 1.0) -> Scored:
    return Scored(
        id="x",
        table=table,
        chip=chip,
        measured=10.0,
        predicted=predicted,
        low=9.0,
        high=11.0,
        model_flops_rate=rate,
    )


def test_a_summary_by_hand() -> None:
    found = summarise([one(10.0), one(10.9), one(8.0), one(11.3)])
    assert found.count == 4
    assert found.median == pytest.approx(0.11)
    assert found.mean == pytest.approx((0.0 + 0.09 + 0.2 + 0.13) / 4)
    assert found.worst == pytest.approx(0.2)
    assert found.bias == pytest.approx((0.0 + 0.09 - 0.2 + 0.13) / 4)
    assert found.within_tight == 0.5
    assert found.within_loose == 0.5
    assert found.covered == 1.0


def test_coverage_asks_whether_the_interval_holds_the_measurement() -> None:
    outside = Scored("x", "t", "c", 10.0, 10.0, 10.5, 11.0, 1.0)
    assert not outside.covered


def test_quantiles_interpolate() -> None:
    assert quantile([1.0, 2.0, 3.0, 4.0, 5.0], 0.9) == pytest.approx(4.6)
    assert quantile([7.0], 0.9) == 7.0


def test_the_headline_weighs_tables_alike_and_rows_alike() -> None:
    rows = [one(11.0, table="a"), *(one(12.0, table="b") for _ in range(3))]
    found = headline(rows)
    assert found.tables == ("a", "b")
    assert found.table_median_mean == pytest.approx(0.15)
    assert found.pooled_mean == pytest.approx((0.1 + 3 * 0.2) / 4)
    assert found.within_loose == pytest.approx(0.25)


def test_the_lookup_has_one_constant_per_chip_and_table() -> None:
    rows = [
        one(1.0, chip="a", rate=100.0),
        one(1.0, chip="a", rate=100.0),
        one(1.0, chip="a", rate=130.0),
        one(1.0, chip="b", rate=7.0),
        one(1.0, chip="a", table="u", rate=50.0),
    ]
    assert lookup_errors(rows) == pytest.approx([0.0, 0.0, 0.3, 0.0, 0.0])


@given(st.lists(st.floats(0.1, 10.0), min_size=1, max_size=12), st.floats(0.05, 20.0))
def test_no_other_constant_beats_the_best(rates: list[float], other: float) -> None:
    def total(constant: float) -> float:
        return sum(abs(rate / constant - 1) for rate in rates)

    assert total(best_constant(rates)) <= total(other) + 1e-9


@given(st.lists(st.floats(1.0, 100.0), min_size=1, max_size=20))
def test_shares_grow_with_the_limit_and_the_worst_bounds_all(predictions: list[float]) -> None:
    found = summarise([one(value) for value in predictions])
    assert found.within_tight <= found.within_loose
    assert found.median <= found.worst
    assert found.p90 <= found.worst
    assert abs(found.bias) <= found.mean + 1e-12
