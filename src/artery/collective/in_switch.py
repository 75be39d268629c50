"""Reduction inside the switches: NVLink SHARP (NVLS) in a node, SHARP in the network.

A chip reads the sum of a chunk from the switch and has the switch write it to all: it sends its
own data once, and its 1/m of the result once more for the multicast. That is why bus bandwidth
(which assumes a ring, 2(m-1)/m) may show more than the link carries: 480 of 450 GB/s on H100.
Klenk et al., "An in-network architecture for accelerating shared-memory multiprocessor
collectives", ISCA 2020; Graham et al., SHARP, COMHPC 2016.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from artery.collective.groups import Groups
from artery.collective.tree import tree_depth, tree_share
from artery.collective.work import Work
from artery.core.arrays import Floats
from artery.core.pricing import Collective

LEAST: Final = 3
"""Chips that each node must have for NVLS over several (NCCL, ``ncclNvlsInit``)."""

_EIGHT = (1.0 + 1.0 / 8) / (2.0 * 7 / 8)
"""Bytes that a chip sends to its switch over those of a ring, in a group of eight."""


def _inside(groups: Groups) -> Floats:
    """Return the bytes that a chip sends to its switch for an all-reduce, per byte of size.

    1 + 1/m of the size. Above eight chips it behaves as if it sent more: bus bandwidth stays
    where it is at eight (850 GB/s on 8 B200 and on 32 chips of an NVL72 alike, NVIDIA GTC 2025).
    """
    m = groups.fullest
    return np.asarray(np.where(m > 1, np.maximum(1 + 1 / m, _EIGHT * 2 * (m - 1) / m), 0.0))


def nvls(groups: Groups, collective: Collective) -> Work:
    """Return the work of NVLS inside one node: two steps.

    A chip sends 1 + 1/m of the size for all-reduce; 1/m for all-gather (multicast) and 1 for
    reduce-scatter (its data, read by the switch). What comes in mirrors it, so the busier
    direction of all-gather is the receiving one, which is what counts here.
    """
    m = groups.fullest
    inner = _inside(groups) if collective == "all_reduce" else np.where(m > 1, 1.0, 0.0)
    nothing = np.zeros_like(m)
    steps = np.where(m > 1, 2.0, 0.0)
    return Work(steps, nothing, inner, nothing, inner / groups.inner_rate, nothing)


def nvls_tree(groups: Groups, collective: Collective) -> Work:  # noqa: ARG001 - one shape for all
    """Return the work of an all-reduce with NVLS inside the nodes and double trees between them.

    Head i of every node carries 1/m of the data over its own network cards. The heads are the
    chips of a node, or as many as the emptiest node has (NCCL, ``ncclTopoPostset``): they send
    their share once more for the multicast.
    """
    inner = np.where(groups.fullest > 1, np.maximum(_inside(groups), 1 + 1 / groups.fewest), 0.0)
    outer = tree_share(groups.nodes)
    return Work(
        inner_steps=np.where(groups.fullest > 1, 2.0, 0.0),
        outer_steps=2 * tree_depth(groups.nodes),
        inner_bytes=inner,
        outer_bytes=outer,
        inner_seconds=inner / groups.inner_rate,
        outer_seconds=outer / groups.node_rate,
    )


def collnet(groups: Groups, collective: Collective) -> Work:
    """Return the work of SHARP in the network switches, NVLS (else a ring) inside the nodes.

    A node sends the size once, and receives the sum once, whatever the number of nodes; data
    climbs as many switch levels as the fabric has, taken as one step up and one down. For
    all-gather and reduce-scatter a node sends its share, (k-1)/k of the size.
    """
    m, k = groups.fullest, groups.nodes
    rounds = 2.0 if collective == "all_reduce" else 1.0
    ring = rounds * (m - 1) / m
    switch = _inside(groups) if collective == "all_reduce" else np.where(m > 1, 1.0, 0.0)
    inner = np.where(groups.in_switch, switch, ring)
    whole = 1.0 if collective == "all_reduce" else (k - 1) / k
    outer = np.where(k > 1, whole, 0.0)
    return Work(
        inner_steps=np.where(groups.in_switch, 2.0, rounds * (m - 1)),
        outer_steps=np.where(k > 1, 2.0, 0.0),
        inner_bytes=inner,
        outer_bytes=outer,
        inner_seconds=inner / groups.inner_rate,
        outer_seconds=outer / groups.node_rate,
    )
