"""EASY backfill: who may pass the head of the queue without delaying it."""

from __future__ import annotations

from heapq import merge
from typing import Final

from artery.cloud.policies import DEPTH, Reservation, may_pass, reservation
from artery.simulator.fleet.entering import Room, enter_room, room_for, speed_in
from artery.simulator.fleet.fleet import FOREVER, Fleet
from artery.simulator.fleet.job import MICRO, Job

_NEVER: Final = Reservation(FOREVER, 0)


def pass_head(fleet: Fleet, head: Job, now: int, arrived: Job | None) -> None:
    """Start waiting jobs that leave the promise to ``head`` as it is; only ``arrived`` if given."""
    if head is not fleet.blocked_on or fleet.unforeseen or fleet.promise is None:
        fleet.promise = promised(fleet, head)
        fleet.blocked_on = head
        fleet.unforeseen = False
        fleet.told(now, "promised", head, fleet.promise.time)
    free = fleet.cluster.free_chips
    if not free:
        return
    if arrived is not None:
        _try(fleet, arrived, now)
        return
    tried: dict[int, int] = {}
    for job in fleet.waiting.candidates(free):
        width = job.asked.bit_length()
        if job is head or tried.get(width, 0) >= DEPTH:
            continue
        tried[width] = tried.get(width, 0) + 1
        if job.asked <= free and _try(fleet, job, now):
            free = fleet.cluster.free_chips


def promised(fleet: Fleet, head: Job) -> Reservation:
    """Return when ``head`` can start at the latest, by the ends that are believed in."""
    free = fleet.cluster.free_nodes - fleet.setting.spares
    if head.nodes:
        return _whole(fleet, head, free) or _NEVER
    return _loose(fleet, head, free) or _NEVER


def _whole(fleet: Fleet, head: Job, free: int) -> Reservation | None:
    """For a head of whole nodes: nodes that are shared come free with their last job."""
    ends = [(end, nodes) for end, _, nodes in fleet.ends]
    first = reservation(head.nodes, free, ends)
    latest = FOREVER if first is None else first.time
    shared = sorted((end, 1) for end in fleet.node_end.values() if end <= latest)
    return reservation(head.nodes, free, merge(ends, shared)) if shared else first


def _loose(fleet: Fleet, head: Job, free: int) -> Reservation | None:
    """For a head smaller than a node: the first node on which there is room for it."""
    if free > 0:
        return None
    best = (fleet.ends[0][0], -1) if fleet.ends else (FOREVER, -1)
    for node, tenants in fleet.cluster.tenants.items():
        left = fleet.cluster.chips_left[node]
        for end, chips in sorted((fleet.jobs[each].estimate, n) for each, n in tenants.items()):
            left += chips
            if left >= head.asked:
                best = min(best, (end, node))
                break
    return None if best[0] == FOREVER else Reservation(best[0], 0, best[1])


def _try(fleet: Fleet, job: Job, now: int) -> bool:
    """Start ``job`` if it can and may; whether it was."""
    promise = fleet.promise or _NEVER
    sizes = [job.asked]
    if fleet.policy.elastic and len(job.sizes) > 1:
        sizes += [size for size in reversed(job.sizes) if size < job.asked]
    for size in sizes:
        room = room_for(fleet, size, fleet.setting.spares)
        if room is not None and _may(fleet, job, size, room, promise):
            enter_room(fleet, job, size, now, room)
            fleet.waiting.remove(job)
            _used(fleet, job, promise)
            fleet.backed += not job.service
            return True
    return False


def _end(fleet: Fleet, job: Job, size: int, room: Room) -> int:
    """By when ``job`` is believed to end there, a restart included."""
    whole = job.limit if fleet.policy.estimates == "limits" else job.work
    left = whole * (1.0 - job.done / job.work) / speed_in(fleet, job, size, room)
    costs = fleet.costs(job, size)
    pause = costs.node * MICRO if job.first_start >= 0 else 0.0
    return fleet.clock + round(left * (1.0 + costs.save / costs.interval) + pause) + 1


def _may(fleet: Fleet, job: Job, size: int, room: Room, promise: Reservation) -> bool:
    """Whether ``job`` may pass on ``size`` chips in ``room``: the head is not delayed."""
    end = _end(fleet, job, size, room)
    if room.parts is not None:
        return may_pass(end, -(-size // fleet.setting.per_node), promise)
    if end <= promise.time:
        return True
    if promise.node >= 0:
        return room.node != promise.node
    if room.node >= 0 and fleet.node_end.get(room.node, 0) > promise.time:
        return True
    return promise.extra >= 1


def _used(fleet: Fleet, job: Job, promise: Reservation) -> None:
    """What ``job`` takes beyond the promised time is no longer extra."""
    if job.estimate <= promise.time:
        return
    taken, held = job.held.nodes, job.held
    if held.node >= 0:
        others = (each for each in fleet.cluster.tenants[held.node] if each != job.index)
        before = max((fleet.jobs[each].estimate for each in others), default=0)
        taken = int(before <= promise.time)
    fleet.promise = promise._replace(extra=promise.extra - taken)
