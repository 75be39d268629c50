"""NVLSTree: NVLS inside the nodes, double binary trees between them.

NCCL since 2.18. Rank i of every node carries 1/m of the data over its own network card.
"""

from __future__ import annotations

import numpy as np

from artery.collective.arrays import Ints
from artery.collective.schedules.arguments import divides, positive
from artery.collective.schedules.limits import NVLS
from artery.collective.schedules.registry import builds
from artery.collective.schedules.transfers import (
    Steps,
    one_after_another,
    together,
    transfers,
)
from artery.collective.schedules.tree import Tree, moves, twin_trees
from artery.core.pricing import Collective
from artery.core.schedule import Pipe, Schedule, Step


@builds("nvls_tree", "all_reduce")
def nvls_tree(
    collective: Collective,
    ranks: int,
    *,
    per_node: int,
    slices: int = 1,
    operation: str = "sum",
    dtype: str = "bf16",
) -> Schedule:
    """Return the schedule over nodes of ``per_node`` ranks, each with its switch.

    Two steps to read a node's sum, 2·log2 of the number of nodes (rounded up) + slices - 1 up
    and down the trees, two steps to write the result to all ranks of a node.
    Raises :class:`artery.errors.InputError` if a node would be part-filled or the switch does
    not add such data.
    """
    positive(slices=slices)
    nodes = divides(per_node, ranks, "per_node")
    NVLS.hold(operation, dtype)
    trees = twin_trees(nodes) if nodes > 1 else ()
    share = 2 * slices
    read, write = _switched(ranks, per_node, share)
    across = [_across(trees, per_node, slices)] if trees else []
    step, steps = one_after_another(read, *across, write)
    degree = sum(
        (np.bincount(np.r_[one.child, one.parent], minlength=nodes) for one in trees),
        np.zeros(nodes, np.int64),
    )
    most = int(degree.max())
    return Schedule(
        name="nvls_tree",
        collective=collective,
        ranks=ranks,
        chunks=per_node * share,
        steps=steps,
        step=step,
        wire=per_node * share + most * slices + share,
        pipes=_pipes(ranks, per_node, trees, steps),
        source="NCCL 2.18; Klenk et al., ISCA 2020; Sanders, Speck and Träff, 2009",
        limits=NVLS.words,
        ports=max(most, 1),
        switches=nodes,
    )


def _switched(ranks: int, per_node: int, share: int) -> tuple[tuple[Steps, int], ...]:
    """Return the steps that read the sum of a node, and those that write the result."""
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


def _on_rail(one: Tree, per_node: int) -> tuple[Ints, Ints]:
    """Return the edges of a tree over nodes for each rank of a node: [rank, edge]."""
    place = np.arange(per_node)[:, None]
    return one.child * per_node + place, one.parent * per_node + place


def _across(trees: tuple[Tree, ...], per_node: int, slices: int) -> tuple[Steps, int]:
    depth = 1 + max(int(one.level.max()) for one in trees)
    climb = moves(list(trees), slices, [one.level for one in trees], up=True)
    descent = moves(list(trees), slices, [2 * depth - 1 - one.level for one in trees], up=False)
    place = np.arange(per_node)[:, None]

    def step(k: int) -> Step:
        one = together(climb(k), descent(k))
        return transfers(
            one.source * per_node + place,
            one.target * per_node + place,
            one.first + place * len(trees) * slices,
            one.count,
            reduce=one.reduce,
        )

    return step, 2 * depth + slices - 1


def _pipes(ranks: int, per_node: int, trees: tuple[Tree, ...], depth: int) -> tuple[Pipe, ...]:
    rank = np.arange(ranks)
    inside = Pipe(
        "star", 1.0, rank, ranks + rank // per_node, 1 + 1 / per_node, depth, both_ways=True
    )
    between = []
    for one in trees:
        child, parent = (ends.reshape(-1) for ends in _on_rail(one, per_node))
        share = 1.0 / (len(trees) * per_node)
        between.append(Pipe("tree", share, child, parent, 1.0, depth, both_ways=True, phase=1))
    return (inside, *between)
