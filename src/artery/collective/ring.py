"""Rings: every chip passes chunks to the next one.

Patarasu and Yuan, "Bandwidth optimal all-reduce algorithms", JPDC 2009. NCCL builds the ring so
that it enters and leaves a node once and runs one ring per network card, so that the edge
between two nodes carries the bytes of one chip over all cards of the node.
"""

from __future__ import annotations

import numpy as np

from artery.collective.groups import Groups
from artery.collective.work import Work
from artery.core.arrays import Floats
from artery.core.pricing import Collective


def ring(groups: Groups, collective: Collective) -> Work:
    """Return a ring's work.

    All-reduce: 2(n-1) steps, 2(n-1)/n of the size over every edge. All-gather and
    reduce-scatter: n-1 steps, (n-1)/n. Broadcast and reduce are a pipelined chain: n-1 steps,
    the whole size over every edge. Of each round of n-1 steps, k-1 are between k nodes.
    """
    n, k = groups.ranks, groups.nodes
    rounds = 2.0 if collective == "all_reduce" else 1.0
    share = np.where(n > 1, 1.0, 0.0) if _is_chain(collective) else rounds * (n - 1) / n
    steps, outer = rounds * (n - 1), rounds * (k - 1)
    return _along(groups, steps, outer, share, chain=_is_chain(collective))


def _is_chain(collective: Collective) -> bool:
    return collective in {"broadcast", "reduce"}


def _along(
    groups: Groups, steps: Floats, outer_steps: Floats, share: Floats, *, chain: bool
) -> Work:
    """Return the work of a ring whose every edge carries ``share`` of the size.

    A chain is full when a piece has passed all its edges but one, of the slower kind.
    """
    outer = np.where(groups.nodes > 1, share, 0.0)
    inner = np.where(groups.fullest > 1, share, 0.0)
    crosses = groups.nodes > 1
    between = np.maximum(outer_steps - crosses, 0.0)
    inside = np.maximum(steps - outer_steps - ~crosses, 0.0)
    return Work(
        inner_steps=steps - outer_steps,
        outer_steps=outer_steps,
        inner_bytes=inner,
        outer_bytes=outer,
        inner_seconds=inner / groups.inner_rate,
        outer_seconds=outer / groups.node_rate,
        inner_fill=inside / groups.inner_rate if chain else 0.0,
        outer_fill=between / groups.node_rate if chain else 0.0,
    )
