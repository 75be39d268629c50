"""``Scenario``: under which conditions a collective is played."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from artery.errors import UnknownNameError

Routing = Literal["ecmp", "static", "adaptive", "spray"]
EngineName = Literal["auto", "coupled", "messages", "fluid"]

POLICY: Final[Mapping[str, str]] = {
    "ecmp": "hash",
    "static": "static",
    "adaptive": "adaptive",
    "spray": "spray",
}
"""The policy of ``cluster.routing`` by the name that users say."""


@dataclass(frozen=True, slots=True)
class Protocol:
    """A transport: bytes that may be under way unacknowledged, in segments; rate that it reaches.

    ``efficiency`` is the share of a link's rate left by headers and congestion control beyond
    what the link class already counts; ``note`` its source.
    """

    segment: int
    window: int
    efficiency: float
    note: str


PROTOCOLS: Final[Mapping[str, Protocol]] = {
    "infiniband": Protocol(65_536, 8, 1.0, "credit flow control; window of 512 KiB, assumed"),
    "roce": Protocol(65_536, 8, 1.0, "priority flow control; window of 512 KiB, assumed"),
    "roce-dcqcn": Protocol(
        65_536, 8, 0.97, "rate control marks 1 to 6 % of the time on shared links; 3 %, assumed"
    ),
    "efa": Protocol(8_192, 64, 0.95, "packets sprayed and put in order by the card; assumed"),
    "tcp": Protocol(65_536, 4, 0.90, "kernel TCP, window of 256 KiB per connection; assumed"),
}
"""Transports by name. Windows are bandwidth-delay products of 50 GB/s and 10 us."""


def protocol(name: str) -> Protocol:
    """Return the transport called ``name``; raises ``UnknownNameError`` with the nearest names."""
    if name not in PROTOCOLS:
        raise UnknownNameError("transport", name, PROTOCOLS)
    return PROTOCOLS[name]


@dataclass(frozen=True, slots=True)
class Scenario:
    """The conditions: how packets are routed and sent, and what is broken.

    ``queue_pairs`` paths are hashed per pair of ranks; ``failed`` is a share of the cables between
    switches, or the numbers of directed links; ``slow`` maps a rank to how many times longer it
    takes before each of its sends; ``store_and_forward`` switches pass a packet on only when they
    have it whole. ``seed`` draws hashes and failures.
    """

    routing: Routing = "ecmp"
    transport: str = "infiniband"
    queue_pairs: int = 1
    failed: float | tuple[int, ...] = 0.0
    slow: Mapping[int, float] = field(default_factory=dict)
    store_and_forward: bool = False
    engine: EngineName = "auto"
    seed: int = 0
