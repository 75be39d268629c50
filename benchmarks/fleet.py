"""What a simulated fleet costs: ``python -m benchmarks.fleet [PHILLY.csv]``.

100,000 jobs on 12,500 nodes of 8 chips, load 0.85, 110 days, 85 % of the chip-time in jobs of 1,024
chips or more, 6.5 failures per 1,000 node-days, seed 1. CPU seconds of playing alone, pricing of
every placement by the step and network model included; a digest tells whether two runs agree. With
a trace of Philly a saturated window of it is played too.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from time import process_time
from typing import Any, Final

from accuracy.fleet import windows
from artery.answers.schedule import schedule
from artery.formats.recognise import read

TRACE: Final = "synthetic:llm,jobs=100000,days=110,load=0.85,large=0.85"
SYSTEM: Final = "dgx-h100:100000"
EVERYTHING: Final = {
    "node_failures_per_1000_days": 6.5, "spares": 100, "max_wait": 1800.0, "defragment": True,
}  # fmt: skip
PHILLY_WINDOW: Final = 8
"""The ninth of ten windows: its jobs ask for half as much again as the cluster has."""


@dataclass(frozen=True, slots=True)
class Case:
    """A trace on a system under one policy, with its options."""

    name: str
    trace: str
    on: str
    options: dict[str, Any]

    def play(self) -> Cost:
        """Return what it costs, made-up jobs and pricing included."""
        start = process_time()
        answer = schedule(self.trace, self.on, seed=1, **self.options)
        seconds = process_time() - start
        found = answer.played[0].outcome
        detail = (
            f"{found.jobs:,} jobs, mean queue {found.mean_queue / 3600:.2f} h, mean JCT "
            f"{found.mean_jct / 3600:.2f} h, {found.restarts:,} restarts, {found.resizes:,} resizes"
        )
        return Cost(self.name, seconds, detail, found.digest)


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU seconds, what came out, and its digest."""

    name: str
    seconds: float
    detail: str
    digest: str


CASES: Final = (
    Case("FIFO", TRACE, SYSTEM, {"policies": ("fifo",)}),
    Case("backfill", TRACE, SYSTEM, {"policies": ("backfill",)}),
    Case(
        "gang, backfill, elasticity, topology, failures",
        TRACE,
        SYSTEM,
        {"policies": ("elastic-backfill",), **EVERYTHING},
    ),
    Case(
        "backfill, topology, failures",
        TRACE,
        SYSTEM,
        {"policies": ("backfill",), **EVERYTHING},
    ),
)


def philly(path: str) -> Iterator[Case]:
    """Yield a saturated window of Philly under each policy."""
    window = list(windows(read(path).jobs, 1.5))[PHILLY_WINDOW]
    for policy in ("fifo", "backfill", "elastic-backfill"):
        options: dict[str, Any] = {"policies": (policy,), "window": (window.begin, window.end)}
        yield Case(f"Philly saturated, {policy}", path, f"dgx-1v:{window.nodes * 8}", options)


def measure(path: str | None = None) -> Iterator[Cost]:
    """Yield every case, the better of two runs, which must agree."""
    cases = [*CASES, *(philly(path) if path else ())]
    for case in cases:
        first, second = case.play(), case.play()
        if first.digest != second.digest:
            raise RuntimeError(f"{case.name}: two runs differ")
        yield replace(first, seconds=min(first.seconds, second.seconds))


def main(path: str | None = None) -> None:
    """Measure and print."""
    for cost in measure(path):
        print(f"  {cost.name}: {cost.seconds:.2f} s")
        print(f"    {cost.detail}")
        print(f"    digest {cost.digest}")


if __name__ == "__main__":
    main(*sys.argv[1:])
