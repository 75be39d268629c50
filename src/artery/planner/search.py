"""Look at every legal plan, price those that can be among the best, and keep the best.

Memory is computed for all: it says how many fit. Time is computed only where it can matter: a
lower bound of the step is cheap, and what it puts behind the best found so far is left out. The
plans returned are those that pricing every one would return.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from artery.core.arrays import Floats, Ints
from artery.core.plan import Plan
from artery.core.pricing import Pricer
from artery.core.profile import Profile
from artery.core.system import System
from artery.core.workload import Workload
from artery.planner.rank import penalties
from artery.planner.space import Space, enumerate_plans, thinned
from artery.step.evaluate import evaluate, least, needed
from artery.step.memory import fits
from artery.step.plans import Plans, distinct

CHUNK = 65536
"""Plans looked at once: large enough for numpy, small enough for the cache and for Ctrl-C."""

FIRST = 1024
"""Plans priced first, those with the smallest lower bounds: the best of them rules out most."""

SLACK = 1e-9
"""Share by which rounding may put a lower bound above its step."""

WITHIN, AT_LIMIT, BEYOND = 0, 1, 2
"""Excess: within the capacity, above it but at the limit, beyond."""


@dataclass(frozen=True, slots=True)
class Found:
    """The best plans, best first; how many legal plans were looked at, and how many fit.

    Plans at the limit count as fitting, but those predicted to exceed it come after all that do
    not. When nothing fits, ``plans`` are the ones that need the least memory. ``thinned``: the
    space was too large, and only a coarse grid of it was searched.
    """

    plans: tuple[Plan, ...]
    searched: int
    fitting: int
    thinned: bool = False


@dataclass(frozen=True, slots=True)
class _Costs:
    """What prices plans, of one search."""

    workload: Workload
    system: System
    profile: Profile
    pricer: Pricer

    def bytes(self, plans: Plans) -> Floats:
        """Bytes per chip."""
        return needed(
            self.workload, self.system, plans, profile=self.profile, pricer=self.pricer
        ).total

    def least(self, plans: Plans) -> Floats:
        """Seconds that the penalised step does not undercut; penalties only add."""
        return least(
            self.workload, self.system, plans, profile=self.profile, pricer=self.pricer
        ) * (1.0 - SLACK)

    def seconds(self, plans: Plans) -> Floats:
        """Penalised seconds of a step."""
        priced = evaluate(
            self.workload, self.system, plans, profile=self.profile, pricer=self.pricer
        )
        return priced.step * penalties(priced, self.system)


def search(
    workload: Workload,
    system: System,
    space: Space,
    *,
    profile: Profile,
    pricer: Pricer,
    top: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Found:
    """Return the ``top`` plans of the space by penalised step time, those that fit first."""
    plans = enumerate_plans(workload, system, space)
    coarse = thinned(workload, system, space)
    if not len(plans):
        return Found((), 0, 0, coarse)
    costs = _Costs(workload, system, profile, pricer)
    total = np.concatenate([costs.bytes(plans.take(index)) for index in _chunks(plans, progress)])
    excess = _excess(total, system.chip.memory.capacity)
    chosen: list[int] = []
    for kind in (WITHIN, AT_LIMIT):
        if len(chosen) < top:
            rows = np.flatnonzero(excess == kind)
            chosen += [int(i) for i in _fastest(costs, plans, rows, top - len(chosen))]
    if not chosen:
        chosen = [int(i) for i in np.argsort(total, kind="stable")[:top]]
    fitting = int(np.count_nonzero(excess < BEYOND))
    return Found(tuple(plans.row(i) for i in chosen), len(plans), fitting, coarse)


def _chunks(plans: Plans, progress: Callable[[int, int], None] | None) -> Iterator[Ints]:
    """The rows in pieces, each told to ``progress`` when it is done."""
    for start in range(0, len(plans), CHUNK):
        end = min(start + CHUNK, len(plans))
        yield np.arange(start, end)
        if progress is not None:
            progress(end, len(plans))


def _excess(total: Floats, capacity: float) -> NDArray[np.int64]:
    """How far each plan is over the capacity: ``WITHIN``, ``AT_LIMIT`` or ``BEYOND``."""
    over = np.where(total > capacity, AT_LIMIT, WITHIN)
    return np.where(fits(total, capacity) == 0, BEYOND, over)


def _bounds(costs: _Costs, plans: Plans) -> Floats:
    """The lower bound of each plan, computed once for those that differ in sharding only."""
    first, inverse = distinct(
        plans.tp, plans.pp, plans.vpp, plans.cp, plans.ep, plans.etp, plans.dp,
        plans.micro_batch, plans.recompute, plans.sequence_parallel,
    )  # fmt: skip
    return costs.least(plans.take(first))[inverse]


def _fastest(costs: _Costs, plans: Plans, rows: Ints, count: int) -> Ints:
    """The ``count`` fastest of the ``rows``, in order; of equals the first.

    Rows are priced from the smallest lower bound up, in ever larger pieces, until the bound of
    the next is above the last that is kept.
    """
    if not len(rows):
        return rows
    bounds = _bounds(costs, plans.take(rows))
    order = np.argsort(bounds, kind="stable")
    rows, bounds = rows[order], bounds[order]
    best, keys = rows[:0], bounds[:0]
    start, size = 0, max(FIRST, count)
    while start < len(rows) and (len(best) < count or bounds[start] <= keys[-1]):
        piece = rows[start : start + size]
        if len(best) == count:
            piece = piece[bounds[start : start + size] <= keys[-1]]
        best = np.concatenate([best, piece])
        keys = np.concatenate([keys, costs.seconds(plans.take(piece))])
        kept = np.lexsort((best, keys))[:count]
        best, keys = best[kept], keys[kept]
        start, size = start + size, min(2 * size, CHUNK)
    return best
