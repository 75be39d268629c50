"""The choices of scheduling policies, by hand."""

from __future__ import annotations

import pytest

from artery.cloud.policies import (
    Reservation,
    jain,
    largest_fitting,
    may_pass,
    next_above,
    next_below,
    reservation,
    victims,
    worth_it,
)


def test_a_reservation_counts_all_that_ends_at_that_moment() -> None:
    """Three free, 6 needed: 2 end at 10, 2 at 20 and 3 more at 20."""
    assert reservation(6, 3, [(10, 2), (20, 2), (20, 3), (30, 9)]) == Reservation(20, 4)
    assert reservation(6, 3, [(10, 2)]) is None


def test_who_may_pass() -> None:
    head = Reservation(100, 2)
    assert may_pass(100, 50, head)
    assert may_pass(101, 2, head)
    assert not may_pass(101, 3, head)


def test_sizes() -> None:
    sizes = (8, 16, 32)
    assert [largest_fitting(sizes, most, room) for most, room in ((32, 40), (16, 40), (32, 7))] == [
        32, 16, 0,
    ]  # fmt: skip
    assert [next_below(sizes, n) for n in (32, 16, 8)] == [16, 8, 0]
    assert [next_above(sizes, n) for n in (8, 16, 32)] == [16, 32, 0]


def test_a_move_must_save_twice_its_cost() -> None:
    """1000 s at speed 1 take 500 at speed 2: worth a pause of up to 250 s."""
    assert worth_it(1000, 1.0, 2.0, 249)
    assert not worth_it(1000, 1.0, 2.0, 250)


def test_the_lowest_priority_that_started_last_is_stopped_first() -> None:
    running = [(1, 50, 0, 4), (0, 10, 1, 2), (0, 90, 2, 2), (0, 90, 3, 8)]
    assert victims(3, running) == [2, 3]
    assert victims(10, running) == [2, 3]
    assert victims(17, running) == []


def test_jain() -> None:
    assert jain([2, 2, 2]) == 1
    assert jain([1, 0, 0, 0]) == pytest.approx(0.25)
    assert jain([]) == 1
