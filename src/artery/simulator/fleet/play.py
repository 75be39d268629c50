"""Plays a fleet from the first job to the last, or to the end of the time given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from artery.cloud.fleet_job import FleetJob
from artery.simulator.fleet.failing import Failures, plan_capacity, plan_maintenance
from artery.simulator.fleet.fleet import FOREVER, Fleet, Record
from artery.simulator.fleet.job import Job
from artery.simulator.fleet.outcome import Outcome, outcome
from artery.simulator.fleet.resizing import look
from artery.simulator.fleet.setting import Setting
from artery.simulator.fleet.starting import schedule

Progress = Callable[[int, int, float], None]
"""Told the jobs done, the jobs in all, and the seconds that passed in the fleet."""

_EVERY: Final = 4096


def play(
    setting: Setting,
    jobs: Sequence[FleetJob],
    *,
    record: Record | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Return what comes of ``jobs`` on the fleet of ``setting``.

    The same setting and jobs give the same outcome, to the last microsecond. ``record`` is told
    everything that happens, ``progress`` now and then how far it is.
    """
    fleet = Fleet(setting, jobs, record)
    run(fleet, progress)
    return outcome(fleet)


def run(fleet: Fleet, progress: Progress | None = None) -> None:
    """Play ``fleet`` to its end."""
    plan_capacity(fleet)
    plan_maintenance(fleet)
    Failures(fleet).plan(fleet, 0)
    _run(fleet, progress)
    _close(fleet)


def _run(fleet: Fleet, progress: Progress | None) -> None:
    arrivals, total = fleet.jobs, len(fleet.jobs)
    elastic = fleet.policy.elastic or fleet.policy.defragment
    upcoming, turns = 0, 0
    last = max((job.index for job in arrivals if not job.service), default=-1)
    while fleet.finished < total:
        arrival = arrivals[upcoming].submit if upcoming < total else FOREVER
        due = fleet.next_time()
        now = min(arrival, due)
        if now >= fleet.over or now == FOREVER:
            break
        fleet.advance(now)
        if due <= arrival:
            while fleet.next_time() == now:
                fleet.step()
            if fleet.changed:
                schedule(fleet, now)
        else:
            _arrive(fleet, arrivals[upcoming], now)
            if upcoming == last:
                fleet.arriving = _done(fleet, now)
            upcoming += 1
        if elastic and not fleet.tick_due:
            look(fleet, now)
        if progress is not None and turns % _EVERY == 0:
            progress(fleet.finished, total, now / 1e6)
        turns += 1


def _arrive(fleet: Fleet, job: Job, now: int) -> None:
    cluster = fleet.cluster
    free = cluster.free_chips
    if free and not job.service:
        fleet.unusable.append(cluster.unusable(job.asked) / free)
    fleet.waiting.add(job)
    fleet.told(now, "submitted", job, job.asked)
    schedule(fleet, now, job)


def _done(fleet: Fleet, now: int) -> float:
    """Share of the chips' time so far that work was done, counted at the sizes asked for."""
    work = sum((job.work / 1e6 - job.remaining(now)) * job.asked for job in fleet.jobs)
    whole = now / 1e6 * fleet.setting.nodes * fleet.setting.per_node
    return work / whole if whole else 0.0


def _close(fleet: Fleet) -> None:
    """Count what still runs when time is over."""
    if fleet.finished == len(fleet.jobs):
        return
    if fleet.over != FOREVER:
        fleet.advance(fleet.over)
    for job in list(fleet.running.values()):
        size = job.size
        fleet.pause(job, fleet.clock)
        job.size = size
