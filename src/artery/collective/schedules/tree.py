"""Double binary trees: each of two trees carries half the data.

Sanders, Speck and Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan",
Parallel Computing 2009; in NCCL's shape (``src/graph/trees.cc``): a rank that is inside one tree
is a leaf of the other, nodes are the vertices of the trees, and a chain runs inside each node.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from artery.collective.schedules.arguments import positive, rooted
from artery.collective.schedules.registry import builds
from artery.collective.schedules.transfers import Steps, backwards, together, transfers
from artery.core.arrays import Ints
from artery.core.pricing import Collective
from artery.core.schedule import Pipe, Schedule, Step

SOURCE = "Sanders, Speck and Träff, Parallel Computing 2009"


@dataclass(frozen=True, slots=True)
class Tree:
    """Edges from child to parent; ``level`` is the step in which a child sends up."""

    child: Ints
    parent: Ints
    level: Ints


@builds("tree", "all_reduce", "broadcast", "reduce")
def tree(
    collective: Collective,
    ranks: int,
    *,
    per_node: int = 1,
    slices: int = 1,
    root: int = 0,
) -> Schedule:
    """Return the schedule: each half in ``slices`` slices, one behind the other.

    All-reduce goes up and down again: 2·depth + slices - 1 steps, where depth is log2 of the
    number of nodes, rounded up, plus the per_node - 1 edges of the chain in a node. Broadcast
    and reduce go one way, depth + slices - 1 steps, with ``root`` on top of both trees.
    """
    positive(per_node=per_node, slices=slices)
    rooted(root, ranks)
    if collective == "all_reduce":
        per_node = min(per_node, ranks)
        trees = [_over_nodes(one, ranks, per_node) for one in twin_trees(-(-ranks // per_node))]
        return _up_and_down(trees, ranks, slices)
    trees = [
        Tree((one.child + root) % ranks, (one.parent + root) % ranks, one.level)
        for one in rooted_trees(ranks)
    ]
    return _one_way(collective, trees, ranks, slices, root=root)


def binary_tree(size: int) -> Tree:
    """Return NCCL's tree: inside are the even vertices, and 0 hangs on top with one child.

    A vertex whose lowest set bit is b sends up in step b, to the vertex with that bit cleared
    and the next set, or if there is none such, to the one with it cleared.
    """
    child = np.arange(1, size)
    bit = child & -child
    level = np.array([int(one).bit_length() - 1 for one in bit], dtype=np.int64)
    above = (child ^ bit) | (bit << 1)
    return Tree(child, np.where(above < size, above, child ^ bit), level)


def twin_trees(size: int) -> tuple[Tree, Tree]:
    """Return NCCL's two trees; the second is mirrored (even ``size``) or shifted by one (odd)."""
    one = binary_tree(size)
    if size % 2:
        return one, Tree((one.child + 1) % size, (one.parent + 1) % size, one.level)
    return one, Tree(size - 1 - one.child, size - 1 - one.parent, one.level)


def rooted_trees(size: int) -> tuple[Tree, Tree]:
    """Return two trees with vertex 0 on top of both; inside one is a leaf of the other.

    The vertices below 0 are mirrored (odd ``size``) or shifted by one among themselves.
    """
    one = binary_tree(size)
    vertex = np.arange(1, size)
    other = np.r_[0, size - vertex if size % 2 else vertex % (size - 1) + 1]
    return one, Tree(other[one.child], other[one.parent], one.level)


def _over_nodes(one: Tree, ranks: int, per_node: int) -> Tree:
    """Return the tree over nodes hung over the chains inside them."""
    rank = np.arange(ranks)
    place = rank % per_node
    inside = rank[place > 0]
    return Tree(
        np.r_[inside, one.child * per_node],
        np.r_[inside - 1, one.parent * per_node],
        np.r_[per_node - 1 - place[inside], one.level + per_node - 1],
    )


def _depth(trees: list[Tree]) -> int:
    return 1 + max(int(one.level.max()) for one in trees)


def moves(trees: list[Tree], slices: int, begins: list[Ints], *, up: bool) -> Steps:
    """Return the steps in which every edge passes slice i on in step ``begins`` + i."""

    def step(k: int) -> Step:
        parts = []
        for index, (one, begin) in enumerate(zip(trees, begins, strict=True)):
            now = np.flatnonzero((begin <= k) & (k < begin + slices))
            ends = (one.child[now], one.parent[now])
            source, target = ends if up else ends[::-1]
            parts.append(transfers(source, target, index * slices + k - begin[now], reduce=up))
        return together(*parts)

    return step


def _up_and_down(trees: list[Tree], ranks: int, slices: int) -> Schedule:
    depth = _depth(trees)
    climb = moves(trees, slices, [one.level for one in trees], up=True)
    descent = moves(trees, slices, [2 * depth - 1 - one.level for one in trees], up=False)
    steps = 2 * depth + slices - 1
    degree = sum(np.bincount(np.r_[one.child, one.parent], minlength=ranks) for one in trees)
    return Schedule(
        name="tree",
        collective="all_reduce",
        ranks=ranks,
        chunks=len(trees) * slices,
        steps=steps,
        step=lambda k: together(climb(k), descent(k)),
        wire=int(np.max(degree)) * slices,
        pipes=tuple(
            Pipe("tree", 1.0 / len(trees), one.child, one.parent, 1.0, 2 * depth, both_ways=True)
            for one in trees
        ),
        source=SOURCE,
        ports=int(np.max(degree)),
    )


def _one_way(
    collective: Collective, trees: list[Tree], ranks: int, slices: int, *, root: int
) -> Schedule:
    depth = _depth(trees)
    steps = depth + slices - 1
    descent = moves(trees, slices, [depth - 1 - one.level for one in trees], up=False)
    falls = collective == "broadcast"
    sending = sum(np.bincount(one.parent if falls else one.child, minlength=ranks) for one in trees)
    degree = sum(np.bincount(np.r_[one.child, one.parent], minlength=ranks) for one in trees)
    return Schedule(
        name="tree",
        collective=collective,
        ranks=ranks,
        chunks=len(trees) * slices,
        steps=steps,
        step=descent if falls else backwards(descent, steps),
        wire=int(np.max(sending)) * slices,
        pipes=tuple(
            Pipe(
                "tree",
                1.0 / len(trees),
                one.parent if falls else one.child,
                one.child if falls else one.parent,
                1.0,
                depth,
            )
            for one in trees
        ),
        source=SOURCE,
        ports=int(np.max(degree)),
        root=root,
    )
