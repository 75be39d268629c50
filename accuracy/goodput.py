"""Published figures of reliability against the failure model: what ``docs/goodput.md`` shows.

The rows of ``data/reliability.csv`` hold the published value and the inputs that go with it; an
input that is not published is named there. Where too many are missing no value is predicted:
:func:`needed` says which restart would give the published one.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import log1p
from pathlib import Path
from typing import Final

from accuracy.goodput_draws import drawn
from accuracy.goodput_play import play
from artery.catalog.systems import system
from artery.cloud.checkpoints import Tier, TierName
from artery.cloud.failure_model import CAUSES, LEAF_SWITCH, MONTH, leaf_switches
from artery.cloud.failures import RATES
from artery.cloud.goodput import Job, best, replicas
from artery.cloud.intervals import best_complete
from artery.cloud.recovery import given_restart
from artery.core.failure import FailureClass, FailureModel, Severity
from artery.core.source import Source
from artery.units.durations import DAY

DATA: Final = Path(__file__).parent / "data" / "reliability.csv"

_UNITS: Final = {"min": 60.0, "h": 3600.0, "d": DAY, "%": 0.01}

SAVES: Final = (0.2, 1.0, 5.0, 15.0, 30.0, 60.0, 120.0)
"""Seconds that a save blocks, at which the restart is asked for."""

LINK_FAILURES: Final = 0.00057 / MONTH
"""NIC-to-switch links that fail: 0.057 % a month (Alibaba HPN, SIGCOMM 2024)."""

FAILURES: Final = 20_000
"""Failures played per case: the share is then known to about half a percent."""

DRAWS: Final = 1_000_000
"""Failures drawn per case: the share is then known to about a tenth of a percent."""

_MADE_UP: Final = Source("a case of the comparison", "", "assumed")


@dataclass(frozen=True, slots=True)
class Figure:
    """One published figure; SI units. ``within`` is in those of ``published``."""

    id: str
    what: str
    published: float
    unit: str
    within: float | None
    inputs: str
    source: str
    given: dict[str, float]
    rate: str

    @property
    def mtbf(self) -> float:
        """Mean seconds between failures: published, or from the rate and the nodes."""
        if "mtbf_s" in self.given:
            return self.given["mtbf_s"]
        return RATES[self.rate].mean_time_between(int(self.given["nodes"]))

    @property
    def predicted(self) -> float | None:
        """What the model says in SI units; ``None`` where inputs are missing."""
        given = self.given
        if "replicas" in given:
            return replicas(self.mtbf, given["stall_s"], given["rejoin_s"], int(given["replicas"]))
        if "save_s" in given:
            interval, share = best_complete(given["save_s"], self.mtbf, given["restart_s"])
            return interval if self.unit == "min" else share
        return None if self.unit == "%" else self.mtbf

    @property
    def held(self) -> bool | None:
        """Whether the prediction is as near as was asked for."""
        found = self.predicted
        if found is None or self.within is None:
            return None
        return abs(found - self.published) <= self.within


@cache
def figures() -> tuple[Figure, ...]:
    """Return all rows, in their order."""
    with DATA.open(encoding="utf-8", newline="") as file:
        return tuple(_figure(row) for row in csv.DictReader(file))


def _figure(row: dict[str, str]) -> Figure:
    scale = _UNITS[row["unit"]]
    published = float(row["published"]) * scale
    numbers = ("nodes", "mtbf_s", "save_s", "restart_s", "stall_s", "rejoin_s", "replicas")
    return Figure(
        row["id"],
        row["what"],
        published,
        row["unit"],
        _within(row["within"], published, scale),
        row["inputs"],
        row["source"],
        {name: float(row[name]) for name in numbers if row[name]},
        row["rate"],
    )


def _within(text: str, published: float, scale: float) -> float | None:
    """``2%`` of the published value, or a number in its unit."""
    if not text:
        return None
    return published * float(text[:-1]) / 100 if text.endswith("%") else float(text) * scale


def needed(share: float, save: float, mtbf: float) -> float | None:
    """Return the restart in seconds that leaves ``share`` of the time; ``None`` if none does.

    The best interval hardly depends on the restart, and the complete model falls with
    e^(-R/M): R = M·ln(share without restarts / share).
    """
    without = best_complete(save, mtbf, 0.0)[1]
    return None if without < share else mtbf * log1p(without / share - 1.0)


@dataclass(frozen=True, slots=True)
class Needed:
    """For one published share: the restart needed at each of :data:`SAVES`, in seconds."""

    what: str
    share: float
    rate: str
    mtbf: float
    restarts: tuple[float | None, ...]


def curve(figure: Figure, rates: Sequence[str]) -> Iterator[Needed]:
    """Yield the restarts that would give the published share, one row per rate."""
    nodes = int(figure.given["nodes"])
    for rate in rates:
        mtbf = RATES[rate].mean_time_between(nodes)
        restarts = tuple(needed(figure.published, save, mtbf) for save in SAVES)
        yield Needed(figure.what, figure.published, rate, mtbf, restarts)


@dataclass(frozen=True, slots=True)
class Played:
    """One case by the closed form, played failure by failure, and drawn (one tier only)."""

    mtbf: float
    restart: float
    tiers: tuple[Tier, ...]
    intervals: tuple[float, ...]
    closed: float
    played: float
    drawn: float | None

    @property
    def off(self) -> float:
        """Closed form over the play or the draw that it is farther from, less one."""
        others = [self.played] if self.drawn is None else [self.played, self.drawn]
        return max((self.closed / other - 1.0 for other in others), key=abs)


def _job(
    mtbf: float, restart: float, tiers: tuple[Tier, ...], weights: Sequence[float] = (0.0, 1.0, 0.0)
) -> Job:
    """A job whose failures are processes, nodes and domains by ``weights``."""
    kinds: tuple[Severity, ...] = ("process", "node", "domain")
    classes = tuple(
        FailureClass(kind, "job", 1, w / mtbf, w / mtbf, w / mtbf, kind, _MADE_UP)
        for kind, w in zip(kinds, weights, strict=True)
        if w
    )
    return Job(FailureModel("case", classes), given_restart(restart), tiers, loads=False)


def _tier(name: TierName, save: float, unsafe: float = 0.0) -> Tier:
    return Tier(name, save, save + unsafe, 0.0)


@cache
def compared() -> tuple[Played, ...]:
    """Return both answers for cases from 20 % to 99 % of useful time."""
    far, near = _tier("shared", 30.0), _tier("memory", 1.0)
    mixed = (0.15, 0.75, 0.10)
    jobs = (
        _job(900.0, 600.0, (_tier("shared", 300.0),)),
        _job(1080.0, 600.0, (far,)),
        _job(6480.0, 600.0, (far,)),
        _job(6480.0, 270.0, (_tier("shared", 0.5, 60.0),)),
        _job(21600.0, 600.0, (_tier("shared", 300.0),)),
        _job(86400.0, 300.0, (_tier("shared", 1.0),)),
        _job(1080.0, 300.0, (near, far), mixed),
        _job(6480.0, 300.0, (near, _tier("shared", 60.0, 100.0)), mixed),
    )
    return tuple(_both(job, seed) for seed, job in enumerate(jobs))


def _both(job: Job, seed: int) -> Played:
    shares = best(job)
    played = play(job, shares.intervals, FAILURES, seed)
    one = len(job.tiers) == 1
    draw = drawn(job, shares.intervals[0], DRAWS, seed) if one else None
    restart = job.parts[0].value
    mtbf = job.failures.mtbf
    return Played(mtbf, restart, job.tiers, shares.intervals, shares.productive, played, draw)


@dataclass(frozen=True, slots=True)
class NetworkCheck:
    """Llama 3's network failures in 54 days against another fleet's rates of links and switches.

    ``access`` counts the links from nodes to switches and the leaf switches, ``every`` the links
    between switches too.
    """

    published: int
    access: float
    every: float


def network_check() -> NetworkCheck:
    """Return what Alibaba's rates say of the network that trained Llama 3."""
    cluster = system("hgx-h100-roce:16384")
    seconds = 54 * DAY
    outside = [tier for tier in cluster.tiers if tier.chips > cluster.chips_per_node]
    links = [cluster.chips * tier.bandwidth / tier.link.bandwidth for tier in outside]
    switches = leaf_switches(cluster)[0] * LEAF_SWITCH
    access, every = (
        (switches + count * LINK_FAILURES) * seconds for count in (links[0], sum(links))
    )
    return NetworkCheck(CAUSES["network"][0], access, every)
