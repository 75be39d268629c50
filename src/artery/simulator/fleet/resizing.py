"""Elastic jobs: they give chips to those who wait, and grow or move together when nobody does.

What a job has beyond its own size can be taken at any time; below it, it gives one step at a time
and not twice within :data:`artery.cloud.policies.HOLD`. A resize is planned: nothing is lost but
the time to save, start again on the new chips and load.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from artery.cloud.policies import (
    HEADROOM,
    HOLD,
    TICK,
    largest_fitting,
    next_below,
    worth_it,
)
from artery.simulator.fleet.entering import enter
from artery.simulator.fleet.fleet import Fleet
from artery.simulator.fleet.job import MICRO, Job
from artery.simulator.fleet.recovering import What, decide

_HOLD: Final = round(HOLD * MICRO)
_TICK: Final = round(TICK * MICRO)

MOVES: Final = 4
"""Jobs moved together at one look at most."""

Giver = tuple[Job, int]
"""A job that may give chips, and the size that it would go down to."""


def make_room(fleet: Fleet, job: Job, now: int) -> bool:
    """Start ``job`` on what others give, perhaps smaller than asked; whether it was."""
    least = job.sizes[0] if len(job.sizes) > 1 else job.asked
    if fleet.surplus and _revoke(fleet, job.asked, now) and enter(fleet, job, job.asked, now):
        return True
    if least < job.asked:
        fits = largest_fitting(job.sizes, job.asked - 1, _room(fleet))
        if fits and enter(fleet, job, fits, now):
            return True
    if now < fleet.refused and job.asked >= fleet.refused_size:
        return False
    if _shrink(fleet, least, now) and enter(fleet, job, least, now):
        return True
    fleet.refused, fleet.refused_size = now + _HOLD // 10, job.asked
    return False


def _room(fleet: Fleet) -> int:
    """The largest size that fits now: whole nodes, else the most chips of one node."""
    cluster, per_node = fleet.cluster, fleet.setting.per_node
    whole = (cluster.free_nodes - fleet.setting.spares) * per_node
    if whole > 0:
        return whole
    return next((n for n in range(per_node - 1, 0, -1) if cluster.room(n) >= 0), 0)


def _fits(fleet: Fleet, size: int) -> bool:
    """Whether ``size`` chips are free for a job."""
    per_node, free = fleet.setting.per_node, fleet.cluster.free_nodes - fleet.setting.spares
    if size < per_node:
        return free > 0 or fleet.cluster.room(size) >= 0
    return free >= -(-size // per_node)


def _revoke(fleet: Fleet, need: int, now: int) -> bool:
    """Take from jobs that have more than they asked for, until ``need`` chips fit."""
    per_node, whole = fleet.setting.per_node, need >= fleet.setting.per_node
    loose = 0 if whole else fleet.cluster.loose_chips
    free = max(fleet.cluster.free_nodes - fleet.setting.spares, 0) * per_node + loose
    if free + fleet.surplus < need:
        return _fits(fleet, need)
    # Chips of a node that others use too make no whole one.
    grown = [
        job
        for job in fleet.elastic.values()
        if job.size > job.asked and (job.held.nodes or not whole)
    ]
    if free + sum(job.size - job.asked for job in grown) < need:
        return _fits(fleet, need)
    for job in sorted(grown, key=lambda each: (-(each.size - each.asked), each.index)):
        if _fits(fleet, need):
            return True
        resize(fleet, job, job.asked, now)
    return _fits(fleet, need)


def _shrink(fleet: Fleet, need: int, now: int) -> bool:
    """Have jobs go one step down, those with most of what they asked for first, until it fits."""
    if _fits(fleet, need):
        return True
    order = [(-job.size / job.asked, -job.size, job.index, n) for job, n in _givers(fleet, now)]
    givers = [(fleet.jobs[index], smaller) for _, _, index, smaller in sorted(order)]
    enough = _whole_nodes if need >= fleet.setting.per_node else _of_one_node
    for job, smaller in enough(fleet, need, givers):
        resize(fleet, job, smaller, now)
        if _fits(fleet, need):
            return True
    return False


def _whole_nodes(fleet: Fleet, need: int, givers: Sequence[Giver]) -> list[Giver]:
    """Those who give whole nodes, where these come to ``need`` chips; else nobody."""
    some = [(job, smaller) for job, smaller in givers if job.held.nodes]
    free = max(fleet.cluster.free_nodes - fleet.setting.spares, 0) * fleet.setting.per_node
    return some if free + sum(job.size - smaller for job, smaller in some) >= need else []


def _of_one_node(fleet: Fleet, need: int, givers: Sequence[Giver]) -> list[Giver]:
    """Those who give chips that come to ``need`` on one node, with what is loose there.

    A job on whole nodes does so alone; those on a part of a node do with those beside them.
    """
    per_node, left = fleet.setting.per_node, fleet.cluster.chips_left
    beside: Counter[int] = Counter()
    for job, smaller in givers:
        beside[job.held.node] += job.size - smaller

    def enough(job: Job, smaller: int) -> bool:
        if not job.held.nodes:
            return left[job.held.node] + beside[job.held.node] >= need
        kept = -(-smaller // per_node) * per_node if smaller >= per_node else smaller
        return job.held.nodes * per_node - kept >= need

    fine = [(job, smaller) for job, smaller in givers if enough(job, smaller)]
    return [each for each in fine if each[0].held.node == fine[0][0].held.node]


def _givers(fleet: Fleet, now: int) -> Iterator[Giver]:
    """Jobs that may give now."""
    for job in fleet.elastic.values():
        if job.hold <= now and not job.service:
            smaller = next_below(job.sizes, job.size)
            if smaller and job.end - now > _HOLD:
                yield job, smaller


def resize(fleet: Fleet, job: Job, size: int, now: int, event: str = "resized") -> bool:
    """Have ``job`` go on with ``size`` chips; whether there was room."""
    cluster, held, per_node = fleet.cluster, job.held, fleet.setting.per_node
    before = job.size
    what: What = "joined" if size > before else "leaving"
    fleet.pause(job, now, failed=decide(what, replaced=False, elastic=True).back)
    nodes = -(-size // per_node) if size >= per_node else 0
    if nodes and held.nodes >= nodes:
        if held.nodes > nodes:
            cluster.give_some(job.index, held, held.nodes - nodes)
    elif nodes and held.nodes:
        cluster.take(job.index, cluster.more(held, nodes - held.nodes), held)
    else:
        _move(fleet, job, size)
    job.hold = now + _HOLD
    job.resizes += 1
    job.wait = "resizing"
    pause = fleet.costs(job, max(size, before)).resize
    fleet.begin(job, size, now, pause)
    fleet.told(now, event, job, size)
    fleet.unforeseen = True
    return True


def _move(fleet: Fleet, job: Job, size: int) -> None:
    """Take all of ``job`` elsewhere: to or from a part of a node."""
    cluster, per_node = fleet.cluster, fleet.setting.per_node
    fleet.release(job)
    if size < per_node:
        cluster.take_chips(job.index, size, job.held, cluster.room(size))
        return
    parts = cluster.plan(-(-size // per_node), fleet.policy.placing == "blind")
    if parts is None:
        raise RuntimeError("a job was moved to where there is no room")
    cluster.take(job.index, parts, job.held)


# -- at every tick


def look(fleet: Fleet, now: int) -> None:
    """Have a look taken at the next tick at who may grow, move, or give again."""
    policy = fleet.policy
    if fleet.tick_due or not (policy.elastic or policy.defragment) or not fleet.running:
        return
    fleet.tick_due = True
    fleet.at((now // _TICK + 1) * _TICK, _tick)


def _tick(fleet: Fleet, now: int, _: object, __: int) -> None:
    fleet.tick_due = False
    if fleet.waiting.count:
        # Who had given not long ago may give again.
        fleet.changed = True
        return
    if fleet.policy.elastic:
        _grow(fleet, now)
    if fleet.policy.defragment:
        _gather(fleet, now)


def _grow(fleet: Fleet, now: int) -> None:
    """Give what is free to those who have least of what they asked for, if it pays.

    Up to what it asked for a job goes at once, beyond it a step at a time.
    """
    keep = fleet.setting.spares + round(HEADROOM * fleet.setting.nodes)
    ready = [
        (job.size / job.asked, job.index, job)
        for job in fleet.elastic.values()
        if job.larger and job.hold <= now and not job.service
    ]
    for _, _, job in sorted(ready):
        free = max(fleet.cluster.free_nodes - keep, 0)
        larger = job.larger
        if larger < job.asked:
            sizes = (size for size in reversed(job.sizes) if job.size < size <= job.asked)
            larger = next((size for size in sizes if _has_room(fleet, job, size, free)), 0)
        elif not _has_room(fleet, job, larger, free):
            continue
        if larger and _pays(fleet, job, larger, now):
            resize(fleet, job, larger, now)


def _has_room(fleet: Fleet, job: Job, size: int, free: int) -> bool:
    """Whether ``job`` could go on with ``size`` chips, more than it has, on ``free`` nodes more.

    Chips beside it on its own nodes count, and those of other nodes in use.
    """
    cluster, held, per_node = fleet.cluster, job.held, fleet.setting.per_node
    own = held.chips + cluster.chips_left[held.node] if held.node >= 0 else 0
    if size < per_node:
        return own >= size or free > 0 or cluster.room(size) >= 0
    nodes = held.nodes or own // per_node
    return -(-size // per_node) - nodes <= free


def _pays(fleet: Fleet, job: Job, larger: int, now: int) -> bool:
    """Whether growing to ``larger`` saves enough time."""
    speed, cost = fleet.ideal(job, larger), fleet.costs(job, larger).resize
    return speed > job.speed and worth_it(job.remaining(now), job.speed, speed, cost)


def _gather(fleet: Fleet, now: int) -> None:
    """Move jobs together that lie over more leaves than they need, if it pays."""
    split = [
        (job.speed / fleet.ideal(job, job.size), job.index, job)
        for job in fleet.running.values()
        if job.split and job.hold <= now
    ]
    moved = 0
    for _, _, job in sorted(split):
        best, cost = fleet.ideal(job, job.size), fleet.costs(job, job.size).resize
        if moved >= MOVES or not worth_it(job.remaining(now), job.speed, best, cost):
            return
        moved += _moved_together(fleet, job, now)


def _moved_together(fleet: Fleet, job: Job, now: int) -> bool:
    """Move ``job`` to fewer leaves if there are such, its own nodes among them; whether it was."""
    cluster, held, size = fleet.cluster, job.held, job.size
    before, nodes = dict(held.leaves), held.nodes
    old_speed = job.speed
    cluster.give_back(job.index, held)
    parts = cluster.plan(nodes) or []
    pods = len({leaf // cluster.pod for leaf, _ in parts})
    speed = fleet.speed(job, size, len(parts), pods)
    cost = fleet.costs(job, size).resize
    cluster.take_these(job.index, before, held)
    if not worth_it(job.remaining(now), old_speed, speed, cost):
        job.hold = now + _HOLD
        return False
    fleet.pause(job, now)
    fleet.release(job)
    cluster.take(job.index, cluster.plan(nodes) or [], held)
    job.hold = now + _HOLD
    job.resizes += 1
    job.wait = "resizing"
    fleet.begin(job, size, now, cost)
    fleet.told(now, "moved", job, size)
    return True
