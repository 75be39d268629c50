"""One job played failure by failure: what the closed form of ``cloud.goodput`` is checked against.

It shares no formula with it: work, saves, failures and restarts happen one after another.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from random import Random

from artery.cloud.goodput import Job, restart_of, tier_of
from artery.core.failure import STOPPING


def play(job: Job, intervals: Sequence[float], failures: int, seed: int) -> float:
    """Return useful over elapsed time after ``failures`` failures of ``job``.

    A farther tier is saved to at every so many saves on the nearest, as near to its interval as
    whole numbers come. A failure within ``unsafe`` seconds of a save goes back one save more.
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
        begun = done if rounds < 0 else 0
        place = lasting[begun] + rest
        reached = bisect_right(lasting, place) - 1
        tier, down = _down(random, job)
        saved = reached - reached % every[tier]
        fresh = rounds >= 0 or saved > begun
        if fresh and place - lasting[saved] < job.tiers[tier].unsafe:
            saved = max(saved - every[tier], begun if rounds < 0 else -every[-1])
        useful += ((int(rounds) + 1) * every[-1] + saved - done) * intervals[0]
        done = saved % every[-1]
        clock += until + down
    return useful / clock


def _length(job: Job, near: float, every: Sequence[int], segments: int) -> float:
    """Seconds of ``segments`` stretches of work with the saves on every tier that fall due."""
    often = [*(segments // n for n in every), 0]
    saves = sum(t.save * (often[i] - often[i + 1]) for i, t in enumerate(job.tiers))
    return segments * near + saves


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
