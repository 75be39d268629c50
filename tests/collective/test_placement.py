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


Counts = tuple[float, float, float, float, float]


def counted(order: np.ndarray, ranks: int, stride: int, domain: int, every: bool) -> Counts:
    """Enumerate the groups.

    Return fullest, fewest among the split groups, domains; groups that leave a domain, and what
    their all-to-alls send out of it, the last domain's links counted as half of a full one's or as
    its share of the chips where that is more.
    """
    span = ranks * stride
    fullest, fewest, domains = 0, ranks, 0
    crossing: dict[int, float] = {}
    leaving: dict[int, float] = {}
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
                for home, many in seats.items():
                    links = last_of(len(order), domain) if home == (len(order) - 1) // domain else 1
                    crossing[home] = crossing.get(home, 0) + 1 / links
                    sent = many * (ranks - many) / ranks / links
                    leaving[home] = leaving.get(home, 0) + sent
    return (
        float(fullest), float(fewest), float(domains), max(crossing.values(), default=0.0),
        max(leaving.values(), default=0.0),
    )  # fmt: skip


def last_of(chips: int, domain: int) -> float:
    return max(0.5, (chips - (chips - 1) // domain * domain) / domain)


def asked(placement: Placement, case: tuple[int, int, int, int], every: bool) -> Counts:
    ranks, stride, domain, chips = case
    last = last_of(chips, domain)
    spread = placement(np.array([ranks]), np.array([stride]), domain, every, last)
    return (
        float(spread.fullest[0]), float(spread.fewest[0]), float(spread.domains[0]),
        float(spread.crossing[0]), float(spread.leaving[0]),
    )  # fmt: skip


@given(CASES, st.booleans())
def test_packed_counts_what_enumeration_counts(
    case: tuple[int, int, int, int], every: bool
) -> None:
    ranks, stride, domain, chips = case
    truth = counted(np.arange(chips), ranks, stride, domain, every)
    assert asked(packed(chips), case, every) == pytest.approx(truth)


@given(CASES, st.booleans(), st.randoms(use_true_random=False))
def test_a_list_counts_what_enumeration_counts(
    case: tuple[int, int, int, int], every: bool, draw: object
) -> None:
    ranks, stride, domain, chips = case
    order = np.arange(chips)
    draw.shuffle(order)  # type: ignore[attr-defined]
    truth = counted(order, ranks, stride, domain, every)
    assert asked(listed(order), case, every) == pytest.approx(truth)


@given(st.integers(2, 20), st.integers(1, 40), st.integers(1, 24), st.data())
def test_groups_of_a_block_that_is_not_full_are_those_that_there_are(
    ranks: int, stride: int, domain: int, data: st.DataObject
) -> None:
    chips = data.draw(st.integers((ranks - 1) * stride + 1, ranks * stride))
    there = chips - (ranks - 1) * stride
    homes = [{(g + j * stride) // domain for j in range(ranks)} for g in range(there)]
    most = max(sum(len(h) > 1 and d in h for h in homes) for d in range(chips))
    for placement in (packed(chips), listed(np.arange(chips))):
        spread = placement(np.array([ranks]), np.array([stride]), domain, True, 1.0)
        assert spread.crossing[0] == most


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
    assert asked(packed(chips), (ranks, stride, 8, chips), True)[:3] == expected


def test_interleaved_deals_ranks_round_robin() -> None:
    place = interleaved(32, 8)
    assert asked(place, (4, 1, 8, 32), True) == (1, 1, 4, 8, 6)
    assert asked(place, (8, 4, 8, 32), True) == (8, 8, 1, 0, 0)


def test_random_expects_members_to_be_spread_thin() -> None:
    fullest, fewest, domains, crossing, leaving = asked(random(1024), (8, 1, 8, 1024), True)
    assert fullest == fewest
    assert 7.7 < domains < 8.0
    assert 7.7 < crossing < 8.0
    assert 6.9 < leaving < 7.1
    assert asked(random(1024), (1024, 1, 8, 1024), True)[:3] == (8, 8, 128)


def test_one_hundred_thousand_chips_at_once() -> None:
    ranks = np.array([2, 3, 7, 1001, 99_999, 100_000])
    spread = packed(100_000)(ranks, np.ones_like(ranks), 8, True, 1.0)
    assert spread.domains.tolist() == [1, 2, 2, 126, 12_500, 12_500]
