"""A network drawn by hand: chips, switches and hosts with the cables that somebody wrote down."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from artery.core.link import Link
from artery.core.system import Tier
from artery.node.paths import Paths, exchanges
from artery.node.rings import narrowest_in_ring, rings_in_order, rings_on_links
from artery.node.scale_up import Layout, ScaleUp, bundle

MOST_CHIPS = 256
"""All pairs are routed one by one; more chips than this take a fabric with tiers."""


def graph(layout: Layout, latency: float) -> ScaleUp:
    """Return the drawn network as one domain with one tier.

    ``latency`` is one way over one cable in seconds; the tier's is that of the longest of the
    shortest paths. The tier's bandwidth is what every chip sends if all send to all alike over
    shortest paths, as ``exchange`` has it for fewer; ``pair`` is the slowest of these paths,
    ``ring`` the ring in rank order, or those on direct links between chips if they are faster.
    Raises :class:`artery.node.paths.NoWayError` if two chips are not joined.
    """
    paths = Paths(layout)
    ways = [
        paths.between(source, target)
        for source in range(layout.chips)
        for target in range(layout.chips)
        if source != target
    ]
    exchange = exchanges(paths, layout.chips)
    everyone = exchange[-1]
    rates = [min(paths.bandwidth(*hop) for hop in pairwise(way)) for way in ways]
    ring, direct = rings_in_order(layout), rings_on_links(layout)
    fastest = tuple(map(max, ring, direct))
    tier = Tier(
        name="graph",
        chips=layout.chips,
        kind="mesh",
        link=_between_chips(layout) if direct[-1] > ring[-1] else _attachment(layout),
        bandwidth=everyone,
        burst=max(*rates, *fastest, everyone),
        pair=min(rates),
        latency=latency * max(len(way) - 1 for way in ways),
        ring=fastest,
        exchange=exchange,
    )
    return layout.build((tier,))


def _between_chips(layout: Layout) -> Link:
    """Return all direct links of the chip with the fewest of them as one."""
    total = [0.0] * layout.chips
    own = [cable for cable in layout.cables if max(cable[:2]) < layout.chips]
    for one, other, index in own:
        total[one] += layout.links[index].bandwidth
        total[other] += layout.links[index].bandwidth
    return bundle(layout.links[own[0][2]], min(total))


def _attachment(layout: Layout) -> Link:
    """Return the narrowest cable of a chip, as efficient as the cable that bounds the ring."""
    own = (index for one, other, index in layout.cables if min(one, other) < layout.chips)
    link = min((layout.links[index] for index in own), key=lambda link: link.bandwidth)
    return replace(link, efficiency=narrowest_in_ring(layout).efficiency)
