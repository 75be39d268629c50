"""PAT, parallel aggregated trees: Bruck's steps in reverse order, with bounded buffers.

Jeaugey, "PAT: a new algorithm for all-gather and reduce-scatter operations at scale", 2025
(arXiv 2506.20252); in NCCL since 2.23, for one rank per node. Far partners get little data and
near ones much, the other way round than with Bruck.
"""

from __future__ import annotations

import numpy as np

from artery.collective.schedules.arguments import positive
from artery.collective.schedules.registry import builds
from artery.collective.schedules.transfers import backwards, transfers
from artery.core.pricing import Collective
from artery.core.schedule import Schedule, Step


@builds("pat", "all_gather", "reduce_scatter")
def pat(collective: Collective, ranks: int, *, buffers: int | None = None) -> Schedule:
    """Return the schedule: every block runs down a binomial tree of its own, all in step.

    In the step of bit b a rank sends to the one 2^b after it all blocks whose distance from
    their owner is a multiple of 2^(b+1), highest bit first: log2 n steps, rounded up, (n-1)/n of
    the size. With ``buffers`` a message carries at most so many blocks and a step that has
    more becomes several.
    """
    if buffers is not None:
        positive(buffers=buffers)
    rounds = []
    for bit in reversed(range((ranks - 1).bit_length())):
        offsets = np.arange(0, ranks - (1 << bit), 2 << bit)
        width = buffers or len(offsets)
        rounds += [(bit, offsets[at : at + width]) for at in range(0, len(offsets), width)]
    rank = np.arange(ranks)[:, None]

    def step(k: int) -> Step:
        bit, offsets = rounds[k]
        return transfers(rank, (rank + (1 << bit)) % ranks, (rank - offsets) % ranks)

    gathers = collective == "all_gather"
    return Schedule(
        name="pat",
        collective=collective,
        ranks=ranks,
        chunks=ranks,
        steps=len(rounds),
        step=step if gathers else backwards(step, len(rounds)),
        wire=ranks - 1,
        source="Jeaugey, arXiv 2506.20252",
    )
