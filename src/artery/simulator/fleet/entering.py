"""How a job gets its chips: where there is room for it, and its start there."""

from __future__ import annotations

from typing import Final, NamedTuple

from artery.simulator.fleet.cluster import Parts
from artery.simulator.fleet.fleet import Fleet
from artery.simulator.fleet.job import MICRO, Job

WAITS_FOR: Final = 0.02
"""A placement that costs under so much of the speed is not waited for."""


class Room(NamedTuple):
    """Where a job would go: whole nodes (``parts``), or chips of ``node`` (-1: of a free one)."""

    parts: Parts | None
    node: int


def room_for(fleet: Fleet, size: int, spares: int) -> Room | None:
    """Return where ``size`` chips would come from with ``spares`` nodes kept; ``None``: nowhere."""
    cluster, per_node = fleet.cluster, fleet.setting.per_node
    if size < per_node:
        node = cluster.room(size)
        return None if node < 0 and cluster.free_nodes <= spares else Room(None, node)
    nodes = -(-size // per_node)
    if nodes > cluster.free_nodes - spares:
        return None
    return Room(cluster.plan(nodes, fleet.policy.placing == "blind"), -1)


def speed_in(fleet: Fleet, job: Job, size: int, room: Room) -> float:
    """Return the speed that ``job`` would have there."""
    if room.parts is None or len(room.parts) == 1:
        return fleet.ideal(job, size)
    pods = len({leaf // fleet.cluster.pod for leaf, _ in room.parts})
    return fleet.speed(job, size, len(room.parts), pods)


def enter(fleet: Fleet, job: Job, size: int, now: int) -> bool:
    """Start ``job`` on ``size`` chips if they are free; whether it was.

    While it may still wait for a better placement, a poor one is turned down.
    """
    room = room_for(fleet, size, fleet.setting.spares)
    if room is None:
        return False
    if fleet.policy.max_wait and room.parts and len(room.parts) > 1 and _waits(fleet, job, room):
        return False
    enter_room(fleet, job, size, now, room)
    return True


def enter_room(fleet: Fleet, job: Job, size: int, now: int, room: Room) -> None:
    """Start ``job`` on ``size`` chips in ``room``."""
    if room.parts is None:
        fleet.cluster.take_chips(job.index, size, job.held, room.node)
    else:
        fleet.cluster.take(job.index, room.parts, job.held)
    again = job.first_start >= 0
    if not again:
        job.first_start = now
    job.wait = "restarting"
    fleet.begin(job, size, now, fleet.costs(job, size).node if again else 0.0)
    job.wide = job.wide or job.split
    fleet.told(now, "started", job, size)


def _waits(fleet: Fleet, job: Job, room: Room) -> bool:
    """Whether ``job`` still waits for something better than ``room``."""
    now = fleet.clock
    if 0 <= job.patience <= now:
        return False
    best = fleet.ideal(job, job.asked)
    if speed_in(fleet, job, job.asked, room) >= best * (1 - WAITS_FOR):
        return False
    if job.patience < 0:
        job.patience = now + round(fleet.policy.max_wait * MICRO)
        fleet.at(job.patience, _patience_over, job)
    return True


def _patience_over(fleet: Fleet, _: int, job: Job, __: int) -> None:
    """``job`` takes now what there is."""
    if job.listed:
        fleet.changed = True
