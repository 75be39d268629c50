"""The hybrid cube mesh of DGX-1 with V100: eight chips, six NVLinks each, one or two to a pair.

Each half of the node is fully joined and chip ``i`` also reaches its partner ``i + 4`` (or the
one across), so that 16 of the 28 pairs have NVLink. The others talk through PCIe.
"""

from __future__ import annotations

from artery.core.link import Link
from artery.core.system import Tier
from artery.node.paths import Paths, exchanges
from artery.node.pcie_tree import Host, hang
from artery.node.rings import disjoint_rings, rings_in_order
from artery.node.scale_up import Layout, ScaleUp, bundle

CHIPS = 8

LINKS_PER_CHIP = 6
"""NVLinks of one V100 (NVIDIA V100 architecture whitepaper, 2017)."""

# fmt: off
LINKS = {
    (0, 1): 1, (0, 2): 1, (0, 3): 2, (1, 2): 2, (1, 3): 1, (2, 3): 2,
    (4, 5): 1, (4, 6): 1, (4, 7): 2, (5, 6): 2, (5, 7): 1, (6, 7): 2,
    (0, 4): 2, (1, 5): 2, (2, 6): 1, (3, 7): 1,
}
# fmt: on
"""NVLinks between two chips, as ``nvidia-smi topo -m`` prints them on a DGX-1V."""


def cube_mesh(nvlink: Link, host: Host, latency: float) -> ScaleUp:
    """Return the eight chips of a DGX-1V.

    ``nvlink`` is all six links of a chip together, ``latency`` one way over NVLink in seconds.
    The ring over ``g`` packed chips is the number of rings that fit on links of their own (six
    for all eight) times one link's bandwidth; where NVLink closes no ring, PCIe carries it. An
    all-to-all is as slow as its slowest cable: the 12 pairs of chips in either direction that are
    in different halves and have no NVLink share the link between the sockets. Rates over PCIe are
    shares of NVLink's efficiency.
    """
    layout = Layout(CHIPS)
    lane = nvlink.bandwidth / LINKS_PER_CHIP
    for (one, other), count in LINKS.items():
        layout.join(one, other, bundle(nvlink, count * lane))
    seats = hang(layout, host)
    pcie = _pcie_rings(host, nvlink.efficiency)
    rings = [disjoint_rings(LINKS, group) * lane for group in range(CHIPS + 1)]
    tier = Tier(
        name="nvlink",
        chips=CHIPS,
        kind="cube-mesh",
        link=nvlink,
        bandwidth=nvlink.bandwidth,
        burst=nvlink.bandwidth,
        # The slowest pair has no NVLink; a ring over all of PCIe passes every part of its way.
        pair=pcie[CHIPS],
        latency=latency,
        exchange=exchanges(Paths(layout, efficiency=nvlink.efficiency), CHIPS),
        onward=rings_in_order(layout, efficiency=nvlink.efficiency),
        own_exchange=exchanges(Paths(layout, only=nvlink.name), CHIPS),
        own_onward=rings_in_order(layout, only=nvlink.name),
        ring=tuple(fast or slow for fast, slow in zip(rings, pcie, strict=True)),
    )
    return layout.build((tier,), seats)


def _pcie_rings(host: Host, efficiency: float) -> tuple[float, ...]:
    """Return the rings that PCIe alone carries, as shares of an efficiency."""
    under = Layout(CHIPS)
    hang(under, host)
    return rings_in_order(under, efficiency=efficiency)
