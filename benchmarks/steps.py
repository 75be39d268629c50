"""How fast a whole step is simulated, all its groups at once; ``python -m benchmarks.steps``."""

from __future__ import annotations

from dataclasses import dataclass
from time import process_time
from typing import Any, Final

import numpy as np

from artery.answers.plan import plan
from artery.catalog import system
from artery.native import core
from artery.simulator.groups import Shared, groups, laid
from artery.simulator.scenario import Scenario
from artery.simulator.simulate import simulate
from benchmarks.reference import gather

CASES: Final[tuple[tuple[str, str, dict[str, Any]], ...]] = (
    ("llama3-405b", "dgx-h100:2048", {"top": 5}),
    (
        "llama3-405b",
        "hgx-h100-roce:16384",
        {"tp": 8, "pp": 16, "cp": 1, "dp": 128, "zero": 1, "vpp": 8, "micro_batch": 1},
    ),
    ("deepseek-v3", "dgx-h100:2048", {}),
)
"""Model, system, and what of the plan is given."""


@dataclass(frozen=True, slots=True)
class Step:
    """One case: CPU seconds of the whole answer, of the closed form's, and what was played."""

    name: str
    seconds: float
    closed: float
    groups: int
    collectives: int
    gather: float

    @property
    def gathers(self) -> float:
        """How many entries a random gather fetches in that time."""
        return self.seconds / (self.gather * 1e-9)


def measure() -> list[Step]:
    """Return every case, run once: nothing of it is kept between runs."""
    found = []
    for model, on, given in CASES:
        closed, _ = _timed(model, on, network="closed", **given)
        seconds, answer = _timed(model, on, network="simulate", **given)
        played = [each for result in answer.plans if result.network is not None
                  for each in result.network.exchanges]  # fmt: skip
        found.append(
            Step(
                name=f"{model} on {on}, {len(answer.plans)} plans",
                seconds=seconds,
                closed=closed,
                groups=sum(each.groups for each in played),
                collectives=len(played),
                gather=gather(),
            )
        )
    return found


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Two jobs on one network: seconds of a gradient all-reduce, alone and beside the other."""

    name: str
    alone: float
    together: float


def neighbours() -> list[Neighbours]:
    """Play two jobs of 256 chips on two leaves: a leaf each, and dealt over both node by node.

    Each has 8 data-parallel rings of 32 (tp 8), 1 GiB, paths hashed over 16 queue pairs.
    """
    on = system("dgx-h100:512")
    node = np.arange(on.chips).reshape(2, 32, 8)
    orders = {
        "a leaf each": [node[0].ravel(), node[1].ravel()],
        "dealt over both leaves": [
            node[:, first::2].transpose(1, 0, 2).ravel() for first in (0, 1)
        ],
    }
    shared = Shared("all_reduce", "ring", 2**30)
    scenario = Scenario(engine="coupled", routing="ecmp", queue_pairs=16)
    found = []
    for name, (one, other) in orders.items():
        first = laid(on, shared, groups(one, 32, 8))
        second = laid(on, shared, groups(other, 32, 8), first=8)
        alone = simulate(on, first, scenario).seconds
        found.append(Neighbours(name, alone, simulate(on, (*first, *second), scenario).seconds))
    return found


def _timed(model: str, on: str, **options: Any) -> tuple[float, Any]:  # noqa: ANN401 (those of plan)
    start = process_time()
    answer = plan(model, on, explained=False, **options)
    return process_time() - start, answer


def main() -> None:
    """Measure and print."""
    print(f"Steps with all groups at once, CPU seconds ({core().detail})")
    for step in measure():
        print(f"  {step.name}: {step.seconds:.2f} s, in closed form {step.closed:.2f} s")
        print(f"    {step.collectives} collectives of {step.groups:,} groups in all")
        print(f"    as long as {step.gathers / 1e6:,.0f} million entries of a random gather")
    print("Two jobs of 256 chips on two leaves, a gradient all-reduce")
    for case in neighbours():
        print(f"  {case.name}: {case.alone * 1e3:.1f} ms alone, {case.together * 1e3:.1f} together")


if __name__ == "__main__":
    main()
