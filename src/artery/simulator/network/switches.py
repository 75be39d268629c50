"""SHARP laid on the switches of a fabric: a tree per rail over the cards that a job really has."""

from __future__ import annotations

from functools import partial

import numpy as np

from artery.cluster.aggregation import Aggregation, aggregations
from artery.cluster.network import Network, Tree
from artery.collective.schedules.collnet import over_switches
from artery.collective.schedules.tree import Tree as Edges
from artery.core.arrays import Ints
from artery.core.system import System
from artery.errors import InputError, Problem
from artery.simulator.placed import Placed


def over_fabric(system: System, wires: Network, size: int, chips: Ints, slices: int) -> Placed:
    """Return an all-reduce of ``size`` bytes whose switches add, on ``chips`` of ``system``.

    Rank i of every node sends its part over its own card to its own tree of switches, which are
    those of ``wires`` that work. Raises ``InputError`` where the switches do not add, where the
    job is inside one node, or where its nodes have unequal parts of it.
    """
    nodes, per_node = _nodes(system, wires, chips)
    chips = by_node(chips, _domain(wires))
    rails = chips.reshape(nodes, per_node).T
    found = aggregations(system, wires, rails)
    edges, vertices = zip(*(_local(one, nodes) for one in found), strict=True)
    inside = np.full(nodes if per_node > 1 else 0, -1, dtype=np.int64)
    return Placed(
        over_switches(len(chips), per_node, edges, slices),
        size,
        chips,
        vertices=np.concatenate([inside, *vertices]),
        again=partial(_again, system, size, chips, slices),
    )


def by_node(chips: Ints, per_node: int) -> Ints:
    """Return the chips node by node, in the order of each node's first rank."""
    _, first, which = np.unique(chips // per_node, return_index=True, return_inverse=True)
    return chips[np.lexsort((chips % per_node, first[which]))]


def _again(system: System, size: int, chips: Ints, slices: int, wires: Network) -> Placed:
    return over_fabric(system, wires, size, chips, slices)


def _domain(wires: Network) -> int:
    """Return the chips of a scale-up domain under a fabric, 1 elsewhere."""
    return wires.plan.within.whole.domain.chips if isinstance(wires.plan, Tree) else 1


def _nodes(system: System, wires: Network, chips: Ints) -> tuple[int, int]:
    """Return how many nodes the job is on, and how many of its ranks each has."""
    members = np.unique(chips // _domain(wires), return_counts=True)[1]
    nodes, per_node = len(members), int(members[0])
    if nodes < 2:
        raise _refused("its switches stand between nodes, and the job is inside one")
    if (members != per_node).any():
        raise _refused("every node has as many ranks, a tree of switches for each")
    adds = bool(system.tiers) and system.tiers[0].reduction == "nvls"
    if per_node > 1 and not adds:
        raise _refused("of several ranks a node, its own switches must add (NVLS), and do not")
    return nodes, per_node


def _local(one: Aggregation, nodes: int) -> tuple[Edges, Ints]:
    """Return the tree with its nodes first and its switches after them, and these switches."""
    switches = np.unique(np.concatenate([one.leaf, one.child, one.parent]))
    # The last switch of a schedule is on top, as their numbers rise from tier to tier.
    child = np.concatenate([np.arange(nodes), nodes + np.searchsorted(switches, one.child)])
    above = np.concatenate([one.leaf, one.parent])
    level = np.concatenate([np.zeros(nodes, dtype=np.int64), one.level])
    return Edges(child, nodes + np.searchsorted(switches, above), level), switches


def _refused(rule: str) -> InputError:
    fix = "--algorithm nvls_tree, tree or ring; artery expect has the closed form"
    return InputError(Problem(field="algorithm", found="collnet", rule=rule, fix=fix))
