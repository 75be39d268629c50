"""artery's own ring beside the library's all-reduce, in turn: ``python -m benchmarks.ring``.

Both meet every load of the machine in turn, so that the ratio says more than either time.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Final

from artery.answers.bench.job import LIBRARY, Case, Job
from artery.answers.bench.run import reported
from artery.errors import RunError

RANKS: Final = 2
LARGE: Final = 4 * 2**20
"""Floats of 16 MiB."""

TURNS: Final = 10


@dataclass(frozen=True, slots=True)
class Race:
    """Median seconds of an all-reduce between two processes of this machine, by either."""

    library: str
    ring: float
    own: float

    @property
    def ratio(self) -> float:
        """The ring's time over the library's own."""
        return self.ring / self.own


def measure() -> Race:
    """Return both, run in turn by the same processes."""
    names = [name for _ in range(TURNS) for name in (LIBRARY, "ring")]
    cases = tuple(Case("all_reduce", name, RANKS, LARGE, "float", {}, 1, 6) for name in names)
    report = reported(Job("gloo", 300.0, cases), RANKS, None)
    if report is None:
        raise RunError("a launcher has started this process: run it by itself")
    seconds: dict[str, list[float]] = {LIBRARY: [], "ring": []}
    for name, done in zip(names, report.done, strict=True):
        seconds[name] += done.seconds
    return Race(report.library, median(seconds["ring"]), median(seconds[LIBRARY]))


def main() -> None:
    """Measure and print."""
    found = measure()
    print(f"  {found.ring * 1e3:.1f} ms, {found.library} {found.own * 1e3:.1f} ms")
    print(f"    {found.ratio:.2f} times as long")


if __name__ == "__main__":
    main()
