"""What algorithms over nodes with a switch inside share: rank i of each node serves rail i."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from artery.collective.arrays import Ints
from artery.collective.schedules.transfers import Steps, transfers
from artery.core.schedule import Pipe, Step


def in_nodes(ranks: int, per_node: int, share: int) -> tuple[tuple[Steps, int], ...]:
    """Return the steps that read the sum of a node through its switch, and those that write back.

    Rank i of a node reads, and writes, the ``share`` chunks from i·share on; the switch of node
    j is vertex ``ranks`` + j.
    """
    rank = np.arange(ranks)
    switch, first, whole = ranks + rank // per_node, rank % per_node * share, per_node * share

    def read(k: int) -> Step:
        if k == 0:
            return transfers(rank, switch, 0, whole, reduce=True)
        return transfers(switch, rank, first, share)

    def write(k: int) -> Step:
        if k == 0:
            return transfers(rank, switch, first, share)
        return transfers(switch, rank, 0, whole)

    return (read, 2), (write, 2)


def node_stars(ranks: int, per_node: int, depth: int) -> Pipe:
    """Return the pipe of :func:`in_nodes`: 1 + 1/m of the size to the switch and from it."""
    rank = np.arange(ranks)
    volume = 1 + 1 / per_node
    return Pipe("star", 1.0, rank, ranks + rank // per_node, volume, depth, both_ways=True)


def on_rails(
    steps: Steps, vertex: Callable[[Ints, Ints], Ints], per_node: int, share: int
) -> Steps:
    """Return ``steps`` between nodes done by each rail on its own ``share`` chunks.

    ``vertex(node, rail)`` is the vertex that stands for a node, or a switch, on a rail.
    """
    rail = np.arange(per_node)[:, None]

    def step(k: int) -> Step:
        one = steps(k)
        return transfers(
            vertex(one.source, rail),
            vertex(one.target, rail),
            one.first + rail * share,
            one.count,
            reduce=one.reduce,
        )

    return step
