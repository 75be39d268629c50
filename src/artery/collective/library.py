"""What a communication library adds to the links: records filled from the catalog.

An operation costs ``base + steps·step + bytes / (rate·fraction)``, where the rate is what the
links reach. A library has several ways (protocols) with different constants, and takes the
fastest: NCCL's LL and LL128 send flags with the data (fast start, part of the bandwidth),
Simple fills large buffers. The lower envelope of these lines is the curve that nccl-tests
measures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from artery.core.link import Link
from artery.core.source import Provenance

OPENING: Final = 4096.0
"""Bytes for which NCCL opens a channel with LL: 8 for each of 512 threads (NCCL_LL_THREAD_THRESHOLD
in src/include/comm.h). Rings open them later, but over nodes NCCL takes trees for small messages.
"""

PAYLOAD: Final[Mapping[str, float]] = {"LL": 4 / 8, "LL128": 120 / 128}
"""Share of data in what a protocol sends, the rest being flags: of 8 bytes, of 128 (``NCCL
src/include/device.h``). It holds on any cable; other protocols send none."""

SLOT: Final = 524_288
"""Bytes that NCCL's Simple passes on as one, a slot of its buffer (NCCL_BUFFSIZE of 4 MiB in
NCCL_STEPS of 8); that all channels of a rank together have one under way is assumed: each has slots
of its own, and cuts them where it has little to send. LL and LL128 pass on every line."""

CHANNELS: Final = 16
"""Assumed: channels of NCCL between nodes of eight chips ("Channel 00/16" in its logs)."""


@dataclass(frozen=True, slots=True)
class Line:
    """One protocol at one buffer size.

    ``base`` is seconds per operation (launch and synchronisation), ``step`` seconds per step
    between chips of one node, hardware included; ``fraction`` is the share of what the link
    reaches in large transfers.
    """

    protocol: str
    base: float
    step: float
    fraction: float


@dataclass(frozen=True, slots=True)
class Spread:
    """How far off a price may be, in 80 of 100 cases: two factors above one.

    ``start`` is that of the time that a message of no bytes takes (which differs between
    machines by their processors, drivers and launchers), ``rate`` that of the bandwidth.
    """

    start: float
    rate: float


@dataclass(frozen=True, slots=True)
class Platform:
    """Constants of one generation of links inside the node.

    ``ring`` are the lines of algorithms in which chips pass data on (ring, tree, chains),
    ``exchange`` those of grouped send/receive, ``in_switch`` those of reduction in the switch
    (empty: the library has none there), used by groups of at least ``smallest_in_switch``;
    ``across`` is the share of their rate that is left when the nodes then go on to exchange.
    ``spread`` bounds its prices.
    """

    name: str
    ring: tuple[Line, ...]
    exchange: tuple[Line, ...]
    in_switch: tuple[Line, ...] = ()
    smallest_in_switch: int = 3
    across: float = 1.0
    spread: Spread = field(default_factory=lambda: Spread(2.0, 1.5))


@dataclass(frozen=True, slots=True)
class Network:
    """Constants of one kind of network between nodes.

    ``hop`` maps a protocol to the seconds that one step between nodes costs above the hardware
    latency (proxy thread, network card, memory fences); ``fraction`` maps a protocol to the
    share of the bandwidth it leaves. ``pipelined_hop`` is the same for one level of a tree of
    in-switch reductions, which moves large buffers; ``in_network`` is the share of its rate that
    a reduction in the network's switches reaches. ``cap`` bounds a node in B/s (the kernel's
    TCP), ``shared`` is the share that is left when several chips use it; ``spread`` bounds its
    prices. ``message`` maps a protocol to the seconds that every further channel adds to a step
    between nodes (absent: none): messages open one per ``OPENING`` bytes, up to ``CHANNELS``.
    """

    name: str
    hop: Mapping[str, float]
    fraction: Mapping[str, float]
    pipelined_hop: float
    in_network: float = 1.0
    cap: float | None = None
    shared: float = 1.0
    spread: Spread = field(default_factory=lambda: Spread(2.0, 1.5))
    message: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Library:
    """A communication library of one version.

    ``platforms`` and ``networks`` are looked up by the kind of a link where that is not how its
    name begins (a PCIe link whose kind is ``pcie-staged``), then by its name, by the beginning
    of its name, by its kind, and as ``default``.
    """

    name: str
    title: str
    version: str
    platforms: Mapping[str, Platform]
    networks: Mapping[str, Network]
    provenance: Provenance = field(default_factory=dict)

    def platform(self, link: Link) -> Platform:
        """Return the constants for groups inside a node joined by ``link``."""
        return self.platforms[_match(link, self.platforms)]

    def network(self, link: Link) -> Network:
        """Return the constants for steps between nodes over ``link``."""
        return self.networks[_match(link, self.networks)]

    @property
    def release(self) -> tuple[int, ...]:
        """The version as numbers: (2, 27)."""
        return release(self.version)


def piece_of(protocol: str) -> int:
    """Return the bytes that a rank passes on as one down chains and trees, over all its channels.

    0 for protocols that pass on every line.
    """
    return 0 if protocol in PAYLOAD else SLOT


def release(version: str) -> tuple[int, ...]:
    """Return ``2.27.7`` as (2, 27, 7); raises ``ValueError`` for anything else."""
    return tuple(int(part) for part in version.split("."))


def _match(link: Link, table: Mapping[str, object]) -> str:
    """Return the key of ``table`` that fits ``link`` best."""
    if link.kind in table and not link.name.startswith(link.kind):
        return link.kind
    if link.name in table:
        return link.name
    heads = [key for key in table if link.name.startswith(key)]
    if heads:
        return max(heads, key=len)
    return link.kind if link.kind in table else "default"
