"""What a simulated collective costs: ``python -m benchmarks.network CASE``.

From the system on: its network, paths, schedule and engine, with one link in a hundred down and
hashed paths. Each case runs in a process of its own, so that its memory is its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from functools import partial

import numpy as np

from artery.catalog import system
from artery.core.pricing import Collective
from artery.simulator.scenario import Scenario
from artery.simulator.shapes import shaped
from artery.simulator.simulate import simulate
from artery.simulator.simulation import Simulation
from benchmarks.reference import fastest, gather, peak_memory, print_case

SYSTEM = "rail-clos-h100"
FAILED = 0.01
"""Share of the cables between switches that are down."""
SIZE = 2**30


@dataclass(frozen=True, slots=True)
class Case:
    """An algorithm over so many chips."""

    collective: Collective
    algorithm: str
    chips: int

    def play(self) -> Simulation:
        """Play it, from the system's name on."""
        built = system(f"{SYSTEM}:{self.chips}")
        chips = np.arange(self.chips)
        jobs = shaped(built, self.collective, self.algorithm, SIZE, chips)
        return simulate(built, jobs, Scenario(failed=FAILED))


CASES = {
    "ring": Case("all_reduce", "ring", 131_072),
    "tree": Case("all_reduce", "tree", 131_072),
    "nvls_tree": Case("all_reduce", "nvls_tree", 16_384),
    "all_to_all": Case("alltoall", "grouped", 1024),
    "halving": Case("all_reduce", "halving_doubling", 131_072),
}


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU seconds (best of five), bytes of memory, ns per entry of the gather, what came out."""

    name: str
    seconds: float
    memory: float
    gather: float
    detail: str

    @property
    def gathers(self) -> float:
        """Entries of the gather that take as long."""
        return self.seconds / self.gather * 1e9


def measure_one(case: Case) -> Cost:
    """Return what one case costs."""
    found = case.play()
    memory = peak_memory()
    seconds = fastest(case.play)
    detail = f"{found.chosen.count:,} messages, {found.chosen.engine}, {found.events:,} events, "
    detail += f"{found.seconds * 1e3:.3f} ms"
    name = f"{case.algorithm} of {case.chips:,}"
    return Cost(name, seconds, memory, gather(), detail)


def measure() -> list[Cost]:
    """Return every case, each from a fresh process. Raises ``CalledProcessError`` if one fails."""
    command = [sys.executable, "-m", "benchmarks.network"]
    runs = [subprocess.run([*command, name], check=True, capture_output=True) for name in CASES]
    return [Cost(**json.loads(run.stdout)) for run in runs]


if __name__ == "__main__":
    cases = {name: partial(measure_one, case) for name, case in CASES.items()}
    print_case("".join(sys.argv[1:]), cases)
