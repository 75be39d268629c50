"""Made-up job lists whose mixes follow published summaries of real clusters.

A mix has what is published of a cluster (mean and median run, mean chips, longest run) and what is
assumed. Runs are log-normal with the published mean and median; where the offered load is given,
they are all stretched alike to meet it. Arrivals are Poisson at a rate that changes every hour.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log, sqrt
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from artery.cloud.fleet_job import FleetJob
from artery.core.arrays import Floats
from artery.units.durations import DAY


@dataclass(frozen=True, slots=True)
class Mix:
    """What a cluster's jobs look like.

    ``median_run`` and ``mean_run`` in seconds, ``longest`` the longest run. ``shares`` has the
    weight of the jobs by chips; where it is empty, sizes are powers of two below ``large_chips``
    with a mean of ``mean_chips``. ``large`` of the chip-time is in jobs of ``large_chips`` or
    more, which are ``large_jobs`` of the jobs (0: no such part). ``burst`` is the coefficient of
    variation of the hourly arrival rate. ``ends`` are shares of completed, cancelled and failed.
    """

    source: str
    median_run: float
    mean_run: float
    longest: float
    mean_chips: float
    shares: Mapping[int, float]
    burst: float
    ends: tuple[float, float, float]
    large: float = 0.0
    large_jobs: float = 0.0
    large_chips: int = 1024


MIXES: Final[Mapping[str, Mix]] = MappingProxyType(
    {
        "llm": Mix(
            source="run, chips and ends of Kalos of Acme (Hu et al., NSDI 2024, "
            "cluster_summary.csv); large jobs are assumed",
            median_run=124.0,
            mean_run=1259.7,
            longest=14 * DAY,
            mean_chips=26.8,
            shares=MappingProxyType({}),
            burst=1.0,
            ends=(0.541, 0.062, 0.397),
            large=0.85,
            large_jobs=0.15,
        ),
        "philly": Mix(
            source="Philly (Jeon et al., ATC 2019; run and ends by Acme's cluster_summary.csv; "
            "sizes and arrivals counted in the 82,247 jobs that Sia's artefact has)",
            median_run=874.0,
            mean_run=18006.0,
            longest=49.1 * DAY,
            mean_chips=1.304,
            shares=MappingProxyType(
                {1: 76627, 2: 1818, 4: 1870, 8: 1643, 12: 7, 16: 199, 24: 7, 32: 67, 64: 6, 128: 3}
            ),
            burst=2.25,
            ends=(0.604, 0.090, 0.305),
        ),
        "helios": Mix(
            source="Helios (Hu et al., SC 2021; cluster_summary.csv of Acme)",
            median_run=206.0,
            mean_run=6651.7,
            longest=50.0 * DAY,
            mean_chips=3.72,
            shares=MappingProxyType({}),
            burst=1.0,
            ends=(0.624, 0.221, 0.155),
            large_chips=2048,
        ),
    }
)
"""Known mixes. Burst: Philly's 161 as index of dispersion of hourly arrivals at 31.5 an hour makes
sqrt(160/31.5) = 2.25; 1 elsewhere is assumed."""

ESTIMATE: Final = 4.0
"""Users ask for 1 to 1 + 4 times what they need (the f-model; Mu'alem and Feitelson, IEEE TPDS
12(6), 2001)."""

TENANTS: Final = 20
"""Assumed: tenants, the n-th with 1/n of the first's jobs."""

LARGEST: Final = 4
"""Assumed: no job asks for more than a quarter of the cluster."""

