"""What breaks: failures drawn from the model, planned work, capacity that a provider takes back.

A job that loses a node starts again from its last checkpoint on a free or spare node in the lost
one's place; if there is none, an elastic job goes on with fewer replicas, and a rigid one waits.
What it does is looked up in what the recovery state machine does (:mod:`.recovering`).
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import Literal

from artery.cloud.policies import largest_fitting
from artery.core.failure import FailureClass
from artery.simulator.fleet.entering import room_for
from artery.simulator.fleet.fleet import Fleet
from artery.simulator.fleet.job import MICRO, Job
from artery.simulator.fleet.recovering import decide
from artery.simulator.fleet.setting import Maintenance


class Failures:
    """Draws failures: when the next one is, of which class, on which node."""

    __slots__ = ("_classes", "_sums", "rate")

    def __init__(self, fleet: Fleet) -> None:
        model = fleet.setting.failures
        classes = () if model is None else model.classes
        # What a user does wrong is in the trace's own end states.
        self._classes = [each for each in classes if each.part != "job" and each.per_second > 0]
        self._sums = list(accumulate(each.per_second for each in self._classes))
        self.rate = self._sums[-1] if self._sums else 0.0

    def plan(self, fleet: Fleet, now: int) -> None:
        """Put the next failure on the agenda."""
        if self.rate > 0.0:
            gap = fleet.random.expovariate(self.rate)
            fleet.at(now + round(gap * MICRO), self._strike)

    def _strike(self, fleet: Fleet, now: int, _: object, __: int) -> None:
        drawn = fleet.random.random() * self.rate
        kind = self._classes[min(bisect_right(self._sums, drawn), len(self._classes) - 1)]
        strike(fleet, kind, int(fleet.random.random() * fleet.setting.nodes), now)
        self.plan(fleet, now)


def strike(fleet: Fleet, kind: FailureClass, node: int, now: int) -> None:
    """Let ``kind`` happen to ``node`` (or to all behind its leaf switch)."""
    if node in fleet.cluster.down:
        return
    fleet.told(now, f"failure:{kind.name}", None, node)
    severity = kind.severity
    if severity in ("stall", "slow"):
        share = 1.0 if severity == "stall" else 1.0 - 1.0 / kind.slowdown
        for index in fleet.cluster.holders(node):
            _stall(fleet, fleet.jobs[index], round(kind.duration * share * MICRO), now)
    elif severity == "process":
        holders = fleet.cluster.holders(node)
        if holders:
            which = holders[int(fleet.random.random() * len(holders))]
            _begin_again(fleet, fleet.jobs[which], now)
    elif severity == "domain":
        leaf = node // fleet.cluster.leaf * fleet.cluster.leaf
        behind = range(leaf, min(leaf + fleet.cluster.leaf, fleet.setting.nodes))
        _lose(fleet, [each for each in behind if each not in fleet.cluster.down], now)
    else:
        notice = round(kind.duration * MICRO) if severity == "silent" else 0
        _lose(fleet, [node], now, notice=notice)


def _stall(fleet: Fleet, job: Job, span: int, now: int) -> None:
    if now >= job.ready:
        fleet.delay(job, span)


def _begin_again(fleet: Fleet, job: Job, now: int) -> None:
    """A process died: the job starts again where it is."""
    size = job.size
    decided = decide("process", replaced=False, elastic=fleet.policy.elastic)
    fleet.pause(job, now, failed=decided.back)
    job.restarts += 1
    job.wait = "restarting"
    fleet.begin(job, size, now, fleet.costs(job, size).process)
    fleet.told(now, "restarted", job, size)


def _lose(fleet: Fleet, nodes: list[int], now: int, *, notice: int = 0) -> None:
    """``nodes`` are gone without warning, until they are repaired."""
    fleet.lost_nodes += len(nodes)
    take_out(fleet, nodes, now, "node", notice=notice)
    for node in nodes:
        fleet.at(now + round(fleet.setting.repair * MICRO), _repaired, None, node)


def _repaired(fleet: Fleet, now: int, _: object, node: int) -> None:
    if node in fleet.cluster.down and node not in fleet.absent and node not in fleet.planned:
        fleet.cluster.regain(node)
        fleet.changed = fleet.unforeseen = True
        fleet.told(now, "repaired", None, node)


def take_out(
    fleet: Fleet, nodes: list[int], now: int, what: Literal["node", "leaving"], *, notice: int = 0
) -> None:
    """Take ``nodes`` out; their jobs go on elsewhere, or smaller, or wait.

    ``node``: lost without warning, so that work since the last checkpoint is lost. ``leaving``:
    told to go. ``notice`` microseconds passed before anybody knew.
    """
    hit: dict[int, list[int]] = {}
    for node in nodes:
        for index in fleet.cluster.holders(node):
            hit.setdefault(index, []).append(node)
    sizes: dict[int, int] = {}
    back = decide(what, replaced=True, elastic=fleet.policy.elastic).back
    for index, gone in hit.items():
        job = fleet.jobs[index]
        sizes[index] = job.size
        fleet.pause(job, now, failed=back, notice=notice)
        job.restarts += 1
        if job.held.node >= 0:
            fleet.release(job)
        else:
            for node in gone:
                fleet.cluster.drop(index, job.held, node)
    for node in nodes:
        if node not in fleet.cluster.down:
            fleet.cluster.lose(node)
    for index, size in sizes.items():
        _recover(fleet, fleet.jobs[index], size, now, what)
    fleet.changed = fleet.unforeseen = True


def _recover(fleet: Fleet, job: Job, size: int, now: int, what: Literal["node", "leaving"]) -> None:
    """Give ``job``, which had ``size`` chips, others for those that it lost, or fewer."""
    cluster, per_node = fleet.cluster, fleet.setting.per_node
    room = room_for(fleet, size, 0) if size < per_node else None
    missing = max(-(-size // per_node) - job.held.nodes, 0)
    left = (job.held.nodes + max(cluster.free_nodes - fleet.setting.spares, 0)) * per_node
    fewer = largest_fitting(job.sizes, size - 1, left) if size > per_node else 0
    decided = decide(
        what,
        replaced=room is not None if size < per_node else missing <= cluster.free_nodes,
        elastic=fleet.policy.elastic and fewer >= per_node,
    )
    job.wait = "restarting"
    if decided.nodes == "none":
        fleet.wait_again(job, now, "requeued")
    elif decided.nodes == "fewer":
        _go_on(fleet, job, fewer, now)
    else:
        if room is not None:
            cluster.take_chips(job.index, size, job.held, room.node)
        else:
            cluster.take(job.index, cluster.more(job.held, missing), job.held)
        fleet.begin(job, size, now, fleet.costs(job, size).node)
        fleet.told(now, "replaced", job, size)


def _go_on(fleet: Fleet, job: Job, size: int, now: int) -> None:
    """Go on with ``size`` chips: fewer than before."""
    held, nodes = job.held, -(-size // fleet.setting.per_node)
    if held.nodes > nodes:
        fleet.cluster.give_some(job.index, held, held.nodes - nodes)
    elif held.nodes < nodes:
        fleet.cluster.take(job.index, fleet.cluster.more(held, nodes - held.nodes), held)
    job.resizes += 1
    fleet.begin(job, size, now, fleet.costs(job, size).process)
    fleet.told(now, "shrunk", job, size)


# -- planned work and spot capacity


def plan_maintenance(fleet: Fleet) -> None:
    """Put all planned work on the agenda."""
    for each in fleet.setting.maintenance:
        fleet.at(round(each.start * MICRO), _drain, each)


def _drain(fleet: Fleet, now: int, work: Maintenance, _: int) -> None:
    """Move jobs off the nodes, with notice, and take these out."""
    last = min(work.last, fleet.setting.nodes - 1)
    nodes = [n for n in range(work.first, last + 1) if n not in fleet.cluster.down]
    take_out(fleet, nodes, now, "leaving")
    fleet.planned.update(nodes)
    fleet.told(now, "maintenance", None, len(nodes))
    fleet.at(now + round(work.duration * MICRO), _drained, nodes)


def _drained(fleet: Fleet, now: int, nodes: list[int], _: int) -> None:
    for node in nodes:
        fleet.planned.discard(node)
        _repaired(fleet, now, None, node)


def plan_capacity(fleet: Fleet) -> None:
    """Put every change of the granted nodes on the agenda."""
    for time, nodes in fleet.setting.capacity:
        fleet.at(round(time * MICRO), _granted, None, nodes)


def _granted(fleet: Fleet, now: int, _: object, nodes: int) -> None:
    """A provider grants ``nodes`` now: some go without warning, or come back."""
    there = [n for n in range(fleet.setting.nodes) if n not in fleet.absent]
    if nodes < len(there):
        gone = sorted(fleet.random.sample(there, len(there) - nodes))
        up = [node for node in gone if node not in fleet.cluster.down]
        fleet.lost_nodes += len(gone) if now else 0
        take_out(fleet, up, now, "node")
        fleet.absent.update(gone)
    else:
        for node in sorted(fleet.absent)[: nodes - len(there)]:
            fleet.absent.discard(node)
            _repaired(fleet, now, None, node)
    fleet.told(now, "granted", None, nodes)
