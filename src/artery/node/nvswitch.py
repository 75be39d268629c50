"""Chips on NVSwitches: DGX and HGX with A100, H100, H200, B200 and their like."""

from __future__ import annotations

from dataclasses import replace

from artery.core.link import Link
from artery.core.system import Tier
from artery.node.pcie_tree import Host, hang
from artery.node.scale_up import Layout, ScaleUp, bundle


def nvswitch(
    chips: int,
    nvlink: Link,
    latency: float,
    *,
    switches: int,
    nodes: int = 1,
    reduction: str | None = None,
    host: Host | None = None,
) -> ScaleUp:
    """Return ``chips`` chips in one NVLink domain over ``nodes`` nodes.

    ``nvlink`` is all links of a chip together; they fan out evenly over ``switches``, so that
    every chip sends to any other at its full rate. ``latency`` is one way through a switch, in
    seconds; ``reduction`` is ``nvls`` where the switches add.
    """
    layout = Layout(chips)
    rate = nvlink.bandwidth
    lane = replace(bundle(nvlink, rate / switches), latency=latency / 2)
    for switch in layout.add("switch", "nvswitch", switches):
        for chip in range(chips):
            layout.join(chip, switch, lane)
    tier = Tier(
        name="nvlink",
        chips=chips,
        kind="switch",
        link=nvlink,
        bandwidth=rate,
        burst=rate,
        pair=rate,
        latency=latency,
        reduction=reduction,
    )
    return layout.build((tier,), _seats(layout, nodes, host))


def _seats(layout: Layout, nodes: int, host: Host | None) -> tuple[tuple[int, ...], ...]:
    """Draw the hosts if they are known, and return where network cards plug in."""
    if host is not None:
        return hang(layout, host, nodes)
    per_node = layout.chips // nodes
    return tuple(tuple(range(node * per_node, (node + 1) * per_node)) for node in range(nodes))
