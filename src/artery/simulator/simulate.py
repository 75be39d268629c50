"""``simulate``: plays collectives on a system under a scenario, and says what came out."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from artery.cluster.routing import Network
from artery.core.system import System
from artery.errors import InputError, Problem
from artery.native.work import PICOSECONDS
from artery.simulator.choice import ERROR, again, choose, refuse_untimed, untimed
from artery.simulator.coupled.run import run_coupled
from artery.simulator.explicit.run import run_explicit
from artery.simulator.explicit.run_sampled import run_sampled
from artery.simulator.explicit.slices import coarse
from artery.simulator.network.buffers import control_of
from artery.simulator.network.wires import Wires, wired
from artery.simulator.placed import Placed, check
from artery.simulator.scenario import Scenario
from artery.simulator.simulation import Simulation

MOST_SECONDS: Final = 1e6
"""Bytes over the slowest link up to which a run is played: eleven days; the engines' clocks hold
nine times as much."""


def simulate(system: System, jobs: tuple[Placed, ...], scenario: Scenario) -> Simulation:
    """Return what happens when ``jobs`` run at once on ``system`` under ``scenario``.

    The network only: what a communication library takes to start is added by who asks. Raises
    ``InputError`` for jobs that do not fit the system, chips that failures cut off, and works
    that no engine can play.
    """
    check(jobs, system.chips)
    wires = wired(system, scenario)
    if not wires.network.whole:
        jobs = tuple(_laid_anew(job, wires.network) for job in jobs)
    chosen = choose(jobs, scenario, control_of(system, jobs, scenario))
    if scenario.timed:
        refuse_untimed(chosen)
    check_time(jobs, wires, scenario)
    if chosen.engine == "sampled":
        return run_sampled(system, wires, jobs[0], scenario, chosen)
    if chosen.engine == "coupled":
        piped = run_coupled(system, wires, jobs, scenario, chosen)
        better = again(jobs, scenario, piped.chosen)
        if scenario.timed and better is None:
            raise untimed(chosen.engine, chosen.count)
        return piped if better is None else run_explicit(system, wires, jobs, scenario, better)
    found = run_explicit(system, wires, jobs, scenario, chosen)
    if chosen.engine != "messages" or not coarse(jobs):
        return found
    if scenario.failing:
        return _as_whole(found, system, jobs, scenario)
    piped = run_coupled(system, wires, jobs, scenario, replace(chosen, error=ERROR["coupled"]))
    return _waiting(found, piped)


def _waiting(found: Simulation, piped: Simulation) -> Simulation:
    """Return the run with an error that tells how much faster the same is in finer slices.

    No library waits for slices that large, whatever else these engines differ in.
    """
    one, other = found.jobs[0], piped.jobs[0]
    error = found.chosen.error
    if one <= 0 or other >= one * (1 - error):
        return found
    least = other * (1 - piped.chosen.error)
    return replace(
        found,
        chosen=replace(found.chosen, error=1 - least / one),
        piped=least,
    )


def _as_whole(
    found: Simulation, system: System, jobs: tuple[Placed, ...], scenario: Scenario
) -> Simulation:
    """Return the run with the error that slices as coarse have where nothing fails on the way.

    What fails on the way has no coupled form of its own.
    """
    unbroken = replace(scenario, failed=0.0, failed_switches=0, failing=0.0, engine="messages",
                       timed=False)  # fmt: skip
    whole = simulate(system, jobs, unbroken)
    error = whole.chosen.error
    if not whole.piped or error <= found.chosen.error:
        return found
    least = found.jobs[0] * (1 - error)
    return replace(found, chosen=replace(found.chosen, error=error), piped=least)


def _laid_anew(job: Placed, left: Network) -> Placed:
    """Return the job on what is left: trees of switches avoid links that are down."""
    if job.again is None:
        return job
    return replace(job.again(left), size=job.size, release=job.release, job=job.job)


def check_time(jobs: tuple[Placed, ...], wires: Wires, scenario: Scenario) -> None:
    """Refuse what may take longer than picoseconds count in 64 bits.

    That is by the slowest link, by who adds slowest, or by the steps over the longest latency.
    """
    total = float(sum(job.total for job in jobs))
    rate = wires.network.rate[wires.network.rate > 0]
    if len(rate):
        slowest = float(rate.min())
        found = f"{total:,.0f} B over links of {slowest:,.0f} B/s"
        rule = f"a run of at most {MOST_SECONDS:,.0f} s over its slowest link is played"
        _refuse_long(
            total / slowest, "size", found, rule, "a smaller size, or links that are less slow"
        )
    adding = [one for one in (scenario.adding, scenario.card_adding) if one]
    if adding:
        found = f"{total:,.0f} B added at {min(adding):,.0f} B/s"
        rule = f"a run of at most {MOST_SECONDS:,.0f} s at its slowest adding rate is played"
        _refuse_long(
            total / min(adding), "reduce-rate", found, rule, "a smaller size, or a higher rate"
        )
    steps = max((job.schedule.steps for job in jobs), default=0)
    longest = float(wires.network.latency.max(initial=0)) / PICOSECONDS
    found = f"{steps:,} steps over links that take {longest:,.0f} s"
    rule = f"a run of at most {MOST_SECONDS:,.0f} s of its longest latency is played"
    _refuse_long(steps * longest, "latency", found, rule, "a shorter latency or hop of the system")


def _refuse_long(seconds: float, field: str, found: str, rule: str, fix: str) -> None:
    """Refuse a run that may take so many seconds, if those are too many."""
    if seconds > MOST_SECONDS:
        raise InputError(Problem(field=field, found=found, rule=rule, fix=fix))
