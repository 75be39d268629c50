"""The same work under several seeds: hashes, and what fails, drawn anew."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from artery.core.system import System
from artery.simulator.placed import Placed
from artery.simulator.scenario import Scenario
from artery.simulator.simulate import simulate


@dataclass(frozen=True, slots=True)
class Range:
    """Quantiles of the seconds over ``seeds`` seeds: of 5, 50 and 95 in a hundred."""

    seeds: int
    low: float
    median: float
    high: float

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Range:
        """Return the range of some seconds."""
        low, median, high = np.quantile(seconds, [0.05, 0.5, 0.95]).tolist()
        return cls(len(seconds), low, median, high)


def over_seeds(
    system: System, jobs: tuple[Placed, ...], scenario: Scenario, seeds: int
) -> Iterator[float]:
    """Yield the first job's seconds with the seeds after the scenario's own, ``seeds`` with it."""
    for seed in range(scenario.seed + 1, scenario.seed + seeds):
        yield simulate(system, jobs, replace(scenario, seed=seed)).jobs[0]
