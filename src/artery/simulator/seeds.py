"""The same work under several seeds: hashes, and what fails, drawn anew."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from artery.core.system import System
from artery.simulator.network.routes import Ends, by_queue
from artery.simulator.placed import Placed
from artery.simulator.scenario import Scenario
from artery.simulator.simulate import simulate
from artery.simulator.simulation import Simulation

FEW: Final = 20
"""Seeds below which 5 in a hundred are less than one of them."""

AT_ONCE: Final = 1 << 14
"""Pairs of which paths are compared at once: where hashes differ at all, the first few show it."""


@dataclass(frozen=True, slots=True)
class Range:
    """The seconds over ``seeds`` seeds: 5, 50 and 95 in a hundred, or least, middle and greatest.

    Least to greatest (``whole``) are those of fewer than ``FEW`` seeds, and where the first one,
    which is told, is not within the 5 to 95 in a hundred.
    """

    seeds: int
    low: float
    median: float
    high: float
    whole: bool = False

    @classmethod
    def of(cls, seconds: Sequence[float], *, whole: bool = False) -> Range:
        """Return the range of some seconds, of which the first are told; ``whole`` if need be."""
        low, median, high = np.quantile(seconds, [0.05, 0.5, 0.95]).tolist()
        if not whole and len(seconds) >= FEW and low <= seconds[0] <= high:
            return cls(len(seconds), low, median, high)
        return cls(len(seconds), min(seconds), median, max(seconds), whole=True)


def drawn(system: System, run: Simulation, scenario: Scenario, seeds: int) -> bool:
    """Whether as many seeds draw anything else than the ``run``'s: paths, failures, a sample.

    Where all hash the same paths there is nothing that differs, and one run is all of them.
    """
    by_lot = isinstance(scenario.failed, float) and scenario.failed > 0
    if by_lot or scenario.failed_switches or run.chosen.engine == "sampled":
        return True

    others = range(scenario.seed + 1, scenario.seed + seeds)

    def links(some: Ends, seed: int) -> NDArray[np.int32]:
        other = replace(scenario, seed=seed)
        return by_queue(system, run.network, some, other, scenario.queue_pairs).link

    for some in _some(run.pairs):
        own = links(some, scenario.seed)
        if any(not np.array_equal(links(some, seed), own) for seed in others):
            return True
    return False


def _some(pairs: Ends) -> Iterator[Ends]:
    """Yield the pairs, ``AT_ONCE`` at a time."""
    for first in range(0, len(pairs.source), AT_ONCE):
        part = slice(first, first + AT_ONCE)
        cut = None if pairs.cut is None else pairs.cut[part]
        yield Ends(pairs.source[part], pairs.target[part], cut)


def over_seeds(
    system: System, jobs: tuple[Placed, ...], scenario: Scenario, seeds: int
) -> Iterator[float]:
    """Yield the first job's seconds with the seeds after the scenario's own, ``seeds`` with it."""
    for seed in range(scenario.seed + 1, scenario.seed + seeds):
        yield simulate(system, jobs, replace(scenario, seed=seed)).jobs[0]
