"""What ``ip`` and ``tc`` are told: wires, addresses, rates and routes as lines of their batches.

The rate of a wire is a token bucket at both of its ends. Its burst is little more than one frame
of 64 KiB as TCP hands it to the card: smaller, and the bucket cuts the frame into packets; larger,
and short transfers pass for nothing. Frames of 9000 bytes, for at 1500 the buckets drop so much
that an all-reduce takes two to six times as long (both measured).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from artery.runner.lab.routes import Route
from artery.runner.lab.shape import End, Host, Shape, Wire

MTU: Final = 9000
"""Bytes of a packet: a jumbo frame, whose 14-byte header counts as well."""

HEADERS: Final = 40 + 12 + 14
"""Bytes of a frame that are no data: IPv4 and TCP, TCP's time stamps, Ethernet."""

PAYLOAD: Final = (MTU - 40 - 12) / (MTU + 14)
"""The share of a wire's bytes that are data: 8948 of 9014."""

BURST: Final = 80_000
"""Bytes that pass at once: one frame of 64 KiB with the headers of its eight packets, 66.1 KB,
and a fifth more."""

QUEUE: Final = 0.05
"""Seconds of waiting that a token bucket holds before it drops."""

NETWORKS: Final = "10.77.0.0/16"
"""The addresses of all cards."""

GROUND: Final = {
    "net/ipv4/conf/all/rp_filter": "0",
    "net/ipv4/conf/default/rp_filter": "0",
    "net/ipv4/conf/all/send_redirects": "0",
    "net/ipv4/conf/default/send_redirects": "0",
    "net/ipv4/tcp_congestion_control": "reno",
    "net/ipv6/conf/all/disable_ipv6": "1",
    "net/ipv6/conf/default/disable_ipv6": "1",
}
"""Settings of every device, under ``/proc/sys``: answers may come by another way than questions."""

FORWARDING: Final = {"net/ipv4/ip_forward": "1", "net/ipv4/fib_multipath_hash_policy": "1"}
"""Settings of a switch: it passes on, and hashes addresses and ports."""

HASH_SEED: Final = "net/ipv4/fib_multipath_hash_seed"
"""The seed of a switch's hash, which kernels have from 6.11 on."""


def wire_line(wire: Wire, where: dict[str, str]) -> str:
    """Return the line that makes a wire between two namespaces, given as paths."""
    lower, upper = wire.lower, wire.upper
    return (
        f"link add name {lower.interface} netns {where[lower.device]} mtu {MTU} type veth "
        f"peer name {upper.interface} netns {where[upper.device]} mtu {MTU}"
    )


def ends_of(shape: Shape, device: str) -> list[tuple[End, Wire]]:
    """Return the ends of wires at a device."""
    return [
        (end, wire)
        for wire in shape.wires
        for end in (wire.lower, wire.upper)
        if end.device == device
    ]


def up_lines(shape: Shape, device: str) -> Iterator[str]:
    """Yield the lines that give a device its addresses and set its interfaces up."""
    yield "link set lo up"
    for host in shape.hosts:
        if host.name == device:
            yield from (f"addr add {card.address}/32 dev {card.interface}" for card in host.cards)
    for switch in shape.switches:
        if switch.name == device:
            yield f"addr add {switch.address}/32 dev lo"
    for end, _ in ends_of(shape, device):
        yield f"link set {end.interface} up"


def rate_line(interface: str, rate: float, verb: str = "replace") -> str:
    """Return the line of ``tc`` that holds an interface to ``rate`` B/s."""
    bits = max(8, round(rate * 8))
    limit = BURST + round(rate * QUEUE)
    return f"qdisc {verb} dev {interface} root tbf rate {bits}bit burst {BURST} limit {limit}"


def route_line(route: Route) -> str:
    """Return the line that sets a route over all of its hops."""
    source = f" src {route.source}" if route.source else ""
    head = f"route replace {route.target}/32{source}"
    if len(route.hops) == 1:
        hop = route.hops[0]
        return f"{head} via {hop.via} dev {hop.interface} onlink"
    ways = [f"nexthop via {hop.via} dev {hop.interface} onlink" for hop in route.hops]
    return " ".join([head, *ways])


def route_lines(shape: Shape, device: str, wanted: Iterable[Route]) -> Iterator[str]:
    """Yield the lines that set the wanted routes of a device, and take back all others."""
    reached = set()
    for route in wanted:
        reached.add(route.target)
        yield route_line(route)
    own = {end.address for end, _ in ends_of(shape, device)}
    for host in shape.hosts:
        for card in host.cards:
            if card.address not in reached and card.address not in own:
                yield f"route replace unreachable {card.address}/32"


def tap_lines(shape: Shape, host: Host) -> Iterator[str]:
    """Yield the lines for a host whose cards are taps of a switch in user space."""
    yield "link set lo up"
    for card in host.cards:
        yield f"link set {card.interface} address {hardware_address(card.address)} mtu {MTU} up"
        yield f"addr add {card.address}/32 dev {card.interface}"
    for other in shape.hosts:
        if other is host:
            continue
        for number, card in enumerate(other.cards):
            own = host.cards[number % len(host.cards)]
            yield f"route add {card.address}/32 dev {own.interface} src {own.address}"
            hardware = hardware_address(card.address)
            yield f"neigh add {card.address} lladdr {hardware} dev {own.interface} nud permanent"


def hardware_address(address: str) -> str:
    """Return the Ethernet address of a card: 02:00 and its IPv4 address.

    >>> hardware_address("10.77.0.2")
    '02:00:0a:4d:00:02'
    """
    return ":".join(["02", "00", *(f"{int(part):02x}" for part in address.split("."))])
