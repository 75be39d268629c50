"""Placement, counted in closed form, against counting every group chip by chip."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from artery.collective.placement import Placement, interleaved, listed, packed, random

CASES = st.tuples(
    st.integers(1, 40), st.integers(1, 20), st.integers(1, 24), st.integers(1, 200)
).filter(lambda case: case[0] * case[1] <= case[3])


def counted(
    order: np.ndarray, ranks: int, stride: int, domain: int, every: bool
) -> tuple[float, float, float]:
    """Enumerate the groups; return fullest, fewest among the split groups, and domains."""
    span = ranks * stride
    fullest, fewest, domains = 0, ranks, 0
    for block in range(max(len(order) // span, 1) if every else 1):
        for first in range(stride if every else 1):
            members = [block * span + first + j * stride for j in range(ranks)]
            seats: dict[int, int] = {}
            for rank in members:
                seats[int(order[rank]) // domain] = seats.get(int(order[rank]) // domain, 0) + 1
            fullest = max(fullest, *seats.values())
            domains = max(domains, len(seats))
            if len(seats) > 1:
                fewest = min(fewest, *seats.values())
    return float(fullest), float(fewest), float(domains)


def asked(
    placement: Placement, ranks: int, stride: int, domain: int, every: bool
) -> tuple[float, float, float]:
    spread = placement(np.array([ranks]), np.array([stride]), domain, every)
    return float(spread.fullest[0]), float(spread.fewest[0]), float(spread.domains[0])


@given(CASES, st.booleans())
def test_packed_counts_what_enumeration_counts(
    case: tuple[int, int, int, int], every: bool
) -> None:
    ranks, stride, domain, chips = case
    truth = counted(np.arange(chips), ranks, stride, domain, every)
    found = asked(packed(chips), ranks, stride, domain, every)
    assert found[2] == truth[2]
    if domain % stride == 0 or stride >= domain:
        assert found == truth
    else:  # a stride that does not divide a domain: the bounds are on the careful side
        assert found[0] >= truth[0]
        assert found[1] <= truth[1]


@given(CASES, st.booleans(), st.randoms(use_true_random=False))
def test_a_list_counts_what_enumeration_counts(
    case: tuple[int, int, int, int], every: bool, draw: object
) -> None:
    ranks, stride, domain, chips = case
    order = np.arange(chips)
    draw.shuffle(order)  # type: ignore[attr-defined]
    assert asked(listed(order), ranks, stride, domain, every) == counted(
        order, ranks, stride, domain, every
    )


@given(CASES)
def test_the_identity_list_is_packed(case: tuple[int, int, int, int]) -> None:
    ranks, stride, domain, chips = case
    same = asked(listed(np.arange(chips)), ranks, stride, domain, True)
    close = asked(packed(chips), ranks, stride, domain, True)
    assert close[2] == same[2]
    assert close[0] >= same[0]
    assert close[1] <= same[1]


@pytest.mark.parametrize(
    ("ranks", "stride", "chips", "expected"),
    [
        (8, 1, 64, (8, 8, 1)),  # fills a node
        (16, 1, 64, (8, 8, 2)),  # two whole nodes
        (6, 1, 48, (6, 2, 2)),  # six over nodes of eight: 0-5 | 6,7+8-11: two and four
        (6, 1, 6, (6, 6, 1)),  # alone, it fits
        (4, 16, 64, (1, 1, 4)),  # a stride of two nodes: one per node
        (16, 4, 64, (2, 2, 8)),  # every fourth chip
        (9, 1, 9, (8, 1, 2)),  # one left over
    ],
)
def test_packed_on_nodes_of_eight(
    ranks: int, stride: int, chips: int, expected: tuple[int, int, int]
) -> None:
    assert asked(packed(chips), ranks, stride, 8, True) == expected


def test_interleaved_deals_ranks_round_robin() -> None:
    place = interleaved(32, 8)
    assert asked(place, 4, 1, 8, True) == (1, 1, 4)
    assert asked(place, 8, 4, 8, True) == (8, 8, 1)


def test_random_expects_members_to_be_spread_thin() -> None:
    fullest, fewest, domains = asked(random(1024), 8, 1, 8, True)
    assert fullest == fewest
    assert 7.7 < domains < 8.0
    assert asked(random(1024), 1024, 1, 8, True) == (8, 8, 128)


def test_one_hundred_thousand_chips_at_once() -> None:
    ranks = np.array([2, 3, 7, 1001, 99_999, 100_000])
    spread = packed(100_000)(ranks, np.ones_like(ranks), 8, True)
    assert spread.domains.tolist() == [1, 2, 2, 126, 12_500, 12_500]
