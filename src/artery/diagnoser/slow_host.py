"""Which node is in the slow runs and in no fast one, of several runs over subsets of nodes."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median
from typing import Final

from artery.diagnoser.case import Curve

SLOW: Final = 0.7
"""Assumed: share of the median below which a run counts as slow; runs differ by less."""


def slow_host(curves: Iterable[Curve]) -> str | None:
    """Return the one host that every slow run has and no other run; ``None`` if there is none.

    Runs count that name their hosts, of the collective, ranks and largest size that most have;
    there must be three, and a slow one among them.
    """
    groups: dict[tuple[object, ...], list[Curve]] = {}
    for curve in curves:
        if curve.hosts:
            key = (curve.collective, curve.ranks, curve.last.size)
            groups.setdefault(key, []).append(curve)
    runs = max(groups.values(), key=len, default=[])
    if len(runs) < 3:
        return None
    usual = median(run.last.busbw for run in runs)
    slow = [run for run in runs if run.last.busbw < SLOW * usual]
    fast = {host for run in runs if run not in slow for host in run.hosts}
    if not slow:
        return None
    suspects = set.intersection(*(set(run.hosts) for run in slow)) - fast
    return suspects.pop() if len(suspects) == 1 else None
