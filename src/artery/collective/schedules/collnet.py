"""SHARP: a tree of switches adds on the way up and copies on the way down.

Graham et al., "Scalable hierarchical aggregation protocol (SHArP): a hardware architecture for
efficient data reduction", COMHPC 2016. NCCL calls it CollNet. The switches are vertices of the
schedule beyond the ranks. In nodes of several ranks, the switch inside adds first (NVLS), and
rank i carries 1/m of the data over its own rail.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from artery.collective.schedules.arguments import divides, positive, rooted
from artery.collective.schedules.limits import NVLS, SHARP
from artery.collective.schedules.rails import in_nodes, node_stars
from artery.collective.schedules.registry import builds
from artery.collective.schedules.transfers import (
    Steps,
    backwards,
    chosen,
    one_after_another,
    side_by_side,
    together,
    transfers,
)
from artery.collective.schedules.tree import Tree, moves
from artery.core.arrays import Ints
from artery.core.pricing import Collective
from artery.core.schedule import Pipe, Schedule, Step
from artery.errors import InputError, Problem

SOURCE = "Graham et al., COMHPC 2016"

RADIX = 64
"""Ports of a Quantum-2 switch at 400 Gb/s (NVIDIA QM9700 datasheet)."""


@builds("collnet", "all_reduce", "broadcast", "reduce", "all_gather", "reduce_scatter")
def collnet(
    collective: Collective,
    ranks: int,
    *,
    per_node: int = 1,
    radix: int = RADIX,
    slices: int = 1,
    root: int = 0,
    operation: str = "sum",
    dtype: str = "fp32",
) -> Schedule:
    """Return the schedule over switches with ``radix`` ports downwards each.

    A rank sends its data once and receives the result once, in as many steps up and down as
    there are switch levels, ``slices`` slices one behind the other. All-gather and
    reduce-scatter (unsliced): a rank's share of the bytes of a ring, (n-1)/n of the size. In
    nodes of ``per_node`` ranks (all-reduce only): two steps before to read the sum of the node
    and two after to write the result, 1 + 1/m of the size inside, 1/m per rank across.
    Raises :class:`artery.errors.InputError` if the switches do not add such data or a node
    would be part-filled.
    """
    positive(slices=slices)
    rooted(root, ranks)
    if radix < 2:
        rule = "a switch joins at least two"
        raise InputError(Problem(found=str(radix), rule=rule, fix="use 64", field="radix"))
    if collective not in {"all_gather", "broadcast"}:
        SHARP.hold(operation, dtype)
    if per_node > 1:
        if collective == "all_reduce":
            return _over_nodes(ranks, per_node, radix, slices)
        rule = f"{collective} over SHARP is between nodes of one rank each"
        raise InputError(Problem(found=str(per_node), rule=rule, fix="use 1", field="per_node"))
    above = switch_tree(ranks, radix)
    if collective in {"all_gather", "reduce_scatter"}:
        return _gathered(collective, ranks, above)
    step, steps = _through(collective, above, slices, root)
    whole = Pipe("tree", 1.0, above.child, above.parent, 1.0, steps, both_ways=True)
    return Schedule(
        name="collnet",
        collective=collective,
        ranks=ranks,
        chunks=slices,
        steps=steps,
        step=step,
        wire=slices,
        pipes=(whole,) if collective == "all_reduce" else (),
        source=SOURCE,
        limits=SHARP.words,
        switches=int(above.parent.max()) - ranks + 1,
        root=root,
    )


def _over_nodes(ranks: int, per_node: int, radix: int, slices: int) -> Schedule:
    """Return an all-reduce whose rails go through trees of switches of their own."""
    nodes = divides(per_node, ranks, "per_node")
    trees = (switch_tree(nodes, radix),) * per_node if nodes > 1 else ()
    return over_switches(ranks, per_node, trees, slices)


def over_switches(ranks: int, per_node: int, trees: Sequence[Tree], slices: int) -> Schedule:
    """Return an all-reduce over given trees of switches, one for rank i of all nodes each.

    In a tree the nodes are vertices 0, 1, ... and the switches those after them. The schedule's
    switches are those inside the nodes (of more than one rank), then those of each tree in turn.
    """
    nodes = divides(per_node, ranks, "per_node")
    inside = nodes if per_node > 1 else 0
    higher = [int(tree.parent.max()) - nodes + 1 for tree in trees]
    firsts = np.cumsum([ranks + inside, *higher])
    vertices = [
        partial(_vertex, nodes, per_node, rail, int(first))
        for rail, first in enumerate(firsts[:-1])
    ]
    rails = [
        _on_rail(_through("all_reduce", tree, slices, 0), vertex, rail * slices)
        for rail, (tree, vertex) in enumerate(zip(trees, vertices, strict=True))
    ]
    parts = [side_by_side(*rails)] if rails else []
    if inside:
        read, write = in_nodes(ranks, per_node, per_node, slices)
        parts = [read, *parts, write]
    step, steps = one_after_another(*parts)
    pipes = [*node_stars(ranks, per_node, per_node, steps)] if inside else []
    if trees:
        child, parent = (
            np.concatenate(
                [vertex(getattr(tree, end)) for tree, vertex in zip(trees, vertices, strict=True)]
            )
            for end in ("child", "parent")
        )
        phase = len(pipes)
        pipes.append(
            Pipe("tree", 1.0 / per_node, child, parent, 1.0, steps, both_ways=True, phase=phase)
        )
    return Schedule(
        name="collnet",
        collective="all_reduce",
        ranks=ranks,
        chunks=per_node * slices,
        steps=steps,
        step=step,
        wire=((per_node + 1 if inside else 0) + (nodes > 1)) * slices,
        pipes=tuple(pipes),
        source=SOURCE,
        limits=(*SHARP.words, *(NVLS.words if inside else ())),
        switches=inside + sum(higher),
    )


def _vertex(nodes: int, per_node: int, rail: int, first: int, place: Ints) -> Ints:
    """Return a tree's vertices as those of the schedule: a node's rank ``rail``, or a switch."""
    return np.where(place < nodes, place * per_node + rail, first + place - nodes)


def _on_rail(
    part: tuple[Steps, int], vertex: Callable[[Ints], Ints], begin: int
) -> tuple[Steps, int]:
    """Return the steps on the chunks from ``begin`` on, between other vertices."""

    def step(k: int) -> Step:
        one = part[0](k)
        return transfers(
            vertex(one.source), vertex(one.target), one.first + begin, one.count, reduce=one.reduce
        )

    return step, part[1]


def switch_tree(ranks: int, radix: int) -> Tree:
    """Return the tree over ranks and switches, filled from the left; the last switch is on top."""
    children, parents, levels = [], [], []
    below, level = np.arange(ranks), 0
    while level == 0 or len(below) > 1:
        first = int(below[-1]) + 1
        parent = first + np.arange(len(below)) // radix
        children.append(below)
        parents.append(parent)
        levels.append(np.full(len(below), level))
        below, level = np.unique(parent), level + 1
    return Tree(np.concatenate(children), np.concatenate(parents), np.concatenate(levels))


def _through(collective: Collective, above: Tree, slices: int, root: int) -> tuple[Steps, int]:
    """Return the steps up and down; one-to-all climbs only from the root."""
    depth = int(above.level.max()) + 1
    steps = 2 * depth + slices - 1
    if collective == "all_reduce":
        climb = moves([above], slices, [above.level], up=True)
        descent = moves([above], slices, [2 * depth - 1 - above.level], up=False)
        return (lambda k: together(climb(k), descent(k))), steps
    path = _path(above, root)
    on_path = np.isin(above.child, path)
    up = Tree(above.child[on_path], above.parent[on_path], above.level[on_path])
    down = Tree(above.child[~on_path], above.parent[~on_path], above.level[~on_path])
    climb = _copied(moves([up], slices, [up.level], up=True))
    descent = moves([down], slices, [2 * depth - 1 - down.level], up=False)

    def fall(k: int) -> Step:
        return together(climb(k), descent(k))

    return (fall if collective == "broadcast" else backwards(fall, steps)), steps


def _path(above: Tree, root: int) -> Ints:
    """Return the root rank and the switches above it."""
    parent = dict(zip(above.child.tolist(), above.parent.tolist(), strict=True))
    path = [root]
    while path[-1] in parent:
        path.append(parent[path[-1]])
    return np.array(path)


def _copied(steps: Steps) -> Steps:
    """Return the same steps with nothing added."""

    def step(k: int) -> Step:
        one = steps(k)
        return transfers(one.source, one.target, one.first, one.count)

    return step


def _gathered(collective: Collective, ranks: int, above: Tree) -> Schedule:
    """Return an all-gather through the switches; backwards it is the reduce-scatter."""
    depth = int(above.level.max()) + 1
    low, high = _spans(ranks, above)

    def climb(k: int) -> Step:
        at = np.flatnonzero(above.level == k)
        child = above.child[at]
        return transfers(child, above.parent[at], low[child], high[child] - low[child])

    def descend(k: int) -> Step:
        at = np.flatnonzero(above.level == depth - 1 - k)
        child, parent = above.child[at], above.parent[at]
        before = transfers(parent, child, 0, low[child])
        after = transfers(parent, child, high[child], ranks - high[child])
        parts = (before, after)
        return together(*(chosen(part, np.flatnonzero(part.count > 0)) for part in parts))

    step, steps = one_after_another((climb, depth), (descend, depth))
    gathers = collective == "all_gather"
    return Schedule(
        name="collnet",
        collective=collective,
        ranks=ranks,
        chunks=ranks,
        steps=steps,
        step=step if gathers else backwards(step, steps),
        wire=1 if gathers else ranks - 1,
        source=SOURCE,
        limits=SHARP.words,
        switches=int(above.parent.max()) - ranks + 1,
    )


def _spans(ranks: int, above: Tree) -> tuple[Ints, Ints]:
    """Return the first and last-but-one rank below each vertex."""
    vertices = int(above.parent.max()) + 1
    low, high = np.full(vertices, ranks), np.zeros(vertices, np.int64)
    low[:ranks], high[:ranks] = np.arange(ranks), np.arange(ranks) + 1
    for level in range(int(above.level.max()) + 1):
        at = np.flatnonzero(above.level == level)
        np.minimum.at(low, above.parent[at], low[above.child[at]])
        np.maximum.at(high, above.parent[at], high[above.child[at]])
    return low, high
