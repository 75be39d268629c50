"""Cards in PCIe slots: under switches, root ports and sockets.

With peer-to-peer a card writes straight into another one, through the lowest switch or root port
above both. Without it (GeForce drivers, or an IOMMU in the way) every transfer is staged: written
to host memory by one card and read from there by the other, so that it crosses host memory twice.
Such a tier's link has the kind ``pcie-staged``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

from artery.core.link import Link
from artery.core.system import Tier
from artery.node.paths import Paths, exchanges
from artery.node.rings import Staging, rings_in_order
from artery.node.scale_up import Layout, ScaleUp

STAGED = "pcie-staged"
"""Kind of link of a tier whose transfers go through host memory."""


@dataclass(frozen=True, slots=True)
class Host:
    """The host side of one node.

    ``link`` joins a card to a switch and a switch to its root port. ``switches`` PCIe switches
    (0: cards sit on root ports) and ``sockets`` processors per node; ``memory`` is the host
    memory bandwidth of the node and ``socket_bandwidth`` what one socket sends to the other,
    B/s; both are needed only where traffic goes that way.
    """

    link: Link
    switches: int = 0
    sockets: int = 1
    memory: float | None = None
    socket_bandwidth: float | None = None
    peer_to_peer: bool = True


def hang(layout: Layout, host: Host, nodes: int = 1) -> tuple[tuple[int, ...], ...]:
    """Draw the host side of ``nodes`` nodes under the chips of ``layout``.

    Returns, per node, where network cards plug in: the switches, else the sockets. The latency of
    the link, from card to card, lies half on the cable of each card; twice that if it is staged.
    Then every socket has its share of the host memory, half of it for what is written there and
    half for what is read.
    """
    way = host.link.latency / 2 if host.peer_to_peer else host.link.latency
    slot, inner = replace(host.link, latency=way), replace(host.link, latency=0.0)
    switches = layout.add("switch", "pcie-switch", nodes * host.switches)
    sockets = layout.add("host", "socket", nodes * host.sockets)
    seats = []
    for node in range(nodes):
        own_switches = switches[node * host.switches : (node + 1) * host.switches]
        own_sockets = sockets[node * host.sockets : (node + 1) * host.sockets]
        per_node = layout.chips // nodes
        chips = range(node * per_node, (node + 1) * per_node)
        _spread(layout, chips, own_switches or own_sockets, slot)
        _spread(layout, own_switches, own_sockets, inner)
        for one, other in pairwise(own_sockets):
            layout.join(one, other, _between_sockets(host))
        seats.append(tuple(own_switches or own_sockets))
    if not host.peer_to_peer and host.memory is not None:
        half = host.memory / host.sockets / 2
        memory = replace(host.link, name="host-memory", kind="memory", bandwidth=half, latency=0.0)
        for place, socket in zip(
            layout.add("memory", "memory", len(sockets)), sockets, strict=True
        ):
            layout.join(socket, place, memory)
    return tuple(seats)


def _spread(layout: Layout, below: range, above: range, link: Link) -> None:
    """Join each vertex below to one above, evenly, in order."""
    for index, vertex in enumerate(below):
        layout.join(vertex, above[index * len(above) // len(below)], link)


def _between_sockets(host: Host) -> Link:
    """Return the link between two sockets, as fast as PCIe if nobody says."""
    bandwidth = host.socket_bandwidth or host.link.bandwidth
    return replace(host.link, name="socket-link", kind="socket", bandwidth=bandwidth, latency=0.0)


def pcie_tree(chips: int, host: Host, latency: float) -> ScaleUp:
    """Return ``chips`` cards whose only way to each other is PCIe.

    ``latency`` is one way from card to card, in seconds.
    """
    layout = Layout(chips)
    seats = hang(layout, replace(host, link=replace(host.link, latency=latency)))
    return layout.build(pcie_tiers(layout, host, latency), seats)


def pcie_tiers(layout: Layout, host: Host, latency: float) -> tuple[Tier, ...]:
    """Return the tiers of a drawn node: the cards under one switch, then the whole node."""
    whole = _node_tier(layout, host, latency)
    under_switch = layout.chips // host.switches if host.switches else 0
    if not host.peer_to_peer or under_switch < 2 or host.switches < 2:
        return (whole,)
    rate = host.link.bandwidth
    inner = Tier(
        name="pcie-switch",
        chips=under_switch,
        kind="pcie-tree",
        link=host.link,
        bandwidth=rate,
        burst=rate,
        pair=rate,
        latency=latency,
    )
    return (inner, whole)


def _node_tier(layout: Layout, host: Host, latency: float) -> Tier:
    """Return the tier of the whole node, its ring computed on the wiring.

    What every chip can send into it at once is its share of the up-link of its switch, of the
    link between the sockets and, if staged, half its share of the host memory.
    """
    chips = layout.chips
    shares = [host.link.bandwidth]
    if host.switches:
        shares.append(host.link.bandwidth / (chips / host.switches))
    if host.sockets > 1 and host.socket_bandwidth is not None:
        shares.append(host.socket_bandwidth / (chips / host.sockets))
    burst = [host.link.bandwidth]
    if not host.peer_to_peer and host.memory is not None:
        shares.append(host.memory / (2 * chips))
        burst.append(host.memory / 2)
    link = host.link if host.peer_to_peer else replace(host.link, kind=STAGED)
    return Tier(
        name="pcie",
        chips=chips,
        kind="pcie-tree",
        link=link,
        bandwidth=min(shares),
        burst=min(burst),
        pair=min(burst),
        latency=latency if host.peer_to_peer else 2 * latency,
        ring=rings_in_order(layout, _staging(host)),
        exchange=_exchanged(layout, host),
    )


def _exchanged(layout: Layout, host: Host) -> tuple[float, ...]:
    """Return what each of the first ``g`` chips sends, at index ``g``, all to all alike.

    Staged, what all of them send is written to the host memory and read from there.
    """
    rates = exchanges(Paths(layout, via_host=not host.peer_to_peer), layout.chips)
    if host.peer_to_peer or host.memory is None:
        return rates
    memory = host.memory / 2
    return tuple(min(rate, memory / max(group, 1)) for group, rate in enumerate(rates))


def _staging(host: Host) -> Staging | None:
    """Return how transfers are staged, or ``None`` with peer-to-peer."""
    return None if host.peer_to_peer else Staging(host.memory)
