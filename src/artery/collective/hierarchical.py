"""Two levels: reduce-scatter inside the nodes, all-reduce across them, all-gather inside.

Each chip carries its own 1/m of the data across, so all network cards work and only the data
that must leave a node does (Jia et al., "Highly scalable deep learning training system with
mixed-precision", 2018; ZeRO++ and Megatron's hierarchical groups do the same).
"""

from __future__ import annotations

from artery.collective.groups import Groups
from artery.collective.work import Work
from artery.core.pricing import Collective


def hierarchical(groups: Groups, collective: Collective) -> Work:
    """Return the work of all-reduce, all-gather or reduce-scatter in two levels.

    All-reduce: 2(m-1) steps inside and 2(k-1) across; a chip sends 2(m-1)/m of the size inside,
    a node 2(k-1)/k across, and none of it before what was added inside is complete. The other two
    are half of it: across first (all-gather), 1/m of the result per chip, then inside.
    """
    m, k = groups.fullest, groups.nodes
    rounds = 2.0 if collective == "all_reduce" else 1.0
    inner = rounds * (m - 1) / m
    outer = rounds * (k - 1) / k
    return Work(
        inner_steps=rounds * (m - 1),
        outer_steps=rounds * (k - 1),
        inner_bytes=inner,
        outer_bytes=outer,
        inner_seconds=inner / groups.inner_rate,
        outer_seconds=outer / groups.node_rate,
        in_turn=True,
    )
