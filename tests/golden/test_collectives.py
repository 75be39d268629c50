"""Published collectives that the model must reproduce; sources stand in the rows themselves."""

from __future__ import annotations

import pytest

from accuracy.collectives import (
    RANGE,
    SWEEP_MEDIAN,
    SWEEPS,
    Quoted,
    Timed,
    maintainers,
    score,
    sweep_medians,
)
from artery.answers.expect import expect


@pytest.fixture(scope="module")
def scored() -> list[Timed]:
    return score()


@pytest.fixture(scope="module")
def quoted() -> list[Quoted]:
    return maintainers()


def test_one_node_sweeps_are_within_ten_percent(scored: list[Timed]) -> None:
    medians = sweep_medians(scored)
    assert set(medians) == set(SWEEPS)
    assert {table: found for table, found in medians.items() if found > SWEEP_MEDIAN} == {}


def test_what_maintainers_repeat(quoted: list[Quoted]) -> None:
    counted = [row for row in quoted if row.counted]
    assert len(counted) >= 20
    missed = {row.id: f"{row.predicted / 1e9:.1f} GB/s" for row in counted if not row.held}
    assert missed == {}, f"more than {RANGE:.0%} outside the printed range"


def test_whatever_is_not_counted_says_why(quoted: list[Quoted]) -> None:
    assert all(row.reason for row in quoted if not row.counted)


def test_rows_that_gave_a_constant_are_few_and_marked(scored: list[Timed]) -> None:
    for table in SWEEPS:
        assert not any(row.fitted for row in scored if row.table == table)


def test_intervals_of_one_node_hold_most_rows(scored: list[Timed]) -> None:
    rows = [row for row in scored if row.table in SWEEPS]
    assert 0.7 <= sum(row.covered for row in rows) / len(rows) <= 0.9


def test_small_messages_cost_microseconds_not_the_adapter_latency() -> None:
    # DGX H100, 8 bytes: 13.7 us in one node (NVIDIA/dgxc-benchmarking, nccl/README.md).
    row = expect("all_reduce", "dgx-h100:8", sizes=[8]).rows[0]
    assert row.speed.seconds == pytest.approx(13.67e-6, rel=0.25)


def test_size_matters_more_than_the_number_of_chips() -> None:
    # 64 MiB: 0.56 ms at 32 H100, 1.09 ms at 1,024: 1.9 times for 32 times the chips
    # (NVIDIA GTC 2024 S62129, slide 35, digitised).
    few, many = (
        expect("all_reduce", f"dgx-h100:{chips}", sizes=[2**26], algorithm="nvls_tree")
        .rows[0]
        .speed.seconds
        for chips in (32, 1024)
    )
    assert many / few == pytest.approx(1.0875 / 0.5648, rel=0.15)
