"""Rings, one per channel: every rank passes chunks to the next one.

Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations",
JPDC 2009. Several rings in parallel are what NCCL calls channels.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from artery.collective.schedules.arguments import positive, rooted
from artery.collective.schedules.registry import builds
from artery.collective.schedules.transfers import (
    Steps,
    backwards,
    one_after_another,
    transfers,
)
from artery.core.arrays import Ints
from artery.core.pricing import Collective
from artery.core.schedule import Pipe, Schedule, Step
from artery.errors import InputError, Problem

SOURCE = "Patarasuk and Yuan, JPDC 2009"


@builds("ring", "all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce")
def ring(
    collective: Collective,
    ranks: int,
    *,
    channels: int = 1,
    per_node: int = 1,
    slices: int = 1,
    root: int = 0,
    orders: Sequence[Sequence[int]] | None = None,
) -> Schedule:
    """Return the schedule of ``channels`` rings, each with an equal share of the buffer.

    ``orders`` gives the rings; otherwise they run through nodes of ``per_node`` ranks one node
    after the other (see :func:`ring_orders`). All-gather: n-1 steps, in each of which a rank
    passes on one block; reduce-scatter is the same backwards, all-reduce both: 2(n-1) steps of
    1/n of the size. Broadcast and reduce send ``slices`` slices down a chain, one behind the
    other: n - 2 + slices steps, the whole size over every edge.
    """
    positive(channels=channels, per_node=per_node, slices=slices)
    rooted(root, ranks)
    rings = ring_orders(ranks, channels, per_node) if orders is None else _given(orders, ranks)
    if collective in {"broadcast", "reduce"}:
        return _chain(collective, rings, slices, root)
    gather, scatter = _gather(rings), backwards(_gather(rings[:, ::-1]), ranks - 1)
    step, steps = {
        "all_gather": (gather, ranks - 1),
        "reduce_scatter": (scatter, ranks - 1),
        "all_reduce": one_after_another((scatter, ranks - 1), (gather, ranks - 1)),
    }[collective]
    return Schedule(
        name="ring",
        collective=collective,
        ranks=ranks,
        chunks=ranks * len(rings),
        steps=steps,
        step=step,
        wire=steps * len(rings),
        pipes=_pipes(rings, steps / ranks, steps),
        source=SOURCE,
        ports=len(rings),
    )


def ring_orders(ranks: int, channels: int, per_node: int) -> Ints:
    """Return the ranks in ring order, one row per channel.

    Ring c enters the first node at its c-th rank and leaves it at the one before; the next node
    is passed the other way round, so that rings change nodes on one rail, but for the way back
    from the last of an odd number of nodes (NCCL alternates rings for the same reason,
    ``src/graph/connect.cc``). The last node may be part-filled.
    """
    rank = np.arange(ranks)
    node, place = np.divmod(rank, per_node)
    members = np.minimum(per_node, ranks - node * per_node)
    turn = np.arange(channels)[:, None]
    onward, back = (turn + place) % members, (turn - 1 - place) % members
    return np.asarray(node * per_node + np.where(node % 2 == 0, onward, back))


def _given(orders: Sequence[Sequence[int]], ranks: int) -> Ints:
    rank = np.arange(ranks)
    for index, order in enumerate(orders):
        if not np.array_equal(np.sort(order), rank):
            raise InputError(
                Problem(
                    found=f"{list(order)}",
                    rule=f"a ring lists each of the {ranks} ranks once",
                    fix="name every rank once, in the order of the ring",
                    field=f"orders[{index}]",
                )
            )
    return np.asarray(orders, np.int64)


def _gather(rings: Ints) -> Steps:
    """Return the steps of an all-gather: in step k a rank passes on the block from k before it."""
    channels = len(rings)
    target = np.roll(rings, -1, axis=1)
    channel = np.arange(channels)[:, None]

    def step(k: int) -> Step:
        return transfers(rings, target, np.roll(rings, k, axis=1) * channels + channel)

    return step


def _pipes(rings: Ints, volume: float, depth: int) -> tuple[Pipe, ...]:
    share = 1.0 / len(rings)
    return tuple(Pipe("ring", share, row, np.roll(row, -1), volume, depth) for row in rings)


def _chain(collective: Collective, rings: Ints, slices: int, root: int) -> Schedule:
    """Return a pipelined chain: along the rings from the root on, or along them to the root."""
    channels, ranks = rings.shape
    along = rings if collective == "broadcast" else rings[:, ::-1]
    from_root = np.array([np.roll(row, -int(np.flatnonzero(row == root)[0])) for row in along])
    steps = ranks - 2 + slices
    down = _down(from_root, slices)
    sending, receiving = from_root[:, :-1], from_root[:, 1:]
    if collective == "reduce":
        sending, receiving = receiving, sending
    return Schedule(
        name="ring",
        collective=collective,
        ranks=ranks,
        chunks=channels * slices,
        steps=steps,
        step=down if collective == "broadcast" else backwards(down, steps),
        wire=channels * slices,
        pipes=tuple(
            Pipe("tree", 1.0 / channels, one, other, 1.0, ranks - 1)
            for one, other in zip(sending, receiving, strict=True)
        ),
        source=SOURCE,
        ports=channels,
        root=root,
    )


def _down(chains: Ints, slices: int) -> Steps:
    """Return the steps of a broadcast: place p of a chain sends slice i in step p + i."""
    channels, ranks = chains.shape
    channel = np.arange(channels)[:, None]

    def step(k: int) -> Step:
        place = np.arange(max(0, k - slices + 1), min(k, ranks - 2) + 1)
        first = channel * slices + (k - place)
        return transfers(chains[:, place], chains[:, place + 1], first)

    return step
