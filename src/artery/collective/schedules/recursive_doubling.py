"""Recursive doubling: everybody exchanges everything, with partners ever farther away.

Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
IJHPCA 2005, section 4.5. Fewest steps; each carries the whole size, so it is for small ones.
"""

from __future__ import annotations

import numpy as np

from artery.collective.schedules.fold import Fold
from artery.collective.schedules.registry import builds
from artery.collective.schedules.transfers import one_after_another, transfers
from artery.core.pricing import Collective
from artery.core.schedule import Schedule, Step


@builds("recursive_doubling", "all_reduce")
def recursive_doubling(collective: Collective, ranks: int) -> Schedule:
    """Return an all-reduce in log2 p steps over the largest power of two p.

    If there are more ranks, each of the rest first hands its data to a neighbour and gets the
    result from it at last: two more steps.
    """
    fold = Fold.of(ranks)
    core = np.arange(fold.core)

    def exchange(k: int) -> Step:
        return transfers(fold.rank(core), fold.rank(core ^ (1 << k)), 0, reduce=True)

    step, steps = one_after_another(*fold.around((exchange, fold.bits), chunks=1))
    return Schedule(
        name="recursive_doubling",
        collective=collective,
        ranks=ranks,
        chunks=1,
        steps=steps,
        step=step,
        wire=fold.bits + (fold.rest > 0),
        source="Thakur, Rabenseifner and Gropp, IJHPCA 2005",
    )
