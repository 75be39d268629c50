"""NVLSTree: NVLS inside the nodes, double binary trees between them.

NCCL since 2.18. Head i of every node carries 1/m of the data over its own network card; the heads
are the ranks of a node, or as many of them as the emptiest node has (``ncclTopoPostset``).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from artery.collective.schedules.arguments import positive
from artery.collective.schedules.limits import NVLS
from artery.collective.schedules.rails import in_nodes, node_stars, on_rails
from artery.collective.schedules.registry import builds
from artery.collective.schedules.transfers import (
    Steps,
    one_after_another,
    side_by_side,
)
from artery.collective.schedules.tree import Tree, moves, twin_trees
from artery.core.pricing import Collective
from artery.core.schedule import Pipe, Schedule


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
    """Return the schedule over nodes of ``per_node`` ranks, the last one of fewer perhaps.

    Every node has its switch.

    Two steps to read a node's sum, 2·log2 of the number of nodes (rounded up) + slices - 1 up
    and down the trees, two steps to write the result to all ranks of a node.
    Raises :class:`artery.errors.InputError` if the switch does not add such data.
    """
    positive(slices=slices, per_node=per_node)
    nodes = -(-ranks // per_node)
    heads = ranks - (nodes - 1) * per_node
    NVLS.hold(operation, dtype)
    trees = twin_trees(nodes) if nodes > 1 else ()
    share = 2 * slices
    read, write = in_nodes(ranks, per_node, heads, share)
    across = [_across(trees, per_node, heads, slices)] if trees else []
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
        chunks=heads * share,
        steps=steps,
        step=step,
        wire=heads * share + most * slices + share,
        pipes=(
            *node_stars(ranks, per_node, heads, steps),
            *_between(trees, per_node, heads, steps),
        ),
        source="NCCL 2.18; Klenk et al., ISCA 2020; Sanders, Speck and Träff, 2009",
        limits=NVLS.words,
        ports=max(most, 1),
        switches=nodes,
    )


def _across(trees: tuple[Tree, ...], per_node: int, heads: int, slices: int) -> tuple[Steps, int]:
    depth = 1 + max(int(one.level.max()) for one in trees)
    climb = moves(list(trees), slices, [one.level for one in trees], up=True)
    descent = moves(list(trees), slices, [2 * depth - 1 - one.level for one in trees], up=False)
    both = side_by_side((climb, steps := 2 * depth + slices - 1), (descent, steps))
    share = len(trees) * slices
    return on_rails(both[0], lambda node, rail: node * per_node + rail, heads, share), steps


def _between(trees: tuple[Tree, ...], per_node: int, heads: int, depth: int) -> Iterator[Pipe]:
    """Yield each tree on all rails."""
    rail = np.arange(heads)[:, None]
    for one in trees:
        child, parent = ((ends * per_node + rail).reshape(-1) for ends in (one.child, one.parent))
        share = 1.0 / (len(trees) * heads)
        yield Pipe("tree", share, child, parent, 1.0, depth, both_ways=True, phase=1)
