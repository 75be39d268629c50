"""Send/receive, and all-to-all as grouped send/receive.

Every chip sends one part of its buffer straight to each other chip; there is no forwarding.
Inside a node the parts share the chip's links (and each pair has only its own link on a mesh);
what leaves the node shares the network cards.
"""

from __future__ import annotations

import numpy as np

from artery.collective.groups import Groups
from artery.collective.work import Work
from artery.core.pricing import Collective


def grouped(groups: Groups, collective: Collective) -> Work:  # noqa: ARG001 - one shape for all
    """Return the work of an all-to-all in which each chip holds ``size`` bytes for the group.

    n-1 messages, all posted at once: one step, and one more between nodes. A chip sends
    (m-1)/n of its size inside the node, m chips send m·(n-m)/n of it out of the node.
    """
    n, m, k = groups.ranks, groups.fullest, groups.nodes
    inner = np.where(m > 1, (m - 1) / n, 0.0)
    pairs = np.where(m > 1, 1.0 / n, 0.0)
    outer = np.where(k > 1, m * (n - m) / n, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        by_pair = np.where(pairs > 0, pairs / groups.pair_rate, 0.0)
    return Work(
        inner_steps=np.where(m > 1, 1.0, 0.0),
        outer_steps=np.where(k > 1, 1.0, 0.0),
        inner_bytes=inner,
        outer_bytes=outer,
        inner_seconds=np.maximum(inner / groups.own_exchange, by_pair),
        outer_seconds=groups.exchange,
        least_seconds=inner / groups.inner_exchange,
    )


def send_receive(groups: Groups, collective: Collective) -> Work:  # noqa: ARG001 - one shape for all
    """Return the work of sending ``size`` bytes to the next member while receiving as much.

    One step. Between nodes if the group is spread over any: neighbours of a pipeline whose
    stages are nodes apart; the chip at the edge of a node sends by itself, while those inside it
    send to each other. There all members send at once, as round a ring: what they share bounds
    them too.
    """
    crosses = groups.nodes > 1
    one = np.where(groups.ranks > 1, 1.0, 0.0)
    with np.errstate(divide="ignore"):
        inside = np.where(groups.fullest > 1, 1.0 / groups.own_onward, 0.0)
        least = np.where(groups.fullest > 1, 1.0 / groups.inner_onward, 0.0)
        between = np.where(crosses, 1.0 / np.minimum(groups.node_rate, groups.outer_pair), 0.0)
    edge = np.where(crosses, 1.0, 0.0)
    return Work(
        inner_steps=np.where(crosses, 0.0, one),
        outer_steps=edge,
        inner_bytes=one - edge,
        outer_bytes=edge,
        inner_seconds=inside,
        outer_seconds=between,
        least_seconds=least,
    )
