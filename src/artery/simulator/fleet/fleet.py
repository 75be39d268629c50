"""``Fleet``: the clock, and what changes when a job begins, goes on, ends."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from math import inf
from random import Random
from typing import Any, Final

from artery.cloud.fleet_job import FleetJob
from artery.cloud.policies import Reservation, next_above
from artery.simulator.fleet.accounts import Accounts
from artery.simulator.fleet.cluster import Cluster
from artery.simulator.fleet.job import MICRO, Job, cycle_of
from artery.simulator.fleet.setting import Costs, Place, Setting
from artery.simulator.fleet.waiting import Waiting

Record = Callable[[int, str, Job | None, int], None]
"""Told the time, what happened, to which job, and a number that goes with it."""

Handler = Callable[["Fleet", int, Any, int], None]

FOREVER: Final = 1 << 62


class Fleet:
    """The state of one run. ``play`` (in :mod:`artery.simulator.fleet.play`) drives it."""

    __slots__ = (
        "_agenda", "_costs", "_order", "_speeds", "absent", "accounts", "arriving", "backed",
        "blocked_on", "changed", "clock", "cluster", "elastic", "ends", "finished", "jobs",
        "lost_nodes", "node_end", "over", "planned", "policy", "preemptions", "promise", "random",
        "record", "refused", "refused_size", "running", "setting", "surplus", "tenants",
        "tick_due", "unforeseen", "unusable", "waiting",
    )  # fmt: skip

    def __init__(
        self, setting: Setting, jobs: Iterable[FleetJob], record: Record | None = None
    ) -> None:
        self.setting, self.policy = setting, setting.policy
        self.cluster = Cluster(setting.nodes, setting.per_node, setting.leaf, setting.pod)
        # Of those that come at one moment the queue's order holds, though each is looked at alone.
        specs = sorted(jobs, key=lambda job: (job.submit, -job.priority))
        first = specs[0].submit if specs else 0.0
        self.jobs = [
            Job(index, spec, round((spec.submit - first) * MICRO), setting.per_node)
            for index, spec in enumerate(specs)
        ]
        self.tenants = [spec.tenant for spec in specs]
        self.waiting = Waiting()
        self.accounts = Accounts()
        self.random = Random(setting.seed)  # noqa: S311 - draws failures
        self.record = record
        self.clock = 0
        self.over = FOREVER if setting.until == inf else round(setting.until * MICRO)
        self.running: dict[int, Job] = {}
        self.elastic: dict[int, Job] = {}
        self.surplus = 0
        self.ends: list[tuple[int, int, int]] = []
        self.node_end: dict[int, int] = {}
        self.promise: Reservation | None = None
        self.blocked_on: Job | None = None
        self.unforeseen = self.changed = False
        self.refused = self.refused_size = -1
        self.tick_due = False
        self.lost_nodes = self.finished = self.backed = self.preemptions = 0
        self.planned: set[int] = set()
        self.absent: set[int] = set()
        self.unusable: list[float] = []
        self.arriving = 0.0
        self._agenda: list[tuple[int, int, Handler, Any, int]] = []
        self._order = 0
        self._speeds: dict[tuple[int, int, int, int, int], float] = {}
        self._costs: dict[tuple[int, int], Costs] = {}

    # -- the agenda

    def at(self, time: int, handler: Handler, what: Any = None, tag: int = 0) -> None:  # noqa: ANN401 - each handler's own
        """Have ``handler`` called at ``time`` with ``what`` and ``tag``."""
        self._order += 1
        heappush(self._agenda, (time, self._order, handler, what, tag))

    def next_time(self) -> int:
        """Return when the next thing on the agenda happens."""
        return self._agenda[0][0] if self._agenda else FOREVER

    def step(self) -> None:
        """Do the next thing on the agenda."""
        time, _, handler, what, tag = heappop(self._agenda)
        handler(self, time, what, tag)

    def advance(self, time: int) -> None:
        """Count what nobody held until ``time``, and go there."""
        span = time - self.clock
        if not span:
            return
        self.clock = time
        cluster, counts, per_node = self.cluster, self.accounts, self.setting.per_node
        free = cluster.free_chips
        if self.setting.spares:
            kept = min(cluster.free_nodes, self.setting.spares) * per_node
            counts.spare += kept * span
            free -= kept
        if self.waiting.count:
            counts.blocked += free * span
        else:
            counts.idle += free * span
        if cluster.down:
            planned, absent = len(self.planned), len(self.absent)
            counts.maintenance += planned * per_node * span
            counts.absent += absent * per_node * span
            counts.down += (len(cluster.down) - planned - absent) * per_node * span

    # -- what things cost

    def speed(self, job: Job, size: int, leaves: int, pods: int) -> float:
        """Return the speed of ``job`` on ``size`` chips over so many leaves and pods."""
        place = job.kind, job.asked, size, leaves, pods
        known = self._speeds.get(place)
        if known is None:
            known = self._speeds[place] = self.setting.speeds(self._few(Place(*place)))
        return known

    def _few(self, place: Place) -> Place:
        """Return a placement for ``place``: leaves and pods beyond the fewest in powers of two.

        There are few cases then, and the next that is worse stands for one in between.
        """
        nodes = -(-place.chips // self.setting.per_node)
        fewest = -(-nodes // self.setting.leaf)
        leaves = max(place.leaves, fewest)
        leaves = min(fewest << (-(-leaves // fewest) - 1).bit_length(), nodes)
        few_pods = -(-fewest // self.setting.pod)
        pods = max(place.pods, few_pods)
        pods = min(few_pods << (-(-pods // few_pods) - 1).bit_length(), leaves)
        return place._replace(leaves=leaves, pods=pods)

    def ideal(self, job: Job, size: int) -> float:
        """Return its speed on ``size`` chips, as close together as can be."""
        place = job.kind, job.asked, size, 0, 0
        known = self._speeds.get(place)
        return self.speed(job, size, 0, 0) if known is None else known

    def costs(self, job: Job, size: int) -> Costs:
        """Return what interruptions cost ``job`` on ``size`` chips."""
        key = job.kind, size
        known = self._costs.get(key)
        if known is None:
            known = self._costs[key] = self.setting.costs(*key)
        return known

    # -- jobs begin, pause, end

    def begin(self, job: Job, size: int, now: int, pause: float) -> None:
        """``job`` works on ``size`` chips, which it holds already, after ``pause`` seconds."""
        held = job.held
        job.size = size
        leaves = len(held.leaves) or 1
        pods = self.cluster.pods(held)
        fewest = -(-held.nodes // self.setting.leaf) or 1
        job.split = leaves > fewest
        job.speed = self.speed(job, size, leaves, pods)
        costs = self.costs(job, size)
        if costs.interval < inf:
            job.cycle, job.save = cycle_of(costs.interval, costs.save)
        job.since = now
        job.stall = 0
        job.ready = now + round(pause * MICRO)
        job.version += 1
        job.end = job.finish()
        self._promise_end(job, now)
        self.at(job.end, _finished, job, job.version)
        self.running[job.index] = job
        if len(job.sizes) > 1:
            self.elastic[job.index] = job
            job.larger = next_above(job.sizes, size)
            self.surplus += max(0, size - job.asked)

    def _promise_end(self, job: Job, now: int) -> None:
        """Note by when the scheduler believes that ``job`` ends."""
        if self.policy.estimates == "perfect":
            job.estimate = job.end
        else:
            share = 1.0 - job.done / job.work
            job.estimate = max(job.ready + round(job.limit * share / job.speed), now + 1)
        held = job.held
        if held.node >= 0:
            before = self.node_end.get(held.node, 0)
            self.node_end[held.node] = max(before, job.estimate)
        else:
            insort(self.ends, (job.estimate, job.index, held.nodes))

    def settle(self, job: Job, now: int, *, failed: bool = False, notice: int = 0) -> None:
        """Count the segment of ``job`` that ends ``now``; what it did is safe unless it failed."""
        counts, size = self.accounts, job.size
        span = now - job.since
        waited = min(max(job.ready - job.since, 0), span)
        stalled = min(job.stall, span - waited)
        worked = span - waited - stalled
        lost = job.lost(worked, notice) if failed else 0
        kept = worked - lost
        saving = kept * job.save // job.cycle if job.cycle else 0
        counts.useful += (kept - saving) * size
        if lost:
            counts.redone += lost * size
        if saving:
            counts.saving += saving * size
        if stalled:
            counts.stalled += stalled * size
        if waited:
            if job.wait == "resizing":
                counts.resizing += waited * size
            else:
                counts.restarting += waited * size
        held = job.held
        beside = held.nodes * self.setting.per_node - size if held.nodes else held.chips - size
        if beside:
            counts.unused += beside * span
        job.done += (kept - saving) * job.speed
        job.since = now

    def pause(self, job: Job, now: int, *, failed: bool = False, notice: int = 0) -> None:
        """End the segment of ``job``, which keeps what it holds."""
        self.settle(job, now, failed=failed, notice=notice)
        if now < job.estimate:
            self.unforeseen = True
        self._forget_end(job)
        del self.running[job.index]
        if job.index in self.elastic:
            del self.elastic[job.index]
            self.surplus -= max(0, job.size - job.asked)
        job.size = 0
        job.version += 1
        self.changed = True

    def release(self, job: Job) -> None:
        """``job``, which does not run, gives back what it holds."""
        self.cluster.give_back(job.index, job.held)

    def wait_again(self, job: Job, now: int, event: str) -> None:
        """``job`` lost its nodes and waits in its old place."""
        self.release(job)
        job.patience = -1
        self.waiting.add(job)
        self.unforeseen = True
        self.told(now, event, job)

    def delay(self, job: Job, span: int) -> None:
        """``job`` stands still for ``span`` microseconds and keeps what it has."""
        self._forget_end(job)
        job.stall += span
        job.end += span
        job.version += 1
        self._promise_end(job, self.clock)
        self.at(job.end, _finished, job, job.version)
        self.unforeseen = True

    def _forget_end(self, job: Job) -> None:
        """``job`` no longer ends when it was believed to."""
        held = job.held
        if held.node < 0:
            del self.ends[bisect_left(self.ends, (job.estimate, job.index, held.nodes))]
            return
        others = [self.jobs[each] for each in self.cluster.tenants[held.node]]
        left = [each.estimate for each in others if each is not job and each.size]
        if left:
            self.node_end[held.node] = max(left)
        else:
            self.node_end.pop(held.node, None)

    def told(self, now: int, event: str, job: Job | None, number: int = 0) -> None:
        """Note what happened, if anybody asked."""
        if self.record is not None:
            self.record(now, event, job, number)


def _finished(fleet: Fleet, now: int, job: Job, version: int) -> None:
    """The end of a job, unless something came between."""
    if version != job.version:
        return
    fleet.pause(job, now)
    fleet.told(now, "finished", job, job.held.nodes)
    fleet.release(job)
    job.end = now
    fleet.finished += 1
