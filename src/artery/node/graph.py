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
    shortest paths. Rates are shares of the efficiency of the tier's link. The tier's bandwidth is
    what every chip sends if all send to all alike over shortest paths, as ``exchange`` has it for
    fewer; ``pair`` is the slowest of these paths, ``ring`` the ring in rank order, or those on
    direct links between chips if they are faster.
    Raises :class:`artery.node.paths.NoWayError` if two chips are not joined.
    """
    plain = Paths(layout)
    ways = [
        plain.between(source, target)
        for source in range(layout.chips)
        for target in range(layout.chips)
        if source != target
    ]
    ring, direct = rings_in_order(layout), rings_on_links(layout)
    own = direct[-1] > ring[-1]
    link = _between_chips(layout) if own else _attachment(layout)
    paths = Paths(layout, efficiency=link.efficiency)
    exchange = exchanges(paths, layout.chips)
    everyone = exchange[-1]
    rates = [min(paths.bandwidth(*hop) for hop in pairwise(way)) for way in ways]
    onward = rings_in_order(layout, efficiency=link.efficiency)
    scale = _efficiency(layout) / link.efficiency
    fastest = tuple(max(slow, fast * scale) for slow, fast in zip(onward, direct, strict=True))
    tier = Tier(
        name="graph",
        chips=layout.chips,
        kind="mesh",
        link=link,
        bandwidth=everyone,
        burst=max(*rates, *fastest, everyone),
        pair=min(rates),
        latency=latency * max(len(way) - 1 for way in ways),
        ring=fastest,
        exchange=exchange,
        onward=onward,
        own_exchange=exchanges(
            Paths(layout, efficiency=link.efficiency, only=link.name), layout.chips
        ),
        own_onward=rings_in_order(layout, efficiency=link.efficiency, only=link.name),
    )
    return layout.build((tier,))


def _efficiency(layout: Layout) -> float:
    """Return the least efficiency of the direct links between chips, 1 if there are none."""
    direct = (index for one, other, index in layout.cables if max(one, other) < layout.chips)
    return min((layout.links[index].efficiency for index in direct), default=1.0)


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
