"""Latency and bandwidth between pairs of processes.

Latency is half of a round trip of a small message; bandwidth is a window of large messages and a
short answer, as OSU's ``osu_latency`` and ``osu_bw`` measure them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Final, Protocol

from artery.meter.clock import Times, repeated

WINDOW: Final = 8
"""Large messages under way at once. Assumed: enough that their answers' latency hides."""

SLOW: Final = 0.5
"""Assumed: a pair, or all pairs of a rank, below this share of the median are pointed out."""


class Channel(Protocol):
    """How this process exchanges bytes with others; buffers are flat."""

    def room(self, size: int) -> Any:  # noqa: ANN401 - a buffer of any kind
        """Return a buffer of ``size`` bytes."""
        ...

    def send(self, buffers: Sequence[Any], peer: int) -> None:
        """Send all buffers, and return when they have left."""
        ...

    def receive(self, buffers: Sequence[Any], peer: int) -> None:
        """Return when all buffers have come."""
        ...


@dataclass(frozen=True, slots=True)
class Pair:
    """``latency`` one way, and times of a window from ``source`` to ``target`` and back."""

    source: int
    target: int
    latency: Times
    onward: float
    back: float


def rounds(ranks: int, *, together: bool) -> Iterator[list[tuple[int, int]]]:
    """Yield rounds of pairs, so that all pairs have met: one at a time, or disjoint ones together.

    Together there are n - 1 rounds (n if n is odd): the circle method of tournaments.
    """
    if not together:
        yield from ([(one, two)] for one in range(ranks) for two in range(one + 1, ranks))
        return
    places = [*range(ranks), *([-1] if ranks % 2 else [])]
    half = len(places) // 2
    for _ in range(len(places) - 1):
        pairs = zip(places[:half], reversed(places[half:]), strict=True)
        yield [(min(pair), max(pair)) for pair in pairs if min(pair) >= 0]
        places = [places[0], places[-1], *places[1:-1]]


def measured(
    channel: Channel, me: int, pair: tuple[int, int], *, size: int, warmup: int, repeats: int
) -> Pair | None:
    """Return what the first of ``pair`` measures with the other; ``None`` to the other.

    Bandwidths are the best of the repeats, ``size`` bytes a message.
    """
    first, second = pair
    peer = second if me == first else first
    small, large = channel.room(8), [channel.room(size) for _ in range(WINDOW)]

    def bounce() -> None:
        if me == first:
            channel.send([small], peer)
            channel.receive([small], peer)
        else:
            channel.receive([small], peer)
            channel.send([small], peer)

    def stream(sender: int) -> None:
        if me == sender:
            channel.send(large, peer)
            channel.receive([small], peer)
        else:
            channel.receive(large, peer)
            channel.send([small], peer)

    trips = repeated(bounce, warmup=warmup * 4, repeats=repeats * 4)
    onward = repeated(lambda: stream(first), warmup=warmup, repeats=repeats)
    back = repeated(lambda: stream(second), warmup=warmup, repeats=repeats)
    if me != first:
        return None
    latency = Times(tuple(trip / 2 for trip in trips.seconds))
    moved = WINDOW * size
    # What comes back is timed by its receiver, from its last answer on.
    return Pair(first, second, latency, moved / onward.least, moved / back.least)


def slow_ranks(bandwidth: Sequence[Sequence[float | None]]) -> tuple[int, ...]:
    """Return the ranks whose median bandwidth, both ways, is far below that of all pairs.

    ``bandwidth[s][t]`` is B/s from s to t, ``None`` where s is t.
    """
    ranks = range(len(bandwidth))
    all_pairs = [one for row in bandwidth for one in row if one is not None]
    if len(bandwidth) < 3 or not all_pairs:
        return ()
    typical = median(all_pairs)

    def own(rank: int) -> float:
        mine = [bandwidth[rank][other] for other in ranks]
        theirs = [bandwidth[other][rank] for other in ranks]
        return median(one for one in (*mine, *theirs) if one is not None)

    return tuple(rank for rank in ranks if own(rank) < SLOW * typical)


def slow_pairs(
    bandwidth: Sequence[Sequence[float | None]], besides: Sequence[int] = ()
) -> tuple[tuple[int, int], ...]:
    """Return the directed pairs far below the median, but for those of the ranks ``besides``."""
    all_pairs = [one for row in bandwidth for one in row if one is not None]
    if not all_pairs:
        return ()
    typical = median(all_pairs)
    return tuple(
        (source, target)
        for source, row in enumerate(bandwidth)
        for target, one in enumerate(row)
        if one is not None and one < SLOW * typical and not {source, target} & set(besides)
    )
