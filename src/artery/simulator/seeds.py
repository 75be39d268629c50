"""The same work under several seeds: hashes, and what fails, drawn anew."""

from __future__ import annotations

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


def over_seeds(
    system: System, jobs: tuple[Placed, ...], scenario: Scenario, seeds: int, first: float
) -> Range:
    """Return the range of the first job's seconds over ``seeds`` seeds.

    ``first`` is what came out with the scenario's own seed; the others follow it.
    """
    others = range(scenario.seed + 1, scenario.seed + seeds)
    more = [simulate(system, jobs, replace(scenario, seed=seed)).jobs[0] for seed in others]
    low, median, high = np.quantile([first, *more], [0.05, 0.5, 0.95]).tolist()
    return Range(seeds, low, median, high)
