"""One job played failure by failure: what the closed form of ``cloud.goodput`` is checked against.

It shares no formula with it: work, saves, failures and restarts happen one after another.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from random import Random

from artery.cloud.goodput import Job, restart_of, tier_of
from artery.core.failure import STOPPING


def play(job: Job, intervals: Sequence[float], failures: int, seed: int) -> float:
    """Return useful over elapsed time after ``failures`` failures of ``job``.

    A farther tier is saved to at every so many saves on the nearest, as near to its interval as
    whole numbers come. Copies are safe when they are taken.
    """
    random = Random(seed)  # noqa: S311 (a simulation)
    every = [max(1, round(tau / intervals[0])) for tau in intervals]
    lasting = [_length(job, intervals[0], every, upto) for upto in range(every[-1] + 1)]
    clock = useful = 0.0
    done = 0  # stretches of work since the last copy on the farthest tier
    for _ in range(failures):
        until = random.expovariate(1.0 / job.failures.mtbf)
        left = lasting[-1] - lasting[done]
        rounds, rest = divmod(until - left, lasting[-1]) if until >= left else (-1.0, until)
        reached = _reached(lasting, done if rounds < 0 else 0, rest)
        tier, down = _down(random, job)
        saved = reached - reached % every[tier]
        useful += ((int(rounds) + 1) * every[-1] + saved - done) * intervals[0]
        done = saved
        clock += until + down
    return useful / clock


def _length(job: Job, near: float, every: Sequence[int], segments: int) -> float:
    """Seconds of ``segments`` stretches of work with the saves on every tier that fall due."""
    saves = sum(tier.save * (segments // n) for tier, n in zip(job.tiers, every, strict=True))
    return segments * near + saves


def _reached(lasting: Sequence[float], done: int, passed: float) -> int:
    """Segments finished ``passed`` seconds after ``done`` of them."""
    return bisect_left(lasting, lasting[done] + passed) - 1 if passed > 0.0 else done


def _down(random: Random, job: Job) -> tuple[int, float]:
    """The farthest tier needed, and seconds until a restart gets through without a failure."""
    rates = [job.failures.rate((severity,)) for severity in STOPPING]
    tier, passed = 0, 0.0
    while True:
        severity = random.choices(STOPPING, rates)[0]
        tier = max(tier, job.tiers.index(tier_of(job, severity)))
        restart = restart_of(job, severity)
        until = random.expovariate(1.0 / job.failures.mtbf)
        if until >= restart:
            return tier, passed + restart
        passed += until
