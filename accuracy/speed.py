"""``python -m accuracy.speed FOLDER``: the speed law of jobs, fitted on few steps, tested on many.

``FOLDER`` holds the published tables (ElasticFlow's A100 throughputs, Pollux's T4 placements). Per
job four numbers are fitted; per cluster the two numbers of its links, on the fitted rows of all its
jobs together. Which rows are fitted is written here; everything else is a test row. Nothing of the
tables lies in this project: the result goes to ``data/speed.csv``, from which the page is made.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from artery.cloud.speed import JobSpeed, Links, Placement

RESULT: Final = Path(__file__).parent / "data" / "speed.csv"

A100_FITTED: Final = (1, 2, 8)
"""Chips whose steps are fitted: one, two and a whole node of ElasticFlow's A100."""

T4_FITTED: Final = ("11", "44")
"""Placements over two nodes that are fitted beside all of one node: the smallest, the largest."""

ROW_SPREAD: Final = 0.05
"""Relative standard deviation of a row; residuals beyond it count less (soft l1)."""

PRIOR_SPREAD: Final = 100.0, 20.0
"""Of logarithms: the weak priors that hold a job's and a cluster's numbers where rows say nothing.

In row spreads times the square root of the rows: far too wide to move what the rows do say.
"""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Steps:
    """Measured steps of one job: placements, samples per chip, seconds, whether fitted."""

    job: str
    where: Placement
    batch: Floats
    seconds: Floats
    fitted: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Scored:
    """Errors over one job's rows; medians and largest of |predicted/measured - 1|.

    ``far`` is the signed median over the test rows with the most nodes (A100: chips).
    """

    cluster: str
    job: str
    fitted_rows: int
    test_rows: int
    fitted: float
    test: float
    largest: float
    far: float


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines()


def _steps(job: str, rows: Sequence[Sequence[float]]) -> Steps:
    nodes, chips, most, batch, seconds, fitted = np.array(rows, dtype=np.float64).T
    where = Placement(nodes, chips, most)
    return Steps(job, where, batch, seconds, fitted.astype(np.bool_))


