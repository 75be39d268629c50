"""Cards bridged in pairs by NVLink, with PCIe between the pairs."""

from __future__ import annotations

from dataclasses import replace

from artery.core.link import Link
from artery.core.system import Tier
from artery.node.pcie_tree import Host, hang, pcie_tiers
from artery.node.scale_up import Layout, ScaleUp


def nvlink_pairs(chips: int, bridge: Link, host: Host, latency: float) -> ScaleUp:
    """Return ``chips`` cards, 0-1, 2-3, … bridged by ``bridge``, all under ``host``.

    ``latency`` is one way from card to card over PCIe, in seconds. A ring over more than two
    cards leaves the bridges and runs at what PCIe gives.
    """
    layout = Layout(chips)
    for first in range(0, chips - 1, 2):
        layout.join(first, first + 1, bridge)
    seats = hang(layout, replace(host, link=replace(host.link, latency=latency)))
    rate = bridge.bandwidth
    pair = Tier(
        name="nvlink-pair",
        chips=2,
        kind="pairs",
        link=bridge,
        bandwidth=rate,
        burst=rate,
        pair=rate,
        latency=bridge.latency,
    )
    if chips <= 2:
        return layout.build((pair,), seats)
    return layout.build((pair, pcie_tiers(layout, host, latency)[-1]), seats)
