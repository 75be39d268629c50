"""How long the cables of a design are: nodes in racks, racks in rows, switches in the middle.

The leaves of a group stand at the middle rack of the group, the spines of a pod at the middle of
the pod, cores at the middle of the hall. A cable inside a rack has one length; any other rises to
the tray, runs along the rows and then across them, and comes down again.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np

from artery.cluster.design import Design
from artery.core.arrays import Floats, Ints


@dataclass(frozen=True, slots=True)
class Hall:
    """The room, in metres; every value is assumed unless the caller knows better.

    ``width`` of a rack and ``pitch`` of the rows (a rack 1.2 m deep and an aisle), ``rise`` from
    a port up to the tray, at each end; ``inside`` is the cable of a rack.
    """

    nodes_per_rack: int = 4
    width: float = 0.6
    pitch: float = 2.4
    rise: float = 2.5
    inside: float = 2.0


@dataclass(frozen=True, slots=True)
class Run:
    """``count`` cables of one tier (``card-leaf``, ``leaf-spine``, ``spine-core``) and length."""

    tier: str
    length: float
    count: int


@dataclass(frozen=True, slots=True)
class Places:
    """The racks, numbered along rows of ``row``, of nodes, of leaves by group, of spines by pod.

    ``core`` is that of the cores.
    """

    row: int
    node: Ints
    group: Ints
    pod: Ints
    core: int


def places(design: Design, hall: Hall) -> Places:
    """Return where everything stands; the hall is about as long as it is wide."""
    racks = ceil(design.nodes / hall.nodes_per_rack)
    return Places(
        row=max(1, ceil(sqrt(racks * hall.pitch / hall.width))),
        node=np.arange(design.nodes, dtype=np.int64) // hall.nodes_per_rack,
        group=_middle(design.groups, design.group_nodes, design.nodes, hall),
        pod=_middle(design.pods, design.pod_groups * design.group_nodes, design.nodes, hall),
        core=racks // 2,
    )


def runs(design: Design, hall: Hall) -> tuple[Run, ...]:
    """Return the cables of all trees by tier and length in metres, shortest first."""
    there = places(design, hall)
    group = np.arange(design.nodes, dtype=np.int64) // design.group_nodes
    pod = np.arange(design.groups, dtype=np.int64) // design.pod_groups
    ends = (
        ("card-leaf", there.node, there.group[group]),
        ("leaf-spine", there.group, there.pod[pod]),
        ("spine-core", there.pod, np.full_like(there.pod, there.core)),
    )
    return tuple(
        run
        for (tier, one, other), cables in zip(ends, design.links, strict=False)
        for run in _counted(tier, distance(one, other, there.row, hall), cables)
    )


def _middle(parts: int, size: int, nodes: int, hall: Hall) -> Ints:
    """Return the rack in the middle of each run of ``size`` nodes; the last may be shorter."""
    first = np.minimum(np.arange(parts, dtype=np.int64) * size, nodes - 1)
    last = np.minimum(first + size, nodes) - 1
    middle: Ints = (first // hall.nodes_per_rack + last // hall.nodes_per_rack) // 2
    return middle


def distance(one: Ints, other: Ints, row: int, hall: Hall) -> Floats:
    """Return the length of a cable between each two racks."""
    along = np.abs(one % row - other % row) * hall.width
    across = np.abs(one // row - other // row) * hall.pitch
    length: Floats = np.where(one == other, hall.inside, along + across + 2 * hall.rise)
    return length


def _counted(tier: str, lengths: Floats, cables: int) -> list[Run]:
    """Return the lengths with their share of the tier's cables, which are spread evenly."""
    values, counts = np.unique(np.round(lengths, 1), return_counts=True)
    ends = np.cumsum(counts) * cables // len(lengths)
    shares = np.diff(ends, prepend=0)
    return [
        Run(tier, float(value), int(share)) for value, share in zip(values, shares, strict=True)
    ]
