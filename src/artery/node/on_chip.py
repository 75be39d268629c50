"""Networks on a chip: a 2-D mesh, a ring, a crossbar, with memory controllers at their edge.

The cores take the place of chips: each hangs on a router of its own (a crossbar is one router), and
a memory controller hangs on a router too. Loads are those of uniform traffic on shortest ways, one
dimension after the other (Dally and Towles, Principles and Practices of Interconnection Networks,
2004, sections 3.3 and 8.4).
"""

from __future__ import annotations

from dataclasses import replace

from artery.core.link import Link
from artery.core.system import Tier, TierKind
from artery.node.scale_up import Layout, ScaleUp

ROUTER = "router"
"""Name of the routers of a network on a chip."""


def mesh(columns: int, rows: int, wire: Link, memories: int, memory: Link) -> ScaleUp:
    """Return ``columns`` x ``rows`` cores, numbered row by row.

    ``wire`` joins neighbouring routers, a core to its router with no latency of its own, and
    ``memories`` controllers, each over a link ``memory``, hang on the first and the last row in
    turn, evenly spread. The busiest wire cuts the longer side in two: with every core sending
    ``r`` to all others alike it carries r·⌊k/2⌋·⌈k/2⌉·(N/k)/(N-1).
    """
    cores = columns * rows
    layout, routers = _cores(cores, cores, wire)
    for row in range(rows):
        for column in range(columns - 1):
            layout.join(routers[row * columns + column], routers[row * columns + column + 1], wire)
    for row in range(rows - 1):
        for column in range(columns):
            layout.join(
                routers[row * columns + column], routers[(row + 1) * columns + column], wire
            )
    top, bottom = routers[:columns], routers[(rows - 1) * columns :]
    edge = [router for pair in zip(top, bottom, strict=True) for router in pair]
    _hang_memories(layout, edge if rows > 1 else list(top), memories, memory)
    longer = max(columns, rows)
    load = (longer // 2) * -(-longer // 2) * (cores / longer) / max(cores - 1, 1)
    built = _built(layout, "mesh", wire, wire.bandwidth / max(load, 1.0), columns + rows - 2)
    exchange = tuple(_exchanged(columns, group, wire.bandwidth) for group in range(cores + 1))
    return replace(built, tiers=(replace(built.tiers[0], exchange=exchange),))


def _exchanged(columns: int, group: int, wire: float) -> float:
    """Return the B/s that each of the first ``group`` cores sends, all to all alike.

    Part of a row counts as a whole one. All pairs of cores on either side of a row's middle use its
    wire there, and likewise those of a column.
    """
    if group < 2:
        return 0.0
    wide, high = min(columns, group), -(-group // columns)
    across = (wide // 2) * -(-wide // 2) * high
    along = (high // 2) * -(-high // 2) * wide
    return min(wire, wire * (group - 1) / max(across, along))


def ring(cores: int, wire: Link, memories: int, memory: Link) -> ScaleUp:
    """Return ``cores`` cores on a ring of routers, with ``memories`` controllers spread round it.

    With every core sending ``r`` to all others alike, the short way round, a wire carries, each
    way, r/(N-1) times the sum of all distances up to half way, that of half way counted half.
    """
    layout, routers = _cores(cores, cores, wire)
    for place in range(cores if cores > 2 else cores - 1):
        layout.join(routers[place], routers[(place + 1) % cores], wire)
    _hang_memories(layout, list(routers), memories, memory)
    below = (cores - 1) // 2
    half = 0.0 if cores % 2 else cores / 4
    load = (below * (below + 1) / 2 + half) / max(cores - 1, 1)
    rate = min(wire.bandwidth, wire.bandwidth / max(load, 1e-9))
    return _built(layout, "ring", wire, rate, cores // 2)


def crossbar(cores: int, wire: Link, memories: int, memory: Link) -> ScaleUp:
    """Return ``cores`` cores and ``memories`` controllers on one crossbar that never blocks."""
    layout, routers = _cores(cores, 1, wire)
    _hang_memories(layout, list(routers), memories, memory)
    return _built(layout, "crossbar", wire, wire.bandwidth, 0)


def _cores(cores: int, routers: int, wire: Link) -> tuple[Layout, range]:
    """Return a layout with cores on their routers; a core's wire has half the latency of a hop."""
    layout = Layout(cores)
    found = layout.add("switch", ROUTER, routers)
    own = replace(wire, latency=wire.latency / 2)
    for core in range(cores):
        layout.join(core, found[core * routers // cores], own)
    return layout, found


def _hang_memories(layout: Layout, places: list[int], memories: int, link: Link) -> None:
    """Hang memory controllers on some of the routers, evenly spread."""
    for index, vertex in enumerate(layout.add("memory", "memory", memories)):
        layout.join(vertex, places[index * len(places) // memories], link)


def _built(layout: Layout, kind: TierKind, wire: Link, rate: float, hops: int) -> ScaleUp:
    """Return the network as one tier; its latency is that of the longest way."""
    tier = Tier(
        name="noc",
        chips=layout.chips,
        kind=kind,
        link=wire,
        bandwidth=rate,
        burst=wire.bandwidth,
        pair=wire.bandwidth,
        latency=wire.latency * (hops + 1),
    )
    return layout.build((tier,))
