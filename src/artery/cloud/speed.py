"""The speed of a data-parallel job on whatever chips it gets, from a few measured steps.

Four numbers a job: c0 and c1, the step of one chip on ``b`` samples (c0 + c1·b); w, the seconds to
move its gradients once over a link; k, the share of a step behind which the exchange hides. One
exchange moves 2·(n-1)/n of the gradients (ring all-reduce; Patarasuk and Yuan, JPDC 69(2), 2009):

    T = c0 + c1·b + max(w·2·(n-1)/n·slow - k·(c0 + c1·b), shown·w·2·(n-1)/n·slow)

``slow`` is how much slower the links of the placement are, and belongs to the cluster: 1 where
all links are alike. The shape is Pollux's (OSDI 2021, section 3.2) with fewer numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

SHOWN: Final = 0.02
"""Assumed: a fiftieth of an exchange always shows; the last bucket has no work to hide behind."""

PAIR: Final = 2.0
"""Two nodes exchange both ways between one pair of hosts, more nodes one way around a ring: the
same volume loads the pair twice."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Where jobs run, as arrays of one shape: nodes, chips in all, most chips on one node."""

    nodes: NDArray[np.float64]
    chips: NDArray[np.float64]
    most: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Links:
    """How a cluster's links compare with one host's way out of its node.

    ``inside`` is the time of an exchange inside a node over that between nodes; ``sharing`` what
    each further chip of a node adds to it. ``None`` for ``inside`` says that all links are alike.
    """

    inside: float | None = None
    sharing: float = 0.0

    def slow(self, where: Placement) -> NDArray[np.float64]:
        """Return how much slower than one plain link each placement exchanges."""
        if self.inside is None:
            return np.ones_like(where.chips)
        pair = np.where(where.nodes == 2, PAIR, 1.0)
        across = pair + self.sharing * (where.most - 1.0)
        return np.where(where.nodes == 1, self.inside, across)


@dataclass(frozen=True, slots=True)
class JobSpeed:
    """The four numbers of a job: seconds, seconds per sample, seconds, a share of 1."""

    fixed: float
    per_sample: float
    exchange: float
    hidden: float

    def step(self, where: Placement, batch: ArrayLike, links: Links) -> NDArray[np.float64]:
        """Return the seconds of a step on each placement with ``batch`` samples per chip."""
        compute = self.fixed + self.per_sample * np.asarray(batch, dtype=np.float64)
        volume = 2.0 * (where.chips - 1.0) / where.chips
        moved = self.exchange * volume * links.slow(where)
        shown: NDArray[np.float64] = np.maximum(moved - self.hidden * compute, SHOWN * moved)
        return compute + shown
