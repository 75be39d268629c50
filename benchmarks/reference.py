"""What this machine can do: a random gather, timed in the same run as what is compared with it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import process_time

import numpy as np

REPEATS = 5
"""Runs; the fastest counts, as everything else that runs only adds."""
ENTRIES, TABLE = 8 * 2**20, 2 * 2**20
"""Doubles gathered, and doubles in the table: 16 MB, as the state of a million links."""


def fastest(work: Callable[[], object]) -> float:
    """Return the least CPU seconds of ``work``."""
    return min(_seconds(work) for _ in range(REPEATS))


def gather() -> float:
    """Return CPU nanoseconds per entry of a random gather."""
    random = np.random.default_rng(0)
    table, place = random.random(TABLE), random.integers(0, TABLE, ENTRIES)
    result = np.empty(ENTRIES)
    return fastest(lambda: table.take(place, out=result, mode="clip")) / ENTRIES * 1e9


def peak_memory() -> float:
    """Return the most memory that this process has had, in bytes (nan where nobody knows)."""
    try:
        from resource import RUSAGE_SELF, getrusage
    except ImportError:
        return float("nan")
    peak = getrusage(RUSAGE_SELF).ru_maxrss
    return float(peak if sys.platform == "darwin" else peak * 1024)


def _seconds(work: Callable[[], object]) -> float:
    start = process_time()
    work()
    return process_time() - start
