"""A network drawn by hand: chips, switches and hosts with the cables that somebody wrote down."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from artery.core.link import Link
from artery.core.system import Tier
from artery.node.paths import Paths
from artery.node.rings import rings_in_order
from artery.node.scale_up import Layout, ScaleUp

MOST_CHIPS = 256
"""All pairs are routed one by one; more chips than this take a fabric with tiers."""


def graph(layout: Layout, latency: float) -> ScaleUp:
    """Return the drawn network as one domain with one tier.

    ``latency`` is one way over one cable in seconds; the tier's is that of the longest of the
    shortest paths. The tier's bandwidth is what every chip sends if all send to all alike over
    shortest paths; ``pair`` is the slowest of these paths, ``ring`` the ring in rank order.
    Raises :class:`artery.node.paths.NoWayError` if two chips are not joined.
    """
    paths = Paths(layout)
    ways = [
        paths.between(source, target)
        for source in range(layout.chips)
        for target in range(layout.chips)
        if source != target
    ]
    load = Counter(hop for way in ways for hop in pairwise(way))
    others = layout.chips - 1
    everyone = others * min(paths.bandwidth(*hop) / count for hop, count in load.items())
    rates = [min(paths.bandwidth(*hop) for hop in pairwise(way)) for way in ways]
    tier = Tier(
        name="graph",
        chips=layout.chips,
        kind="mesh",
        link=_attachment(layout),
        bandwidth=everyone,
        burst=max(rates),
        pair=min(rates),
        latency=latency * max(len(way) - 1 for way in ways),
        ring=rings_in_order(layout),
    )
    return layout.build((tier,))


def _attachment(layout: Layout) -> Link:
    """Return the class of the narrowest cable of a chip: what the chips are attached by."""
    own = (index for one, other, index in layout.cables if min(one, other) < layout.chips)
    return min((layout.links[index] for index in own), key=lambda link: link.bandwidth)
