"""A part-filled last domain of a fat tree: which links upwards its nodes reach.

A leaf, or a pod, has its switches and their links upwards whether a job fills it or not, and the
nodes of the job have them to themselves. They reach those of the leaves that they hang on, and
further up those of the switches above these.
"""

from __future__ import annotations

from math import ceil

import numpy as np

from artery.cluster.fat_tree import FatTree
from artery.cluster.stages import Stage, attachment, leaf_of, stages
from artery.core.arrays import Ints


def links_of_last(tree: FatTree, nodes: int) -> tuple[float, ...]:
    """Return, for every tier, the share of a full lower domain's links into it that the last has.

    ``tree`` is already clipped to ``nodes``. The share is 1 at the leaves, of which every card has
    links of its own. Raises :class:`artery.cluster.stages.TooManyPortsError` as ``stages`` does.
    """
    found: tuple[Stage, ...] = ()
    shares = [1.0]
    for below in tree.levels[:-1]:
        size = below.nodes or nodes
        first = (ceil(nodes / size) - 1) * size
        if nodes - first == size:
            shares.append(1.0)
            continue
        found = found or stages(tree, nodes)
        leaf = _leaves(tree, found[0], nodes, first)
        if len(shares) == 1:
            shares.append(len(leaf) / found[0].group)
        else:
            window, _ = attachment(found[0], found[1], leaf)
            shares.append(len(np.unique(window)) / found[1].windows)
    return tuple(shares)


def _leaves(tree: FatTree, leaves: Stage, nodes: int, first: int) -> Ints:
    """Return the leaves of one tree that the nodes from ``first`` on hang on."""
    one = tree.one
    cards = np.arange(first * one.cards, nodes * one.cards, dtype=np.int64)
    leaf = leaf_of(one, leaves, nodes, cards // one.cards, cards % one.cards)
    return np.unique(leaf[:, None] + np.arange(one.tors, dtype=np.int64))
