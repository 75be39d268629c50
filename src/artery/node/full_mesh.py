"""Every chip joined to every other by a link of its own: xGMI on eight MI300X."""

from __future__ import annotations

from itertools import combinations

from artery.core.link import Link
from artery.core.system import Tier
from artery.node.pcie_tree import Host, hang
from artery.node.scale_up import Layout, ScaleUp


def full_mesh(chips: int, link: Link, latency: float, host: Host | None = None) -> ScaleUp:
    """Return ``chips`` chips in a full mesh.

    ``link`` is one link between two chips, ``latency`` one way in seconds. Over ``g`` packed chips
    all ``g - 1`` links of a chip into the group carry rings: every cycle through the group,
    weighted alike, loads each link alike, both ways.
    """
    layout = Layout(chips)
    lane = link.bandwidth
    whole = (chips - 1) * lane
    for one, other in combinations(range(chips), 2):
        layout.join(one, other, link)
    tier = Tier(
        name="mesh",
        chips=chips,
        kind="mesh",
        link=link,
        bandwidth=whole,
        burst=whole,
        pair=lane,
        latency=latency,
        ring=tuple(max(0, group - 1) * lane for group in range(chips + 1)),
    )
    return layout.build((tier,), hang(layout, host) if host is not None else ())
