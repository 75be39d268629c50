"""One job on its way through the fleet: what it asked for, what it holds, how far it got."""

from __future__ import annotations

from math import ceil, inf
from typing import Final, Literal

from artery.cloud.fleet_job import FleetJob
from artery.simulator.fleet.cluster import Held

MICRO: Final = 1_000_000
"""Microseconds in a second."""

Wait = Literal["restarting", "resizing"]


class Job:
    """A :class:`FleetJob` with its state; times in whole microseconds.

    ``work`` is what is left to do at the start, in microseconds at speed 1, ``done`` how much of
    it is safe. From ``since`` on the present segment runs: it works from ``ready`` on, at
    ``speed``, and stops ``save`` of every ``cycle`` to write a checkpoint (0: none).
    """

    __slots__ = (
        "asked",
        "cycle",
        "done",
        "end",
        "estimate",
        "first_start",
        "held",
        "hold",
        "index",
        "key",
        "kind",
        "larger",
        "limit",
        "listed",
        "nodes",
        "patience",
        "priority",
        "ready",
        "resizes",
        "restarts",
        "save",
        "service",
        "since",
        "size",
        "sizes",
        "speed",
        "split",
        "stall",
        "submit",
        "version",
        "wait",
        "wide",
        "work",
    )  # fmt: skip

    def __init__(self, index: int, spec: FleetJob, start: int, per_node: int) -> None:
        self.index = index
        self.submit = start
        self.asked = spec.chips
        self.size = 0
        self.sizes = spec.sizes
        self.work = max(round(spec.run * MICRO), 1)
        self.limit = self.work if spec.limit is None else max(round(spec.limit * MICRO), 1)
        self.priority = spec.priority
        self.service = spec.service
        self.kind = spec.kind
        self.key = (-spec.priority, index)
        self.nodes = -(-spec.chips // per_node) if spec.chips >= per_node else 0
        self.held = Held()
        self.done = 0.0
        self.speed = 1.0
        self.since = self.ready = self.end = self.estimate = 0
        self.first_start = -1
        self.hold = self.larger = 0
        self.patience = -1
        self.stall = 0
        self.version = 0
        self.cycle = self.save = 0
        self.wait: Wait = "restarting"
        self.restarts = self.resizes = 0
        self.listed = self.split = self.wide = False

    def finish(self) -> int:
        """Return when it would be done if nothing came between."""
        left = (self.work - self.done) / self.speed
        if self.cycle:
            left *= self.cycle / (self.cycle - self.save)
        return self.ready + max(ceil(left), 0)

    def remaining(self, now: int) -> float:
        """Return the seconds of work left at speed 1, as of ``now``."""
        worked = max(0, now - self.ready - self.stall) * self.speed if self.size else 0.0
        return max(0.0, self.work - self.done - worked) / MICRO

    def lost(self, worked: int, notice: int) -> int:
        """Return how much of ``worked`` microseconds is lost: all since the last checkpoint.

        ``notice`` microseconds passed before anybody knew: the checkpoint must be older.
        """
        if not self.cycle:
            return worked
        kept = max(worked - notice, 0) // self.cycle * self.cycle
        return worked - kept


def cycle_of(interval: float, save: float) -> tuple[int, int]:
    """Return checkpoint cycle and blocking save in microseconds; zeros where nothing is saved.

    >>> cycle_of(600.0, 1.5)
    (601500000, 1500000)
    """
    if interval == inf:
        return 0, 0
    blocked = round(save * MICRO)
    return round(interval * MICRO) + blocked, blocked
