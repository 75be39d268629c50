"""``Scenario``: under which conditions a collective is played."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from artery.errors import UnknownNameError
from artery.native.messages import WHOLE

Routing = Literal["ecmp", "static", "adaptive", "spray"]
EngineName = Literal["auto", "coupled", "messages", "fluid", "sampled"]
FlowControl = Literal["auto", "none", "pfc", "credit"]

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

    ``efficiency`` is the share of a link's rate left by congestion control beyond what the link
    class already counts, ``reordered`` the share left when packets of one message take several
    paths and arrive out of order; ``note`` says where both come from. ``control`` is how a full
    buffer stops its senders; with finite buffers, segments that meet more than ``mark`` bytes in
    a queue tell their sender to slow down (0: none do).
    """

    segment: int
    window: int
    efficiency: float
    reordered: float
    note: str
    control: Literal["none", "pause", "credit"] = "none"
    mark: int = 0


PROTOCOLS: Final[Mapping[str, Protocol]] = {
    "infiniband": Protocol(
        32_768, 16, 1.0, 1.0, "credits; adaptive routing places packets out of order in memory",
        control="credit",
    ),
    "roce": Protocol(
        32_768, 16, 1.0, 0.95, "priority flow control; 5 % for reordering, assumed",
        control="pause",
    ),
    "roce-dcqcn": Protocol(
        32_768, 16, 0.97, 0.92, "marks slow senders by 1 to 6 % (idealised ECN); 3 %, assumed",
        control="pause", mark=100_000,
    ),
    "efa": Protocol(
        8_192, 64, 1.0, 1.0, "SRD sprays packets and puts them in order on the card (AWS, 2020)"
    ),
    "tcp": Protocol(
        65_536, 4, 1.0, 0.6, "kernel TCP, a window of 256 KiB a connection; reordering assumed"
    ),
}  # fmt: skip
"""Transports by name. Windows are some 50 GB/s · 10 us, the pair against which the message
engine is tested beside packets; marks begin at a quarter of a port's buffer, assumed."""


def protocol(name: str) -> Protocol:
    """Return the transport called ``name``; raises ``UnknownNameError`` with the nearest names."""
    if name not in PROTOCOLS:
        raise UnknownNameError("transport", name, PROTOCOLS)
    return PROTOCOLS[name]


@dataclass(frozen=True, slots=True)
class Scenario:
    """The conditions: how packets are routed and sent, and what is broken.

    ``queue_pairs`` paths are hashed per pair of ranks. ``failed`` is a share of the cables between
    switches, or the numbers of directed links; ``failed_switches`` of them go too, drawn; with
    ``failing`` (s) all that fails during the run. ``slow`` maps a chip to how many times slower
    its links are, ``late`` a chip to the seconds by which it begins later. ``background`` is the
    share of the links between switches that others use all the time. ``inside`` and ``outside``
    are the shares of links of a domain, and of the network, that a communication library reaches;
    ``beside`` that of cables inside a domain that are of another class than the chips' own, and
    ``nearness`` the part of the latency inside a domain that its measured steps leave.
    ``store_and_forward`` switches pass a segment on only when they have it whole. Without
    ``latency`` only bytes take time: links do not delay, and data pass on in pieces of no size;
    who asks counts steps by a law of its own.
    ``flow_control`` says whether port buffers are finite, and what a full one does. ``adding`` and
    ``card_adding`` are the B/s at which a chip adds what it receives, and at which its network card
    adds what comes from other nodes (0: no time, ``artery.simulator.adding``). ``seed`` draws
    hashes and failures. What cannot be ``timed``, message by message, is then refused before it is
    played.
    """

    routing: Routing = "ecmp"
    transport: str = "infiniband"
    queue_pairs: int = 1
    failed: float | tuple[int, ...] = 0.0
    failed_switches: int = 0
    failing: float = 0.0
    slow: Mapping[int, float] = field(default_factory=dict)
    late: Mapping[int, float] = field(default_factory=dict)
    background: float = 0.0
    inside: float = 1.0
    outside: float = 1.0
    beside: float = 1.0
    nearness: float = 1.0
    store_and_forward: bool = False
    latency: bool = True
    flow_control: FlowControl = "auto"
    adding: float = 0.0
    card_adding: float = 0.0
    engine: EngineName = "auto"
    seed: int = 0
    timed: bool = False

    @property
    def packet(self) -> int:
        """Bytes that a switch waits for before it passes a segment on."""
        return WHOLE if self.store_and_forward else 0
