"""What algorithms over nodes with a switch inside share: head i of each node serves rail i."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from artery.collective.schedules.transfers import Steps, transfers
from artery.core.arrays import Ints
from artery.core.schedule import Pipe, Step


def in_nodes(ranks: int, per_node: int, heads: int, share: int) -> tuple[tuple[Steps, int], ...]:
    """Return the steps that read the sum of a node through its switch, and those that write back.

    The first ``heads`` ranks of a node serve a rail each: head i reads, and writes, the ``share``
    chunks from i·share on; the switch of node j is vertex ``ranks`` + j.
    """
    rank = np.arange(ranks)
    switch, whole = ranks + rank // per_node, heads * share
    head = rank[rank % per_node < heads]
    of_head, first = switch[head], head % per_node * share

    def read(k: int) -> Step:
        if k == 0:
            return transfers(rank, switch, 0, whole, reduce=True)
        return transfers(of_head, head, first, share)

    def write(k: int) -> Step:
        if k == 0:
            return transfers(head, of_head, first, share)
        return transfers(switch, rank, 0, whole)

    return (read, 2), (write, 2)


def node_stars(ranks: int, per_node: int, heads: int, depth: int) -> tuple[Pipe, ...]:
    """Return the pipes of :func:`in_nodes`, each way between the ranks and their switch.

    1 + 1/m of the size for each of the m ``heads`` of a node, the size for its other ranks.
    """
    rank = np.arange(ranks)
    leads = rank % per_node < heads

    def star(some: Ints, volume: float) -> Pipe:
        return Pipe("star", 1.0, some, ranks + some // per_node, volume, depth, both_ways=True)

    first = star(rank[leads], 1 + 1 / heads)
    return (first,) if leads.all() else (first, star(rank[~leads], 1.0))


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
