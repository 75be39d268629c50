"""Who starts now: the head of the queue, and by what it may be let in."""

from __future__ import annotations

from artery.cloud.policies import victims
from artery.simulator.fleet.entering import enter
from artery.simulator.fleet.fleet import Fleet
from artery.simulator.fleet.job import Job
from artery.simulator.fleet.passing import pass_head
from artery.simulator.fleet.recovering import decide
from artery.simulator.fleet.resizing import make_room


def schedule(fleet: Fleet, now: int, arrived: Job | None = None) -> None:
    """Start what can start, the head of the queue first.

    If only ``arrived`` is new and the head is blocked as before, only it is looked at.
    """
    waiting = fleet.waiting
    if not waiting.count:
        return
    if arrived is None or fleet.changed or waiting.head() is arrived:
        fleet.changed = False
        while waiting.count:
            head = waiting.head()
            if not start(fleet, head, now):
                break
            waiting.remove(head)
        else:
            return
        arrived = None
    if fleet.policy.backfill == "easy":
        pass_head(fleet, waiting.head(), now, arrived)


def start(fleet: Fleet, job: Job, now: int) -> bool:
    """Start ``job`` if it can be done now; whether it was."""
    if enter(fleet, job, job.asked, now):
        return True
    if fleet.policy.elastic and make_room(fleet, job, now):
        return True
    return fleet.policy.preempt and _preempt(fleet, job, now) and enter(fleet, job, job.asked, now)


def _preempt(fleet: Fleet, job: Job, now: int) -> bool:
    """Stop jobs of lower priority for ``job``, if that makes room for it."""
    if job.nodes:
        lower = [
            (each.priority, each.since, each.index, each.held.nodes)
            for each in fleet.running.values()
            if each.priority < job.priority and not each.service and each.held.nodes
        ]
        chosen = victims(job.nodes - fleet.cluster.free_nodes + fleet.setting.spares, lower)
    else:
        chosen = _one_below(fleet, job)
    for index in chosen:
        stop(fleet, fleet.jobs[index], now)
    return bool(chosen)


def stop(fleet: Fleet, job: Job, now: int) -> None:
    """Have ``job`` save, go, and wait again."""
    decided = decide("preempted", replaced=False, elastic=fleet.policy.elastic)
    fleet.pause(job, now, failed=decided.back)
    job.restarts += 1
    fleet.preemptions += 1
    fleet.wait_again(job, now, "preempted")


def _one_below(fleet: Fleet, job: Job) -> list[int]:
    """The latest job of a lower priority that holds as much of one node as ``job`` needs."""
    lower = [
        (each.priority, -each.since, each.index)
        for each in fleet.running.values()
        if each.priority < job.priority
        and not each.service
        and (each.held.nodes or each.held.chips >= job.asked)
    ]
    return [min(lower)[2]] if lower else []