def a100(folder: Path) -> list[Steps]:
    """Return ElasticFlow's steps (ASPLOS 2023): nodes of 8, a global batch; zeros were not run."""
    found = []
    for path in sorted(folder.glob("*.csv")):
        head, *table = list(csv.reader(_lines(path)))
        rows = [
            (max(1, n // 8), n, min(n, 8), int(line[0]) / n, 1 / float(value), n in A100_FITTED)
            for line in table
            for n, value in zip(map(int, head[1:]), line[1:], strict=False)
            if value and float(value) > 0.0
        ]
        found.append(_steps(path.stem, rows))
    return found


def t4(folder: Path) -> list[Steps]:
    """Return Pollux's steps (OSDI 2021): every placement up to four nodes, and 6 to 16 nodes."""
    found = []
    for path in sorted(folder.glob("*_placements.csv")):
        job = path.stem.removesuffix("_placements")
        rows: list[tuple[float, ...]] = []
        for row in csv.DictReader(_lines(path)):
            each = [int(digit) for digit in row["placement"]]
            fitted = len(each) == 1 or row["placement"] in T4_FITTED
            rows.append((len(each), sum(each), max(each), *_timed(row), fitted))
        for row in csv.DictReader(_lines(folder / f"{job}_scalability.csv")):
            nodes, chips = int(row["num_nodes"]), int(row["num_replicas"])
            rows.append((nodes, chips, -(-chips // nodes), *_timed(row), False))
        found.append(_steps(job, rows))
    return found


def _timed(row: Mapping[str, str]) -> tuple[float, float]:
    return float(row["local_bsz"]), float(row["step_time"])


def _start(steps: Steps) -> Floats:
    """Where the fit of one job starts: half of its shortest step, and so on; k = 1/2."""
    seconds = steps.seconds[steps.fitted]
    slope = seconds.max() / steps.batch[steps.fitted].max() / 2
    return np.array([np.log(seconds.min() / 2), np.log(slope), np.log(0.3 * seconds.mean()), 0.0])


def _speed(values: Floats) -> JobSpeed:
    """Logarithms and a logit to the four numbers, so that all stay within what they may be."""
    fixed, slope, exchange = (float(value) for value in np.exp(values[:3]))
    return JobSpeed(fixed, slope, exchange, hidden=float(1.0 / (1.0 + np.exp(-values[3]))))


def fit(cluster: Sequence[Steps], *, alike: bool) -> tuple[list[JobSpeed], Links]:
    """Return the numbers of every job and those of the cluster's links that fit best.

    ``alike`` leaves the links out: all of the cluster's are of one speed.
    """
    links_start = np.log([0.1, 0.2])
    starts = [_start(steps) for steps in cluster]

    def parts(values: Floats) -> tuple[list[Floats], Links]:
        jobs = [values[2 + 4 * i : 6 + 4 * i] for i in range(len(cluster))]
        inside, sharing = np.exp(values[:2])
        return jobs, Links() if alike else Links(float(inside), float(sharing))

    def residuals(values: Floats) -> Floats:
        jobs, links = parts(values)
        found = [(values[:2] - links_start) / PRIOR_SPREAD[1]]
        for steps, job, start in zip(cluster, jobs, starts, strict=True):
            log = np.log(predicted(steps, _speed(job), links) / steps.seconds)[steps.fitted]
            found += [log / np.sqrt(log.size), (job - start) / PRIOR_SPREAD[0]]
        return np.concatenate(found)

    best = least_squares(
        residuals, np.concatenate([links_start, *starts]), loss="soft_l1", f_scale=ROW_SPREAD
    )
    jobs, links = parts(best.x)
    return [_speed(job) for job in jobs], links


def predicted(steps: Steps, speed: JobSpeed, links: Links) -> Floats:
    """Return the predicted seconds of all rows."""
    return speed.step(steps.where, steps.batch, links)


def score(cluster: str, steps: Steps, speed: JobSpeed, links: Links) -> Scored:
    """Return the errors over one job's rows."""
    signed = predicted(steps, speed, links) / steps.seconds - 1.0
    return _scored(cluster, steps.job, signed, steps.fitted, _size(steps, links))


def _size(steps: Steps, links: Links) -> Floats:
    return steps.where.chips if links.inside is None else steps.where.nodes


def _scored(
    cluster: str, job: str, signed: Floats, fitted: NDArray[np.bool_], size: Floats
) -> Scored:
    test = ~fitted
    far = test & (size == size[test].max())
    return Scored(
        cluster=cluster,
        job=job,
        fitted_rows=int(fitted.sum()),
        test_rows=int(test.sum()),
        fitted=float(np.median(np.abs(signed[fitted]))),
        test=float(np.median(np.abs(signed[test]))),
        largest=float(np.abs(signed[test]).max()),
        far=float(np.median(signed[far])),
    )


def pooled(name: str, cluster: Sequence[Steps], speeds: Sequence[JobSpeed], links: Links) -> Scored:
    """Return the errors over all rows of a cluster's jobs together."""
    pairs = zip(cluster, speeds, strict=True)
    signed = np.concatenate([predicted(s, v, links) / s.seconds - 1.0 for s, v in pairs])
    fitted = np.concatenate([steps.fitted for steps in cluster])
    size = np.concatenate([_size(steps, links) for steps in cluster])
    return _scored(name, "all", signed, fitted, size)


def scores(folder: Path) -> list[Scored]:
    """Return the errors of every job of both clusters, and of each cluster's jobs together."""
    found = []
    for name, cluster, alike in (
        ("a100", a100(folder / "scaling_a100_elasticflow"), True),
        ("t4", t4(folder / "scaling_t4_pollux"), False),
    ):
        speeds, links = fit(cluster, alike=alike)
        found += [score(name, s, v, links) for s, v in zip(cluster, speeds, strict=True)]
        found.append(pooled(name, cluster, speeds, links))
    return found


def kept() -> list[Scored]:
    """Return the errors written down in ``data/speed.csv``."""
    kinds = {"cluster": str, "job": str, "fitted_rows": int, "test_rows": int}
    with RESULT.open(encoding="utf-8") as file:
        return [
            Scored(**{name: kinds.get(name, float)(value) for name, value in row.items()})
            for row in csv.DictReader(file)
        ]


def main() -> None:
    """Fit, test, and write the result down."""
    found = scores(Path(sys.argv[1]))
    with RESULT.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Scored)], lineterminator="\n")
        writer.writeheader()
        for each in found:
            row = {k: round(v, 4) if isinstance(v, float) else v for k, v in asdict(each).items()}
            writer.writerow(row)
            print(*row.values())


if __name__ == "__main__":
    main()
