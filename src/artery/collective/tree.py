"""Double binary trees between nodes, a chain inside each.

Sanders, Speck and Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and
scan", Parallel Computing 2009; NCCL since 2.4. Each of two trees carries half the data, and a
node that is inside one tree is a leaf of the other.
"""

from __future__ import annotations

import numpy as np

from artery.collective.groups import Groups
from artery.collective.work import Work
from artery.core.arrays import Floats
from artery.core.pricing import Collective


def tree_share(nodes: Floats) -> Floats:
    """Return what the busiest node sends in an all-reduce over two trees, per byte of size.

    A node inside a tree sends half the size up and half to each of two children; as a leaf of
    the other tree it sends another half up: 2 in all. Over two nodes each tree is one edge, so
    a node sends its half up in one tree and down in the other: 1, which is why bus bandwidth
    may show almost twice the rate of the network cards. Over three the busiest sends 3/2.
    """
    return np.asarray(np.clip(nodes / 2.0, 0.0, 2.0) * (nodes > 1))


def tree_depth(nodes: Floats) -> Floats:
    """Return the levels that data climbs over ``nodes`` nodes: log2, rounded up."""
    return np.asarray(np.ceil(np.log2(np.maximum(nodes, 1.0))))


def tree(groups: Groups, collective: Collective) -> Work:  # noqa: ARG001 - one shape for all
    """Return the work of an all-reduce: up the trees and down again.

    Steps: twice the depth between nodes, and twice the chain of m-1 chips inside one. A chip of
    the chain passes the size on upwards and downwards (only once where the chain is two ends).
    Either tree takes half of a piece over each edge, while the other takes its half over others;
    halves of two children share their parent's links. The root has one child. The head of a chain
    passes the size on downwards only, but where it reaches a card over its own slot, what leaves
    the node goes over that too; each of several channels has a head and a card of its own.
    """
    chain = groups.fullest - 1
    inner = np.where(groups.fullest > 2, 2.0, np.where(groups.fullest > 1, 1.0, 0.0))
    outer = tree_share(groups.nodes)
    part = 1.0 / np.maximum(groups.slots, 1.0)
    head = np.where(groups.slots > 0, part * (outer + 1.0) + (1.0 - part) * inner, 0.0)
    inner = np.maximum(inner, head)
    return Work(
        inner_steps=2 * chain,
        outer_steps=2 * tree_depth(groups.nodes),
        inner_bytes=inner,
        outer_bytes=outer,
        inner_seconds=inner / groups.inner_rate,
        outer_seconds=outer / groups.apart_rate,
        inner_fill=np.maximum(chain - np.where(groups.nodes > 1, 0.0, 1.5), 0.0)
        / groups.inner_rate,
        outer_fill=np.maximum(2 * tree_depth(groups.nodes) - 1 - outer, 0.0) / groups.apart_rate,
    )
