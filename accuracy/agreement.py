"""``python -m accuracy.agreement``: both prices of every collective, side by side.

``artery expect`` computes and ``artery simulate`` plays. Over all systems of the catalog, all
collectives and algorithms that both know, from part of a node to four nodes, this writes how far
apart they are, and why, to ``data/agreement.csv``, from which ``docs/network.md`` is made. Paths
are planned, and packets sprayed where a chip has several cards or ports: nobody is in the way.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, get_args

import numpy as np

from artery.answers.libraries import library_of
from artery.answers.simulate.apart import NEAR, Case, several
from artery.answers.simulate.played import Question, compared, play
from artery.answers.simulate.result import Why
from artery.catalog import names
from artery.catalog import system as system_of
from artery.collective.algorithms import ALGORITHMS
from artery.core.pricing import Collective
from artery.core.system import System
from artery.errors import InputError, UsageError
from artery.simulator.scenario import Scenario
from artery.simulator.shapes import algorithms

ROOT: Final = Path(__file__).parent.parent
RESULT: Final = Path(__file__).parent / "data" / "agreement.csv"
DRAWN: Final = ROOT / "tests" / "fixtures" / "systems"
UNEVEN: Final = str(DRAWN / "four-and-six.toml")
BY_HAND: Final = str(DRAWN / "dgx-1v.toml")

MIB: Final = 2**20
SIZES: Final = (MIB, 32 * MIB, 1024 * MIB)

BOUNDS: Final[dict[Why, tuple[float, float]]] = {
    "hidden": (0.8, 1.0),
    "meeting": (1.0, 1.3),
    "partners": (0.8, 1.3),
    "pieces": (0.85, 1.5),
    "rows": (0.9, 1.6),
    "sides": (1.0, 1.8),
    "sprayed": (1.0, 3.0),
    "turns": (1.0, 1.3),
}
"""Simulated over expected, least and most, by the reason why they differ."""


@dataclass(frozen=True, slots=True)
class Pair:
    """What both say of one collective, in seconds; ``why`` they differ, if they do."""

    system: str
    chips: int
    collective: Collective
    algorithm: str
    size: int
    simulated: float
    expected: float
    why: Why | None

    @property
    def ratio(self) -> float:
        """Simulated over expected."""
        return self.simulated / self.expected

    @property
    def case(self) -> str:
        """The question, in words."""
        size = f"{self.size // MIB}M" if self.size < 1024 * MIB else f"{self.size // MIB // 1024}G"
        return f"{self.collective} {self.algorithm} {size} {self.system}:{self.chips}"


@dataclass(frozen=True, slots=True)
class Row:
    """An algorithm: how many pairs there are, and of those apart for ``why`` the farthest two."""

    algorithm: str
    why: str
    pairs: int
    least: float
    most: float
    case: str


def counts(name: str) -> tuple[int, ...]:
    """Return the chips that are asked for: half a node, three quarters, one, two and four nodes."""
    if name == UNEVEN:
        return 4, 10
    if name == BY_HAND:
        return 4, 8
    if name.startswith("tpu"):
        return 8, 64
    per_node = system_of(name).chips_per_node
    if per_node == 1:
        return 2, 4, 8, 16
    part = {max(per_node // 2, 2), max(per_node * 3 // 4, 2)}
    return tuple(sorted(part | {per_node, 2 * per_node, 4 * per_node}))


def built(name: str) -> Iterator[System]:
    """Yield the system with each count of chips that it can have."""
    for chips in counts(name):
        try:
            yield system_of(f"{name}:{chips}")
        except InputError:
            continue


def pairs(systems: Iterable[str], sizes: tuple[int, ...] = SIZES) -> Iterator[Pair]:
    """Yield both prices on ``systems`` of every collective that both know."""
    for name in systems:
        for system in built(name):
            yield from _on(name, system, sizes)


def _on(name: str, system: System, sizes: tuple[int, ...]) -> Iterator[Pair]:
    library = library_of(system, None)
    scenario = Scenario(routing="spray" if several(system) else "static")
    chips = np.arange(system.chips)
    for collective in get_args(Collective):
        known = [one for one in algorithms(collective) if one in ALGORITHMS]
        for algorithm in (one for one in known if collective in ALGORITHMS[one].collectives):
            for size in sizes:
                question = Question(system, library, collective, size, chips, scenario)
                closed = compared(question, algorithm)
                if closed is None:
                    continue
                try:
                    played = play(question, algorithm)
                except (InputError, UsageError):
                    continue
                ratio = played.seconds / closed.seconds
                far = abs(ratio - 1) > NEAR
                case = Case(system, system.chips, collective, algorithm, scenario.routing)
                why = case.reason(ratio) if far else None
                yield Pair(Path(name).stem, system.chips, collective, algorithm, size,
                           played.seconds, closed.seconds, why)  # fmt: skip


def rows(found: Iterable[Pair]) -> list[Row]:
    """Return the pairs by algorithm and reason, those that agree first."""
    groups: dict[tuple[str, str], list[Pair]] = {}
    for one in found:
        groups.setdefault((one.algorithm, one.why or ""), []).append(one)
    result = []
    for (algorithm, why), some in sorted(groups.items()):
        ratios = [one.ratio for one in some]
        farthest = max(some, key=lambda one: max(one.ratio, 1 / one.ratio))
        result.append(Row(algorithm, why, len(some), min(ratios), max(ratios), farthest.case))
    return result


def every() -> tuple[str, ...]:
    """Return all systems of the table."""
    return (*names("systems"), UNEVEN, BY_HAND)


def kept() -> list[Row]:
    """Return the figures as they were written last."""
    with RESULT.open(encoding="utf-8", newline="") as file:
        return [
            Row(one["algorithm"], one["why"], int(one["pairs"]), float(one["least"]),
                float(one["most"]), one["case"])
            for one in csv.DictReader(file)
        ]  # fmt: skip


def main() -> None:
    """Play all and write how many agree, and how far apart the others are, and why."""
    found = rows(pairs(every()))
    with RESULT.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("algorithm", "why", "pairs", "least", "most", "case"))
        for one in found:
            writer.writerow((one.algorithm, one.why, one.pairs, f"{one.least:.4g}",
                             f"{one.most:.4g}", one.case))  # fmt: skip
    agree = sum(one.pairs for one in found if not one.why)
    total = sum(one.pairs for one in found)
    sys.stdout.write(f"{RESULT}: {agree} of {total} pairs within {NEAR:.0%}\n")


if __name__ == "__main__":
    main()
