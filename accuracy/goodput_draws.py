"""One job drawn at random, all failures at once: a third way to the share of time that trains.

Where :mod:`accuracy.goodput_play` walks through one failure after another, this draws every time
between failures and every restart as an array, and counts what was saved in each. One tier only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from artery.cloud.goodput import Job, restart_of

Floats = NDArray[np.float64]


def drawn(job: Job, interval: float, failures: int, seed: int) -> float:
    """Return useful over elapsed time over ``failures`` failures of a ``job`` with one tier.

    Raises ``ValueError`` for a job with more tiers.
    """
    if len(job.tiers) != 1:
        raise ValueError(f"one tier only, not {len(job.tiers)}")
    (tier,) = job.tiers
    random = np.random.default_rng(seed)
    up = random.exponential(job.failures.mtbf, failures)
    saves, rest = np.divmod(up, interval + tier.save)
    saves -= (rest < tier.unsafe) & (saves > 0)
    return float(interval * saves.sum() / (up.sum() + _down(job, failures, random).sum()))


def _down(job: Job, failures: int, random: np.random.Generator) -> Floats:
    """Seconds of each restart: those that a new failure cut short, and the one that got through."""
    restart = restart_of(job, "node")
    down = np.zeros(failures)
    waiting = np.arange(failures)
    while waiting.size:
        until = random.exponential(job.failures.mtbf, waiting.size)
        down[waiting] += np.minimum(until, restart)
        waiting = waiting[until < restart]
    return down
