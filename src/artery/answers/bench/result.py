"""What ``bench`` answers: results of a chip, of collectives, of links, and where they are from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from artery.core.pricing import Collective
from artery.meter.clock import Times

Surroundings = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Predicted:
    """What the closed form says of a row: seconds with their 80 % interval."""

    seconds: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class CollectiveRow:
    """One collective of one size in bytes, run by ``algorithm`` (``library``: its own).

    ``count`` is in elements as nccl-tests counts them, ``wrong`` the elements that were not the
    exact sum (``None``: not checked), ``factor`` busbw over algbw and ``shape`` what says more
    about the algorithm. ``times`` are those of the slowest rank.
    """

    collective: Collective
    algorithm: str
    ranks: int
    size: int
    count: int
    dtype: str
    times: Times
    wrong: int | None
    factor: float
    shape: Mapping[str, Any]
    predicted: Predicted | None

    @property
    def algbw(self) -> float:
        """Size over the median time, B/s."""
        return self.size / self.times.median if self.times.median else 0.0

    @property
    def busbw(self) -> float:
        """What compares with the rate of a link, B/s (nccl-tests, PERFORMANCE.md)."""
        return self.algbw * self.factor


@dataclass(frozen=True, slots=True)
class Party:
    """Who measured together: ``backend``, what its ``library`` calls itself, every process.

    ``warmup`` and ``repeats`` are those asked for.
    """

    backend: str
    library: str
    ranks: int
    hosts: tuple[str, ...]
    processes: tuple[Surroundings, ...]
    warmup: int
    repeats: int


@dataclass(frozen=True, slots=True)
class CollectivesAnswer:
    """Rows of collectives. ``paced`` names the system whose links the sends followed, if any did.

    ``on`` is the system that the predictions are of; ``left_out`` says which algorithms were not
    run, and why.
    """

    party: Party
    rows: tuple[CollectiveRow, ...]
    compared: bool
    on: str | None
    paced: str | None
    left_out: tuple[str, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PairRow:
    """Two ranks: latency one way (s; least and median), bandwidth each way (B/s, the best)."""

    source: int
    target: int
    latency: float
    median_latency: float
    onward: float
    back: float


@dataclass(frozen=True, slots=True)
class LinksAnswer:
    """All pairs; ``slow_ranks`` and ``slow_pairs`` are far below the median bandwidth."""

    party: Party
    size: int
    tool: str
    pairs: tuple[PairRow, ...]
    slow_ranks: tuple[int, ...]
    slow_pairs: tuple[tuple[int, int], ...]
    warnings: tuple[str, ...]

    def bandwidth(self) -> list[list[float | None]]:
        """Return B/s from each rank (row) to each other."""
        ranks = self.party.ranks
        table: list[list[float | None]] = [[None] * ranks for _ in range(ranks)]
        for pair in self.pairs:
            table[pair.source][pair.target] = pair.onward
            table[pair.target][pair.source] = pair.back
        return table

    def latency(self) -> list[list[float | None]]:
        """Return the least seconds one way between each two ranks."""
        ranks = self.party.ranks
        table: list[list[float | None]] = [[None] * ranks for _ in range(ranks)]
        for pair in self.pairs:
            table[pair.source][pair.target] = table[pair.target][pair.source] = pair.latency
        return table


@dataclass(frozen=True, slots=True)
class ChipRow:
    """One thing measured of a chip: a ``product``, a pass over ``memory``, or a ``dispatch``.

    ``value`` is what the least time gives, ``median`` what the median does, both in ``unit``
    (FLOP/s, B/s or s). ``times`` is ``None`` where the chip cannot, and ``why`` says so.
    """

    kind: str
    name: str
    unit: str
    work: float
    times: Times | None
    inputs: Mapping[str, Any]
    why: str = ""

    @property
    def value(self) -> float | None:
        """The best."""
        return None if self.times is None else self._of(self.times.least)

    @property
    def median(self) -> float | None:
        """The middle."""
        return None if self.times is None else self._of(self.times.median)

    def _of(self, seconds: float) -> float:
        if self.unit == "s":
            return seconds
        return self.work / seconds if seconds else 0.0


@dataclass(frozen=True, slots=True)
class ChipAnswer:
    """What one chip reaches, with ``threads`` of the host where it is a CPU."""

    device: str
    name: str
    threads: int
    surroundings: Surroundings
    rows: tuple[ChipRow, ...]
    warnings: tuple[str, ...]
