"""Fleets on real traces: ``python -m accuracy.fleet PHILLY.csv SPOT_FOLDER``.

Philly's 82,247 jobs are cut into ten windows of equally many jobs; each window gets a cluster of
its own, sized by one rule, and every policy plays it. Bamboo's spot traces each get one training
job. Made-up mixes say when the article's "+30 % utilisation" holds. What comes out is written to
``data/fleet.csv``, from which ``docs/schedule.md`` is made: the traces are not part of artery.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil, exp, log, sqrt
from pathlib import Path
from typing import Final

from artery.answers.schedule import schedule
from artery.answers.schedule.result import ScheduleAnswer
from artery.formats.jobs.rows import JobRow
from artery.formats.recognise import read

DATA: Final = Path(__file__).parent / "data" / "fleet.csv"

WINDOWS: Final = 10
STUDENT: Final = 2.262
"""Student's t for 95 % and nine degrees of freedom."""

LOADS: Final = (1.0, 1.5)
"""Chip-time asked for in a window over the cluster's until the last submission. Jobs run on after
it, for days: at 1.0 five of ten windows hardly queue, at 1.5 all are saturated."""

POLICIES: Final = ("fifo", "backfill", "elastic", "elastic-backfill")
ENDS: Final = (POLICIES[0], POLICIES[-1])
SYSTEM: Final = "dgx-1v"
"""Nodes of 8 chips, as Philly's larger ones."""

SPOT_SYSTEM: Final = "ethernet-10g:64"
MODELS: Final = ("resnet50", "bert-large")
SIZES: Final = (0.25, 0.5, 0.75, 1.0)
"""Fixed sizes over the most instances that there ever were."""

MIXES: Final = (
    ("dgx-h100:16384", "llm,large=0.85"),
    ("dgx-h100:4096", "llm,large=0.85"),
    ("dgx-h100:4096", "llm,large=0.5"),
    ("dgx-h100:4096", "llm,large=0"),
)
MIX_LOADS: Final = (0.85, 1.0, 1.5)
ELASTIC: Final = (1.0, 0.5)
SEEDS: Final = (1, 2, 3)


@dataclass(frozen=True, slots=True)
class Row:
    """One figure: of which ``study`` and ``case``, for which ``policy``, what, and how much."""

    study: str
    case: str
    policy: str
    measure: str
    value: float


@cache
def rows() -> tuple[Row, ...]:
    """Return the figures that were written last."""
    with DATA.open(encoding="utf-8", newline="") as file:
        return tuple(
            Row(one["study"], one["case"], one["policy"], one["measure"], float(one["value"]))
            for one in csv.DictReader(file)
        )


def values(study: str, case: str, policy: str, measure: str) -> list[float]:
    """Return the figures that begin with ``case``, in their order."""
    return [
        row.value
        for row in rows()
        if (row.study, row.policy, row.measure) == (study, policy, measure)
        and row.case.startswith(case)
    ]


def interval(ratios: Sequence[float]) -> tuple[float, float, float]:
    """Return the geometric mean of ten ratios and the ends of its 95 % interval (Student's t)."""
    logs = [log(ratio) for ratio in ratios]
    mean = sum(logs) / len(logs)
    spread = sqrt(sum((each - mean) ** 2 for each in logs) / (len(logs) - 1) / len(logs))
    return exp(mean), exp(mean - STUDENT * spread), exp(mean + STUDENT * spread)


@dataclass(frozen=True, slots=True)
class Window:
    """Jobs submitted from ``begin`` to ``end`` (s from the first), and the nodes they get."""

    begin: float
    end: float
    nodes: int