_STATES: Final = ("completed", "cancelled", "failed")


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of the generator: ``jobs`` over ``days``, on a cluster of ``chips``.

    ``load`` is the chip-time asked for over the chip-time there is; ``None`` keeps the published
    run times. ``large`` and ``burst`` replace the mix's own.
    """

    mix: str
    jobs: int
    chips: int
    days: float
    load: float | None = None
    large: float | None = None
    burst: float | None = None
    seed: int = 0


def generate(asked: Asked) -> list[FleetJob]:
    """Return the jobs, by submission; the same question gives the same jobs."""
    mix, draw = MIXES[asked.mix], np.random.default_rng(asked.seed)
    chips, big = _chips(mix, asked, draw)
    runs = _runs(mix, asked, chips, big, draw)
    submits = _arrivals(asked, mix.burst if asked.burst is None else asked.burst, draw)
    limits = runs * (1.0 + ESTIMATE * draw.random(asked.jobs))
    weights = 1.0 / np.arange(1, TENANTS + 1)
    tenants = draw.choice(TENANTS, asked.jobs, p=weights / weights.sum())
    ends = np.asarray(mix.ends) / sum(mix.ends)
    states = draw.choice(3, asked.jobs, p=ends)
    rows = zip(
        submits.tolist(), runs.tolist(), chips.tolist(), limits.tolist(), tenants.tolist(),
        states.tolist(), strict=True,
    )  # fmt: skip
    return [
        FleetJob(f"j{n}", submit, run, size, limit, 0, f"t{tenant}", (), 0, _STATES[state])
        for n, (submit, run, size, limit, tenant, state) in enumerate(rows)
    ]


def _chips(
    mix: Mix, asked: Asked, draw: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Chips of every job, and which are of the large part."""
    most = max(asked.chips // LARGEST, 1)
    if mix.shares:
        sizes, weights = np.array(list(mix.shares)), np.array(list(mix.shares.values()))
    else:
        sizes = 2 ** np.arange(max(1, min(mix.large_chips, most + 1) - 1).bit_length())
        weights = sizes ** -_exponent(sizes, mix.mean_chips)
    kept = sizes <= most
    sizes, weights = sizes[kept], weights[kept]
    chips = draw.choice(sizes, asked.jobs, p=weights / weights.sum())
    big = np.zeros(asked.jobs, dtype=np.bool_)
    large = mix.large if asked.large is None else asked.large
    above = mix.large_chips * 2 ** np.arange(4)
    above = above[above <= most]
    if large > 0 and mix.large_jobs > 0 and len(above):
        # Where no chip-time is left for others, there are no others.
        big = draw.random(asked.jobs) < (mix.large_jobs if large < 1.0 else 1.0)
        inverse = 1.0 / above
        chips[big] = draw.choice(above, int(big.sum()), p=inverse / inverse.sum())
    return chips.astype(np.int64), big


def large_part(jobs: Sequence[FleetJob], chips: int) -> tuple[float, float]:
    """Return the shares of the chip-time and of the jobs that are in jobs of ``chips`` or more."""
    large = [job for job in jobs if job.chips >= chips]
    whole = sum(job.chips * job.run for job in jobs)
    work = sum(job.chips * job.run for job in large)
    return (work / whole if whole else 0.0), (len(large) / len(jobs) if jobs else 0.0)


def _exponent(sizes: NDArray[np.int64], mean: float) -> float:
    """Return a such that sizes drawn in proportion to size^-a have this mean (by bisection)."""
    low, high = -2.0, 4.0
    for _ in range(60):
        middle = (low + high) / 2
        weights = sizes**-middle
        if float((sizes * weights).sum() / weights.sum()) > mean:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _runs(
    mix: Mix,
    asked: Asked,
    chips: NDArray[np.int64],
    big: NDArray[np.bool_],
    draw: np.random.Generator,
) -> Floats:
    """Seconds of every job, stretched to the load and to the share of the large part."""
    spread = sqrt(2.0 * log(mix.mean_run / mix.median_run))
    runs = mix.median_run * np.exp(spread * draw.standard_normal(asked.jobs))
    runs = np.minimum(runs, mix.longest)
    if asked.load is None:
        return np.maximum(runs, 1.0)
    whole = asked.load * asked.chips * asked.days * DAY
    large = (mix.large if asked.large is None else asked.large) if big.any() else 0.0
    for part, share in ((big, large), (~big, 1.0 - large)):
        if part.any():
            runs[part] = _stretched(runs[part], chips[part], whole * share, mix.longest)
    return np.maximum(runs, 1.0)


def _stretched(runs: Floats, chips: NDArray[np.int64], work: float, longest: float) -> Floats:
    """Return the runs stretched so that chips times run is ``work``, none above ``longest``."""
    stretch = work / float((runs * chips).sum())
    for _ in range(40):
        have = float((np.minimum(runs * stretch, longest) * chips).sum())
        stretch *= work / have
    return np.minimum(runs * stretch, longest)


def _arrivals(asked: Asked, burst: float, draw: np.random.Generator) -> Floats:
    """Submission times: each hour has a rate drawn from a gamma distribution of mean 1."""
    hours = max(1, round(asked.days * 24))
    if burst > 0.0:
        rate = draw.gamma(1.0 / burst**2, burst**2, hours) + 1e-12
    else:
        rate = np.ones(hours)
    hour = draw.choice(hours, asked.jobs, p=rate / rate.sum())
    times = (hour + draw.random(asked.jobs)) * (asked.days * DAY / hours)
    return np.asarray(np.sort(times), dtype=np.float64)
