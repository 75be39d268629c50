"""What cannot come to a good end: jobs that fail faster than they return, or do not fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import exp, fsum, isfinite, lgamma, log, log1p
from typing import Final

from artery.answers.schedule.speed import Prices, Rates
from artery.cloud.fleet_job import FleetJob
from artery.cloud.goodput import HOPELESS
from artery.cloud.intervals import complete
from artery.core.failure import FailureModel
from artery.core.plan import Plan
from artery.core.system import System
from artery.errors import Problem, Problems
from artery.formats.wording import counted
from artery.simulator.fleet.setting import Costs
from artery.step.evaluate import needed
from artery.step.memory import AT_LIMIT
from artery.step.plans import Plans
from artery.units import show_bytes, show_time

PATIENCE: Final = 1000.0
"""Assumed: a play lasts so many times as long as all work on all chips and the longest job."""


def refuse_hopeless(rates: Rates, prices: Prices, jobs: Sequence[FleetJob], repair: float) -> None:
    """Raise ``InputError`` if failures leave a job no time, or never all the nodes it needs.

    Playing it would take for ever: it is lost again before it has made up for the last loss, or
    waits for nodes of which some are always in ``repair`` (seconds).
    """
    if prices.failures is None or not prices.failures.rate():
        return
    longest: dict[tuple[int, int], float] = {}
    for job in jobs:
        if not job.service:
            key = job.kind, job.chips
            longest[key] = max(longest.get(key, 0.0), job.run)
    if not longest:
        return
    with Problems() as problems:
        for problem in _never_up(rates.system, prices.failures, max(c for _, c in longest), repair):
            problems.add(problem)
        left, chips, mtbf, costs = min(
            _left(rates, prices, *key, run) for key, run in longest.items()
        )
        if left < HOPELESS:
            problems.add(
                Problem(
                    field="node_failures_per_1000_days",
                    found=f"a job of {chips:,} chips fails every {show_time(mtbf)}, takes "
                    f"{show_time(costs.node)} to return and {_saves(costs)}: {left:.1%} of its "
                    "time trains",
                    rule=f"{HOPELESS:.0%} of a job's time at least trains, or it never ends",
                    fix="a lower rate, a shorter --restart-time, --save-time or --interval, "
                    "smaller jobs",
                )
            )


def _never_up(
    system: System, failures: FailureModel, chips: int, repair: float
) -> Iterator[Problem]:
    """Yield a problem if nearly never as many nodes are up as the largest job takes."""
    needed_, out = -(-chips // system.chips_per_node), failures.rate(("node",)) * repair
    up = 1.0 / (1.0 + out / system.nodes)
    if chance_up(system.nodes, needed_, up) < HOPELESS:
        yield Problem(
            field="node_failures_per_1000_days",
            found=f"a job takes {needed_:,} of {system.nodes:,} nodes, of which "
            f"{up * system.nodes:,.1f} are up at a time",
            rule=f"all nodes of a job are up {HOPELESS:.0%} of the time at least, or it never ends",
            fix="a lower rate, a shorter --repair-time, a larger system, smaller jobs",
        )


def chance_up(nodes: int, needed_: int, up: float) -> float:
    """Return the chance that ``needed_`` of ``nodes`` are up, each being up for a share ``up``."""
    if up >= 1.0 or needed_ <= 0:
        return 1.0
    counts = range(needed_, nodes + 1)
    whole, here, gone = lgamma(nodes + 1), log(up), log1p(-up)
    return fsum(
        exp(whole - lgamma(n + 1) - lgamma(nodes - n + 1) + n * here + (nodes - n) * gone)
        for n in counts
    )


def latest_end(jobs: Sequence[FleetJob], chips: int) -> float:
    """Return when playing ``jobs`` on ``chips`` stops, done or not, in seconds.

    Long after any cluster that works its queue off: every play ends.
    """
    work = sum(job.chips * job.run for job in jobs) / chips
    last, longest = max(job.submit for job in jobs), max(job.run for job in jobs)
    return last + PATIENCE * (work + longest)


def _left(
    rates: Rates, prices: Prices, kind: int, chips: int, run: float
) -> tuple[float, int, float, Costs]:
    """The share of time that trains by Daly's complete model, chips, time to failure, costs.

    A job that ends before its first checkpoint is due saves nothing.
    """
    costs = prices.costs(kind, chips)
    rate = 0.0 if prices.failures is None else prices.failures.rate()
    mtbf = rates.system.nodes / (rate * max(chips // rates.system.chips_per_node, 1))
    work = max(min(costs.interval, run), 1e-3)
    save = costs.save if costs.interval < run else 0.0
    return complete(work, save, mtbf, costs.node), chips, mtbf, costs


def _saves(costs: Costs) -> str:
    return f"saves every {show_time(costs.interval)}" if isfinite(costs.interval) else "never saves"


def too_large(rates: Rates, jobs: Sequence[FleetJob]) -> Iterator[str]:
    """Yield which jobs train a model that does not fit on the chips that they ask for."""
    asked = Counter((job.kind, job.chips) for job in jobs if not job.service)
    short: dict[int, list[tuple[int, int, float]]] = {}
    for (kind, chips), count in sorted(asked.items()):
        least = least_bytes(rates, kind, chips)
        if not fits(rates, least):
            short.setdefault(kind, []).append((chips, count, least))
    for kind, found in short.items():
        chips, _, least = found[0]
        jobs_ = sum(count for _, count, _ in found)
        sizes = f"{chips:,}" if len(found) == 1 else f"{chips:,} to {found[-1][0]:,}"
        room, model = show_bytes(rates.system.chip.memory.capacity), rates.kinds[kind].kind.model
        yield (
            f"{model} does not fit {counted(jobs_, 'job')} of {sizes} chips: it "
            f"needs {show_bytes(least)} of the {room} of a chip, with full recomputation and all "
            "state sharded; they are played as if it did: --model, --tp and --pp say another"
        )


def fits(rates: Rates, needs: float) -> bool:
    """Return whether a chip has room for so many bytes."""
    return needs <= (1.0 + AT_LIMIT) * rates.system.chip.memory.capacity


def least_bytes(rates: Rates, kind: int, chips: int) -> float:
    """Return bytes per chip in the plan that needs least: state sharded, activations recomputed."""
    what = rates.kinds[kind]
    plan: Plan = what.plan(chips, chips)
    spare = replace(plan, zero=3, recompute="full")
    system = replace(rates.system, chips=max(plan.chips, 1))
    profile, pricer = what.settled.profile, rates.pricer(system)
    return min(
        float(
            needed(what.workload, system, Plans.of([one]), profile=profile, pricer=pricer).total[0]
        )
        for one in (plan, spare)
    )