def windows(jobs: Sequence[JobRow], load: float) -> Iterator[Window]:
    """Yield the windows: equally many jobs each, and a cluster on which they ask for ``load``.

    It has room for the largest job in any case.
    """
    ordered = sorted(jobs, key=lambda job: job.submit_s or 0.0)
    first = ordered[0].submit_s or 0.0
    for which in range(WINDOWS):
        cut = (which * len(ordered) // WINDOWS, (which + 1) * len(ordered) // WINDOWS)
        part = ordered[cut[0] : cut[1]]
        begin, end = ((each.submit_s or 0.0) - first for each in (part[0], part[-1]))
        work = sum((job.gpus or 0.0) * (job.run_s or 0.0) for job in part)
        most = max(ceil((job.gpus or 0.0) / 8) for job in part)
        yield Window(begin, end + 1e-3, max(ceil(work / (load * (end - begin) * 8)), most))


def play_window(path: str, window: Window, *, sized: bool = False) -> ScheduleAnswer:
    """Return every policy on one window of the trace at ``path``."""
    return schedule(
        path,
        f"{SYSTEM}:{window.nodes * 8}",
        window=(window.begin, window.end),
        policies=POLICIES,
        size_for="p90-queue=fifo" if sized else None,
    )


def _philly(path: str) -> Iterator[Row]:
    jobs = read(path).jobs
    for load in LOADS:
        for which, window in enumerate(windows(jobs, load)):
            answer = play_window(path, window, sized=load == LOADS[-1])
            case = f"load {load} window {which}"
            yield Row("philly", case, "", "chips", window.nodes * 8)
            yield from _played("philly", case, answer)
            for sized in answer.sizing.rows if answer.sizing else ():
                if sized.chips is not None:
                    yield Row("philly", case, sized.policy, "chips_needed", sized.chips)
            print(case, file=sys.stderr)


def _played(study: str, case: str, answer: ScheduleAnswer) -> Iterator[Row]:
    for each in answer.played:
        found = each.outcome
        measures = {
            "mean_queue_s": found.mean_queue,
            "p90_queue_s": found.p90_queue,
            "mean_jct_s": found.mean_jct,
            "utilisation": found.utilisation,
            "utilisation_arriving": found.arriving,
            "blocked": found.accounts.blocked / found.accounts.total,
        }
        for measure, value in measures.items():
            yield Row(study, case, each.policy.name, measure, value)


def _mixes() -> Iterator[Row]:
    for system, mix in MIXES:
        for load in MIX_LOADS:
            for share in ELASTIC:
                for seed in SEEDS:
                    answer = schedule(
                        f"synthetic:{mix},jobs=4000,days=20,load={load}", system,
                        policies=ENDS, elastic=share, seed=seed,
                    )  # fmt: skip
                    case = f"{mix} on {system} load {load} elastic {share} seed {seed}"
                    yield from _played("mix", case, answer)
                    print(case, file=sys.stderr)


def _spots(folder: str) -> Iterator[Row]:
    for path in sorted(Path(folder).glob("*.csv")):
        if path.stem.endswith("_scaled"):
            continue
        text = path.read_text(encoding="utf-8").split()
        if len(text) < 3:
            continue
        name = path.stem.removeprefix("aws-spot-instances-")
        for model in MODELS:
            spot = schedule(str(path), SPOT_SYSTEM, model=model).spot
            if spot is None or not spot.losses:
                continue
            case = f"{name} {model}"
            yield Row("spot", case, "", "mean_instances", spot.mean_instances)
            yield Row("spot", case, "", "losses_per_day", spot.losses)
            yield Row("spot", case, "", "interval_s", spot.interval)
            for way in spot.ways:
                yield Row("spot", case, way.name, "instances", way.instances)
                yield Row("spot", case, way.name, "steps", way.steps)
            for share in SIZES:
                most = spot.fixed[-1].instances
                one = min(spot.fixed, key=lambda way: abs(way.instances - share * most))
                yield Row("spot", case, f"fixed at {share:.0%}", "instances", one.instances)
                yield Row("spot", case, f"fixed at {share:.0%}", "steps", one.steps)


def write(found: Sequence[Row]) -> None:
    """Write the figures to :data:`DATA`."""
    with DATA.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("study", "case", "policy", "measure", "value"))
        for row in found:
            writer.writerow((row.study, row.case, row.policy, row.measure, f"{row.value:.6g}"))


def main(philly: str, spots: str) -> None:
    """Play everything and write what came out."""
    write([*_philly(philly), *_mixes(), *_spots(spots)])


if __name__ == "__main__":
    main(*sys.argv[1:])
