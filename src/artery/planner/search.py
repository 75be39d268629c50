"""Price every legal plan in chunks and keep the best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from artery.core.plan import Plan
from artery.core.pricing import Pricer
from artery.core.profile import Profile
from artery.core.system import System
from artery.core.workload import Workload
from artery.planner.rank import penalties
from artery.planner.space import Space, enumerate_plans, thinned
from artery.step.evaluate import Evaluation, evaluate
from artery.step.plans import Plans

CHUNK = 65536
"""Plans priced at once: large enough for numpy, small enough for the cache and for Ctrl-C."""


@dataclass(frozen=True, slots=True)
class Found:
    """The best plans, best first; how many legal plans were priced, and how many fit.

    Plans at the limit count as fitting, but those predicted to exceed it come after all that do
    not. When nothing fits, ``plans`` are the ones that need the least memory. ``thinned``: the
    space was too large, and only a coarse grid of it was searched.
    """

    plans: tuple[Plan, ...]
    searched: int
    fitting: int
    thinned: bool = False


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
    rows: list[tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]] = []
    fitting = 0
    for start in range(0, len(plans), CHUNK):
        index = np.arange(start, min(start + CHUNK, len(plans)))
        priced = evaluate(workload, system, plans.take(index), profile=profile, pricer=pricer)
        fitting += int(np.count_nonzero(priced.fits > 0))
        best = _best(priced, system, top)
        rows.append((index[best[0]], best[1], best[2]))
        if progress is not None:
            progress(int(index[-1]) + 1, len(plans))
    coarse = thinned(workload, system, space)
    return Found(_collect(plans, rows, top), len(plans), fitting, coarse)


def _best(
    priced: Evaluation, system: System, top: int
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Index, excess and key of the best plans of one chunk.

    Excess is 0 within the capacity, 1 above it but at the limit, 2 beyond.
    """
    over = priced.memory.total > system.chip.memory.capacity
    excess = np.where(priced.fits == 0, 2.0, np.where(over, 1.0, 0.0))
    key = np.where(excess < 2, priced.step * penalties(priced, system), priced.memory.total)
    order = np.lexsort((key, excess))[:top]
    return order, excess[order], key[order]


def _collect(
    plans: Plans,
    rows: list[tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]],
    top: int,
) -> tuple[Plan, ...]:
    """The best over all chunks."""
    if not rows:
        return ()
    index = np.concatenate([row[0] for row in rows])
    excess = np.concatenate([row[1] for row in rows])
    key = np.concatenate([row[2] for row in rows])
    order = np.lexsort((key, excess))
    chosen = index[order]
    if excess[order[0]] < 2:
        chosen = chosen[excess[order] < 2]
    return tuple(plans.row(int(i)) for i in chosen[:top])
