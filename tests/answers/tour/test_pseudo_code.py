from __future__ import annotations

import pytest

from artery.answers.tour.pseudo_code import average, pseudo_code
from artery.collective.schedules import schedule
from artery.collective.verify import verify


def literally(gradients: list[float]) -> list[float]:
    """The article's code; what is received is the sender's gradient, sending changes nothing."""
    chips = len(gradients)
    for i in range(chips - 1):
        gradients[i] += gradients[i - 1]
    total = sum(gradients)
    return [total / chips for _ in range(chips)]


def test_four_gradients_of_one_average_two_and_a_half() -> None:
    assert literally([1.0] * 4) == [2.5] * 4
    assert average(pseudo_code(4)) == 2.5


@pytest.mark.parametrize("chips", range(2, 9))
def test_the_schedule_does_what_the_code_does(chips: int) -> None:
    assert average(pseudo_code(chips)) == literally([1.0] * chips)[0]


@pytest.mark.parametrize("chips", range(2, 9))
def test_the_verifier_says_that_it_is_wrong(chips: int) -> None:
    assert {fault.kind for fault in verify(pseudo_code(chips)).faults} == {"result"}


def test_a_ring_averages_one() -> None:
    assert average(schedule("ring", "all_reduce", 4)) == 1.0
