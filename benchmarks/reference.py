"""What this machine can do: a random gather, timed in the same run as what is compared with it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from time import process_time
from typing import Any

import numpy as np

from artery.native import core

REPEATS = 5
"""Runs; the fastest counts, as everything else that runs only adds."""
ENTRIES, TABLE = 8 * 2**20, 2 * 2**20
"""Doubles gathered, and doubles in the table: 16 MB, as the state of a million links."""


def print_case(name: str, cases: Mapping[str, Callable[[], Any]]) -> None:
    """Print what one of ``cases`` measures, a dataclass, as JSON: for a process of its own."""
    if name not in cases:
        raise SystemExit(f"a case is one of {', '.join(cases)}; make bench runs them all")
    if core().library is None:
        raise SystemExit(f"the loops are not compiled: {core().detail}")
    print(json.dumps(asdict(cases[name]())))


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
