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
from artery.planner.space import Space, enumerate_plans
from artery.step.evaluate import Evaluation, evaluate
from artery.step.plans import Plans

CHUNK = 65536
"""Plans priced at once: large enough for numpy, small enough for the cache and for Ctrl-C."""


@dataclass(frozen=True, slots=True)
class Found:
    """The best plans, best first; how many legal plans were priced, and how many fit.

    When nothing fits, ``plans`` are the ones that need the least memory.
    """

    plans: tuple[Plan, ...]
    searched: int
    fitting: int


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
        fitting += int(np.count_nonzero(priced.memory.total <= system.chip.memory.capacity))
        best = _best(priced, system, top)
        rows.append((index[best[0]], best[1], best[2]))
        if progress is not None:
            progress(int(index[-1]) + 1, len(plans))
    return Found(_collect(plans, rows, top), len(plans), fitting)


def _best(
    priced: Evaluation, system: System, top: int
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Index, unfitness and key of the best plans of one chunk."""
    fits = priced.memory.total <= system.chip.memory.capacity
    key = np.where(fits, priced.step * penalties(priced, system), priced.memory.total)
    order = np.lexsort((key, ~fits))[:top]
    return order, (~fits[order]).astype(np.float64), key[order]


def _collect(
    plans: Plans,
    rows: list[tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]],
    top: int,
) -> tuple[Plan, ...]:
    """The best over all chunks."""
    if not rows:
        return ()
    index = np.concatenate([row[0] for row in rows])
    unfit = np.concatenate([row[1] for row in rows])
    key = np.concatenate([row[2] for row in rows])
    order = np.lexsort((key, unfit))
    chosen = index[order]
    if not unfit[order[0]]:
        chosen = chosen[unfit[order] == 0]
    return tuple(plans.row(int(i)) for i in chosen[:top])
