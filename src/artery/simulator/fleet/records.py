"""When each job did what: slices of time, gathered while a fleet is played."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from artery.cloud.fleet_job import FleetJob
from artery.simulator.fleet.job import Job

MOST: Final = 2_000_000
"""Slices that are kept at most; those after are counted."""


class Slice(NamedTuple):
    """``job`` did ``what`` from ``start`` to ``end`` (s), on ``chips`` over ``leaves``.

    ``what`` is ``queue``, ``run``, or what happened to nodes, of which ``chips`` is the number.
    """

    job: str
    what: str
    start: float
    end: float
    chips: int
    leaves: int


_HOLDS: Final = frozenset(
    {"started", "resized", "moved", "replaced", "restarted", "shrunk", "delayed"}
)
_ENDS: Final = frozenset({"finished", "preempted", "requeued"})


class Recorder:
    """Is told what happens, and keeps slices. ``dropped`` is how many were too many."""

    def __init__(self, jobs: Sequence[FleetJob]) -> None:
        self.slices: list[Slice] = []
        self.dropped = 0
        self._names = [job.id for job in sorted(jobs, key=lambda job: job.submit)]
        self._open: dict[int, tuple[str, int, int, int]] = {}

    def __call__(self, now: int, event: str, job: Job | None, number: int) -> None:
        """Note one event."""
        if job is None:
            self._keep(Slice("", event, now / 1e6, now / 1e6, number, 0))
        elif event == "submitted":
            self._open[job.index] = ("queue", now, job.asked, 0)
        elif event in _HOLDS:
            self._close(job, now)
            leaves = len(job.held.leaves) or 1
            self._open[job.index] = ("run", now, number, leaves)
        elif event in _ENDS:
            self._close(job, now)
            if event != "finished":
                self._open[job.index] = ("queue", now, job.asked, 0)

    def finish(self, now: float) -> tuple[Slice, ...]:
        """Return all slices by time; what is still open ends ``now`` (s)."""
        for index, (what, start, chips, leaves) in self._open.items():
            self._keep(Slice(self._names[index], what, start / 1e6, now, chips, leaves))
        self._open = {}
        return tuple(sorted(self.slices, key=lambda each: (each.start, each.end, each.job)))

    def _close(self, job: Job, now: int) -> None:
        known = self._open.pop(job.index, None)
        if known is not None and now > known[1]:
            what, start, chips, leaves = known
            name = self._names[job.index]
            self._keep(Slice(name, what, start / 1e6, now / 1e6, chips, leaves))

    def _keep(self, one: Slice) -> None:
        if len(self.slices) < MOST:
            self.slices.append(one)
        else:
            self.dropped += 1
