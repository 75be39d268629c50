"""What came of a run: how long jobs waited, what the chips did, how even it was."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from artery.cloud.policies import jain
from artery.core.arrays import Floats
from artery.simulator.fleet.accounts import Accounts

if TYPE_CHECKING:
    from artery.simulator.fleet.fleet import Fleet
    from artery.simulator.fleet.job import Job


@dataclass(frozen=True, slots=True)
class Outcome:
    """Arrays over the jobs that started (``queue``) or finished (``jct``), in seconds.

    Replicas that serve are no jobs here: ``service`` has what each waited for its start, and their
    work and chips count in what the chips did (``accounts``, ``work``, ``arriving``) alone.
    ``span`` is the time from the first submission to the end, ``chips`` the whole fleet.
    ``work`` is chip-seconds that finished and unfinished jobs got done, counted at the size that
    each asked for; ``arriving`` is the share of the chips' time until the last job's submission
    that had been done by then. ``fragmentation`` is the mean share of the free chips that an
    arriving job could not use, for their place alone. ``split`` is the share of jobs of several
    nodes that ever lay over more leaves than they needed.
    """

    jobs: int
    queue: Floats
    jct: Floats
    slowdown: Floats
    service: Floats
    finished: int
    unstarted: int
    span: float
    chips: int
    accounts: Accounts
    work: float
    arriving: float
    fragmentation: float
    split: float
    fairness: float
    restarts: int
    resizes: int
    preemptions: int
    passed: int
    lost_nodes: int
    digest: str

    @property
    def mean_queue(self) -> float:
        """Mean wait until the first start."""
        return float(self.queue.mean()) if len(self.queue) else 0.0

    @property
    def p90_queue(self) -> float:
        """What nine jobs of ten wait at most."""
        return float(np.quantile(self.queue, 0.9)) if len(self.queue) else 0.0

    @property
    def mean_jct(self) -> float:
        """Mean time from submission to the end."""
        return float(self.jct.mean()) if len(self.jct) else 0.0

    @property
    def utilisation(self) -> float:
        """Work done, at the size asked for, over all chips for all the time."""
        return self.work / (self.chips * self.span) if self.span else 0.0

    @property
    def allocated(self) -> float:
        """Share of all chip-time that jobs held."""
        return self.accounts.allocated / self.accounts.total if self.accounts.total else 0.0


def outcome(fleet: Fleet) -> Outcome:
    """Return what came of ``fleet``."""
    begun = [job for job in fleet.jobs if job.first_start >= 0]
    jobs = [job for job in fleet.jobs if not job.service]
    started = [job for job in begun if not job.service]
    serving = [job.first_start - job.submit for job in begun if job.service]
    ended = [job for job in started if job.done and job.size == 0 and not job.listed]
    queue = np.array([job.first_start - job.submit for job in started], dtype=np.float64) / 1e6
    jct = np.array([job.end - job.submit for job in ended], dtype=np.float64) / 1e6
    ran = np.array([job.work for job in ended], dtype=np.float64) / 1e6
    whole = [job for job in started if job.nodes > 1]
    return Outcome(
        jobs=len(jobs),
        queue=queue,
        jct=jct,
        slowdown=jct / ran if len(ran) else jct,
        service=np.array(serving, dtype=np.float64) / 1e6,
        finished=len(ended),
        unstarted=len(jobs) - len(started),
        span=fleet.clock / 1e6,
        chips=fleet.setting.nodes * fleet.setting.per_node,
        accounts=fleet.accounts,
        work=sum(job.done * job.asked for job in fleet.jobs) / 1e6,
        arriving=fleet.arriving,
        fragmentation=float(np.mean(fleet.unusable)) if fleet.unusable else 0.0,
        split=sum(job.wide for job in whole) / len(whole) if whole else 0.0,
        fairness=_fairness(fleet, started),
        restarts=sum(job.restarts for job in jobs),
        resizes=sum(job.resizes for job in jobs),
        preemptions=fleet.preemptions,
        passed=fleet.backed,
        lost_nodes=fleet.lost_nodes,
        digest=_digest(fleet),
    )


def _fairness(fleet: Fleet, started: Sequence[Job]) -> float:
    """Jain's index over tenants (or jobs, where none are named) of run time over time in all."""
    shares: dict[object, list[float]] = defaultdict(list)
    key: Callable[[int], object] = lambda index: fleet.tenants[index] or index  # noqa: E731
    for job in started:
        if job.end > job.submit:
            shares[key(job.index)].append(min(1.0, job.work / (job.end - job.submit)))
    return jain([sum(each) / len(each) for each in shares.values()])


def _digest(fleet: Fleet) -> str:
    """A fingerprint of when every job started and ended, and of how often it was interrupted."""
    told = "\n".join(f"{j.first_start} {j.end} {j.restarts} {j.resizes}" for j in fleet.jobs)
    return hashlib.sha256(told.encode()).hexdigest()[:16]
