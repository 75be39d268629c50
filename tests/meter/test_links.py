"""Pairs and their rounds, what a channel shows, and who is slow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from artery.meter.links import WINDOW, measured, rounds, slow_pairs, slow_ranks
from artery.runner.executor.transport import Parcel
from tests.runner.threads import ThreadTransport, together


class Channel:
    """Bytes over the transport between threads."""

    def __init__(self, transport: ThreadTransport) -> None:
        self.transport = transport
        self.sent = 0

    def room(self, size: int) -> Any:
        return np.zeros(size, np.uint8)

    def send(self, buffers: Sequence[Any], peer: int) -> None:
        self.sent += sum(len(one) for one in buffers)
        self.transport.post([Parcel(one, peer) for one in buffers], [])

    def receive(self, buffers: Sequence[Any], peer: int) -> None:
        for work in self.transport.post([], [Parcel(one, peer) for one in buffers])[1]:
            work.wait()


@pytest.mark.parametrize("ranks", range(2, 12))
@pytest.mark.parametrize("at_once", [False, True])
def test_all_pairs_meet_once_and_pairs_of_a_round_are_disjoint(ranks: int, at_once: bool) -> None:
    listed = list(rounds(ranks, together=at_once))
    pairs = [pair for each in listed for pair in each]
    assert sorted(pairs) == [(a, b) for a in range(ranks) for b in range(a + 1, ranks)]
    for each in listed:
        assert len({rank for pair in each for rank in pair}) == 2 * len(each)
    assert len(listed) == (ranks - 1 + ranks % 2 if at_once else len(pairs))


def test_the_first_of_a_pair_measures_and_both_send_the_windows() -> None:
    size, warmup, repeats = 1000, 1, 3

    def part(transport: ThreadTransport) -> Any:
        channel = Channel(transport)
        pair = measured(
            channel, transport.process, (0, 1), size=size, warmup=warmup, repeats=repeats
        )
        return pair, channel.sent

    (first, sent), (second, sent_back) = together(2, part)
    assert second is None
    assert (first.source, first.target) == (0, 1)
    assert len(first.latency.seconds) == 4 * repeats
    assert first.onward > 0
    assert first.back > 0
    windows = (warmup + repeats) * (WINDOW * size + 8)
    assert sent == sent_back == windows + 4 * (warmup + repeats) * 8


def matrix(ranks: int, slow: dict[tuple[int, int], float]) -> list[list[float | None]]:
    return [
        [None if s == t else slow.get((s, t), 10.0) for t in range(ranks)] for s in range(ranks)
    ]


def test_a_rank_that_is_slow_with_everybody_is_the_rank_not_its_pairs() -> None:
    slow = {(s, t): 1.0 for s in range(5) for t in range(5) if 3 in {s, t}}
    table = matrix(5, slow)
    assert slow_ranks(table) == (3,)
    assert slow_pairs(table, (3,)) == ()


def test_one_slow_direction_is_a_pair() -> None:
    table = matrix(5, {(1, 4): 4.9, (2, 0): 5.1})
    assert slow_ranks(table) == ()
    assert slow_pairs(table) == ((1, 4),)


def test_two_ranks_have_nobody_to_be_compared_with() -> None:
    assert slow_ranks(matrix(2, {(0, 1): 1.0})) == ()
    assert slow_ranks([]) == ()
    assert slow_pairs([[None]]) == ()
