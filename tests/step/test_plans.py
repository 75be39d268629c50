"""Plans as arrays: nothing is lost on the way there and back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from artery.core.plan import Plan
from artery.step.plans import Plans, distinct

SOME = (
    Plan(tp=2, pp=4, vpp=2, dp=3, zero=1, micro_batch=5, global_batch=120, sequence=64),
    Plan(cp=2, dp=2, dp_replicate=2, zero=3, recompute="full", sequence_parallel=True),
    Plan(ep=8, etp=2, dp=16, recompute="selective"),
)


def test_a_plan_comes_back_as_it_went_in() -> None:
    table = Plans.of(SOME)
    assert tuple(table.row(i) for i in range(len(table))) == SOME
    assert table.chips.tolist() == [plan.chips for plan in SOME]
    assert table.micro_batches.tolist() == [plan.micro_batches for plan in SOME]


def test_taking_keeps_the_order_asked_for() -> None:
    table = Plans.of(SOME).take(np.array([2, 0]))
    assert (table.row(0), table.row(1)) == (SOME[2], SOME[0])


def test_plans_that_share_no_dtype_do_not_go_into_one_array() -> None:
    with pytest.raises(ValueError, match="agree in dtype"):
        Plans.of([Plan(dtype="bf16"), Plan(dtype="fp8")])
    with pytest.raises(ValueError, match="no plans"):
        Plans.of([])


@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(
            st.tuples(*[st.sampled_from([-(2**40), 0, 1, 3, 2**40]) for _ in range(width)]),
            min_size=1,
            max_size=20,
        )
    )
)
def test_distinct_rows_give_every_row_back(rows: list[tuple[int, ...]]) -> None:
    columns = np.array(rows, dtype=np.int64).T
    first, inverse = distinct(*columns)
    assert len(first) == len(set(rows))
    np.testing.assert_array_equal(columns[:, first][:, inverse], columns)


def test_distinct_rows_of_more_columns_than_a_word_holds() -> None:
    rng = np.random.default_rng(1)
    columns = [rng.integers(0, 2**30, 50) for _ in range(6)]
    columns = [np.concatenate([column, column]) for column in columns]
    first, inverse = distinct(*columns)
    assert len(first) == 50
    assert inverse[:50].tolist() == inverse[50:].tolist()
