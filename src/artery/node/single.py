"""One card per host: nothing to scale up, every transfer leaves by the network card."""

from __future__ import annotations

from dataclasses import replace

from artery.core.chip import Chip
from artery.core.link import Link
from artery.core.system import Tier
from artery.node.scale_up import Layout, ScaleUp


def single(host: Link | None = None) -> ScaleUp:
    """Return a domain of one chip without tiers; ``host`` joins the card to its host, if given."""
    layout = Layout(1)
    if host is None:
        return layout.build(())
    root = layout.add("host", "host", 1)
    layout.join(0, root[0], replace(host, latency=host.latency / 2))
    return layout.build((), (tuple(root),))


def alone(chip: Chip) -> ScaleUp:
    """Return one chip as a system of its own.

    Its only tier is the crossbar between its cores and its memory, at the memory's bandwidth.
    """
    memory = chip.memory
    crossbar = Link("on-chip", "crossbar", memory.bandwidth, chip.efficiency.memory, 0.0)
    tier = Tier(
        name="chip",
        chips=1,
        kind="crossbar",
        link=crossbar,
        bandwidth=memory.bandwidth,
        burst=memory.bandwidth,
        pair=memory.bandwidth,
        latency=0.0,
    )
    return Layout(1).build((tier,))
