"""All-to-all over rails: inside the node to the rank of the target's rail, then across.

NCCL's PXN ("Doubling all2all performance with NVIDIA Collective Communication Library 2.12",
NVIDIA 2022): no message changes rails in the network, and few large ones leave a node.
"""

from __future__ import annotations

import numpy as np

from artery.collective.schedules.arguments import divides
from artery.collective.schedules.registry import builds
from artery.collective.schedules.transfers import Steps, once, one_after_another, transfers
from artery.core.pricing import Collective
from artery.core.schedule import Schedule


@builds("rail_aligned", "alltoall")
def rail_aligned(collective: Collective, ranks: int, *, per_node: int) -> Schedule:
    """Return two steps: grouped send/receive inside the nodes, then along the rails.

    A rank first gets, from each of the ``per_node`` ranks of its node, what they hold for its
    rail, then sends it on to the same place in each of the other nodes.
    Raises :class:`artery.errors.InputError` if a node would be part-filled.
    """
    nodes = divides(per_node, ranks, "per_node")
    parts = [_inside(per_node, nodes)] if per_node > 1 else []
    parts += [_across(per_node, nodes)] if nodes > 1 else []
    step, steps = one_after_another(*parts)
    return Schedule(
        name="rail_aligned",
        collective=collective,
        ranks=ranks,
        chunks=ranks * ranks,
        steps=steps,
        step=step,
        wire=(per_node - 1) * nodes + (nodes - 1) * per_node,
        source="NVIDIA, NCCL 2.12 (PXN), 2022",
        ports=max(per_node, nodes) - 1,
    )


def _inside(per_node: int, nodes: int) -> tuple[Steps, int]:
    """Return the step in which a rank hands on, inside its node, blocks of all other rails."""
    ranks = per_node * nodes
    rail, node, place, far = np.ogrid[1:per_node, :nodes, :per_node, :nodes]
    target = (place + rail) % per_node
    source = node * per_node + place

    return once(
        lambda: transfers(
            source, node * per_node + target, source * ranks + far * per_node + target
        )
    )


def _across(per_node: int, nodes: int) -> tuple[Steps, int]:
    """Return the step in which a rank sends along its rail what its whole node has for it."""
    ranks = per_node * nodes
    away, node, rail, place = np.ogrid[1:nodes, :nodes, :per_node, :per_node]
    target = (node + away) % nodes * per_node + rail

    return once(
        lambda: transfers(
            node * per_node + rail, target, (node * per_node + place) * ranks + target
        )
    )
