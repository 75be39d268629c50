"""How many chips each policy needs for one and the same wait."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Final

import numpy as np

from artery.answers.schedule.result import Played, Pools, Sized, Sizing
from artery.answers.schedule.stage import Stage
from artery.simulator.fleet.outcome import Outcome
from artery.units import parse, show_time

LARGEST: Final = 4
"""The cluster is tried up to so many times its size."""

FINE: Final = 0.005
"""The answer is within this share of the size, or one node."""


def sized_for(
    text: str, stage: Stage, played: Sequence[Played], pools: Pools | None = None
) -> Sizing:
    """Return the fewest chips for ``MEASURE=TARGET``, policy by policy, by bisection.

    ``TARGET`` is a time, or a policy whose own wait on the system as it is must be reached. A wait
    is taken to fall as the cluster grows. ``MEASURE`` and ``TARGET`` have been looked at. What
    serves beside the jobs, by ``pools``, is there at every size, and its peak has room.
    """
    measure, _, wanted = text.partition("=")
    known = {each.policy.name: each for each in played}
    if wanted in known:
        target, origin = of(measure, known[wanted].outcome), wanted
    else:
        target, origin = parse(wanted, "s"), "given"
    rows: list[Sized] = []
    base: int | None = None
    for each in played:
        found = fewest(measure, target, stage, each, pools)
        nodes, reached = found
        if reached > target:
            rows.append(Sized(each.policy.name, None, None, None, _why(measure, found, stage)))
            base = None if not rows[1:] else base
            continue
        chips = nodes * stage.system.chips_per_node
        base = chips if not rows else base
        less = 1.0 - chips / base if base else None
        rows.append(Sized(each.policy.name, chips, reached, less))
    return Sizing(measure, target, origin, tuple(rows))


def of(measure: str, outcome: Outcome) -> float:
    """Return ``p90-queue`` and the like of an outcome, in seconds; endless if a job never began."""
    if outcome.unstarted:
        return float("inf")
    if measure == "mean-queue":
        return outcome.mean_queue
    share = 0.9 if measure == "p90-queue" else 0.5
    return float(np.quantile(outcome.queue, share)) if len(outcome.queue) else 0.0


def _why(measure: str, tried: tuple[int, float], stage: Stage) -> str:
    """Why no cluster that was tried meets the target."""
    nodes, reached = tried
    chips = nodes * stage.system.chips_per_node
    if isfinite(reached):
        return (
            f"{measure} is still {show_time(reached)} on {chips:,} chips, {LARGEST} times as many"
        )
    return f"some jobs never start, not even on {chips:,} chips"


def fewest(
    measure: str, target: float, stage: Stage, now: Played, pools: Pools | None
) -> tuple[int, float]:
    """Return the fewest nodes that meet the target, and the wait then.

    Where none do, the most that were tried, with the wait that is still above the target.
    """
    system, jobs = stage.system, stage.jobs.jobs
    per_node = system.chips_per_node
    least = max(-(-job.chips // per_node) for job in jobs) + stage.request.spares
    together = jobs
    if pools is not None:
        together = (*jobs, *pools.replicas)
        least = max(least, -(-pools.peak // per_node) + stage.request.spares)

    def wait(nodes: int) -> float:
        what = f"{now.policy.name} on {nodes * per_node:,} chips"
        return of(measure, stage.play(now.policy, together, nodes, what=what).outcome)

    high, reached = system.nodes, of(measure, now.outcome)
    while reached > target:
        if high >= LARGEST * system.nodes:
            return high, reached
        least, high = high + 1, min(high * 2, LARGEST * system.nodes)
        reached = wait(high)
    low = min(least, high)
    while high - low > max(FINE * high, 0):
        middle = (low + high) // 2
        found = wait(middle)
        if found <= target:
            high, reached = middle, found
        else:
            low = middle + 1
    return high, reached
