"""How fast a whole step is simulated, all its groups at once; ``python -m benchmarks.steps``."""

from __future__ import annotations

from dataclasses import dataclass
from time import process_time
from typing import Any, Final

from artery.answers.plan import plan
from artery.native import core
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


if __name__ == "__main__":
    main()
