"""What a system's file may say; see :mod:`artery.catalog.schema` for how values are written.

A node and a fabric in a few lines::

    chip = "h100-sxm"
    library = "nccl"

    [node]
    kind = "nvswitch"
    chips = 8
    link = "nvlink4"

    [fabric]
    nic = {link = "ib-ndr", count = 8}
    hop = "450 ns"
    tiers = [{name = "leaf", nodes = 32}, {name = "spine"}]

Instead of ``[fabric]`` there may be a ``[dragonfly]`` between nodes, or a ``[torus]`` of chips
(``kind = "torus"``). A network that is none of these is drawn by hand: ``kind = "graph"`` and its
cables::

    [node]
    kind = "graph"
    chips = 2
    cables = [{ends = ["chip0", "switch0"], link = "pcie4x16"},
              {ends = ["chip1", "switch0"], link = "pcie4x16"}]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from artery.catalog.schema import STRICT, Delay, Dollars, LinkRate, Rate, Ratio, Seconds, Watts

NodeKind = Literal[
    "single",
    "pcie-tree",
    "nvlink-pairs",
    "cube-mesh",
    "nvswitch",
    "nvl72",
    "full-mesh",
    "torus",
    "noc-mesh",
    "noc-ring",
    "noc-crossbar",
    "graph",
]
Routing = Literal["hash", "modulo"]
Library = Literal["nccl", "rccl", "ici", "gloo"]


@dataclass(frozen=True, slots=True)
class HostTable:
    """``[node.host]``: the PCIe side. ``memory`` is the host memory bandwidth of the node."""

    link: str
    switches: int = 0
    sockets: int = 1
    memory: Rate | None = None
    socket_bandwidth: LinkRate | None = None
    peer_to_peer: bool = True

    __pydantic_config__: ClassVar = STRICT


@dataclass(frozen=True, slots=True)
class CableTable:
    """One of ``node.cables``: it joins two of ``chipN``, ``switchN``, ``hostN``, ``nicN``.

    ``bandwidth`` replaces that of the class ``link``.
    """

    ends: tuple[str, ...]
    link: str
    bandwidth: LinkRate | None = None

    __pydantic_config__: ClassVar = STRICT


@dataclass(frozen=True, slots=True)
class NodeTable:
    """``[node]``: how the chips of a node are joined.

    ``link`` is the class of the scale-up link: all links of a chip together, but one link in a
    full mesh. ``bandwidth`` and ``latency`` (one way) replace those of the class. ``switches`` is
    the number of NVSwitches, ``trays`` those of an NVL72 rack that are used, ``reduction`` is
    ``nvls`` if they add; ``cables`` are those of a
    graph. ``power`` is that of a node without its chips.
    """

    kind: NodeKind
    chips: int = 1
    link: str | None = None
    bandwidth: LinkRate | None = None
    latency: Delay | None = None
    switches: int | None = None
    trays: int = 18
    reduction: Literal["nvls", "none"] | None = None
    host: HostTable | None = None
    cables: tuple[CableTable, ...] = ()
    columns: int | None = None
    memories: int = 0
    memory_bandwidth: Rate | None = None
    power: Watts | None = None

    __pydantic_config__: ClassVar = STRICT


@dataclass(frozen=True, slots=True)
class NicTable:
    """``nic`` of a fabric: ``count`` network cards per node.

    Each is split over ``planes`` trees that share no switch, and in each of them over ``tors``
    leaves. ``bandwidth`` and ``efficiency`` replace those of the class ``link``.
    """

    link: str
    count: int
    planes: int = 1
    tors: int = 1
    bandwidth: LinkRate | None = None
    efficiency: Ratio | None = None

    __pydantic_config__: ClassVar = STRICT


@dataclass(frozen=True, slots=True)
class LevelTable:
    """One of ``[[fabric.tiers]]``, from the leaves up.

    ``nodes`` under one group of its switches (left out: all); ``taper`` is the bandwidth below
    over the bandwidth into it; ``radix`` the ports of one switch at a card port's rate.
    """

    name: str
    nodes: int | None = None
    taper: Ratio = 1.0
    radix: int = 64

    __pydantic_config__: ClassVar = STRICT


@dataclass(frozen=True, slots=True)
class FabricTable:
    """``[fabric]``: cards and switches between the nodes.

    ``hop`` is the latency of a switch with its cable, ``latency`` one way through a leaf (left
    out: the card's and one hop). ``rails``: card r of every node goes to leaf r; ``rail_only``: the
    rails share no switch at all. ``reduction`` is
    ``sharp`` if the switches add. ``published`` is the largest number of chips that the source
    describes; more is extrapolated, with a warning. ``limit`` is one that cannot be passed.
    """

    nic: NicTable
    tiers: tuple[LevelTable, ...]
    hop: Delay
    latency: Delay | None = None
    rails: bool = False
    rail_only: bool = False
    routing: Routing = "hash"
    reduction: Literal["sharp", "none"] = "none"
    published: int | None = None
    limit: int | None = None

    __pydantic_config__: ClassVar = STRICT


@dataclass(frozen=True, slots=True)
class DragonflyTable:
    """``[dragonfly]``: groups of ``nodes`` nodes, every group joined to every other.

    ``routers`` of a group carry the cards; ``spines`` join them in a dragonfly+, without they are
    joined all to all, by ``local`` cables to a pair. ``between`` cables join two groups. ``radix``
    are the ports of a router at a card's rate. ``latency`` is one way through one router (left
    out: the card's and one hop), ``hop`` that of one more in the group, ``long`` across to another
    group. The rest is as in ``[fabric]``.
    """

    nic: NicTable
    nodes: int
    routers: int
    hop: Delay
    long: Delay
    spines: int = 0
    local: int = 1
    between: int = 1
    radix: int = 64
    latency: Delay | None = None
    routing: Routing = "hash"
    reduction: Literal["sharp", "none"] = "none"
    published: int | None = None
    limit: int | None = None

    __pydantic_config__: ClassVar = STRICT


@dataclass(frozen=True, slots=True)
class TorusTable:
    """``[torus]``: ``link`` is one of a chip's links, ``limit`` the chips of the whole pod.

    ``dimensions`` is 2 or 3. A slice wraps around if all its sides are multiples of ``cube`` (as
    optical switches join cubes); with ``each_side`` every such side wraps by itself; ``wrap =
    false`` is a mesh, whatever its sides.
    """

    link: str
    dimensions: int
    limit: int
    cube: int = 1
    wrap: bool = True
    each_side: bool = False
    bandwidth: LinkRate | None = None
    latency: Delay | None = None

    __pydantic_config__: ClassVar = STRICT


@dataclass(frozen=True, slots=True)
class CalibrationTable:
    """``[calibration]``: factors that ``artery calibrate`` measured on this very system.

    ``node_start`` multiplies what the library takes to start and to step inside a node with small
    messages (NCCL's LL), ``node_fill`` with large ones (LL128, Simple); ``network_start`` and
    ``network_fill`` what a step between nodes costs it; ``compute`` the clock of the chips.
    ``network_message`` is the time that every further channel of a small message adds to a step
    between nodes. ``host`` and ``exposed`` multiply the launch floor and the share of communication
    that does not hide of one ``framework``, a profile of the catalog.
    """

    node_start: Ratio = 1.0
    node_fill: Ratio = 1.0
    network_start: Ratio = 1.0
    network_fill: Ratio = 1.0
    network_message: Seconds = 0.0
    compute: Ratio = 1.0
    framework: str | None = None
    host: Ratio = 1.0
    exposed: Ratio = 1.0

    __pydantic_config__: ClassVar = STRICT


@dataclass(frozen=True, slots=True)
class SystemTable:
    """A system's file. ``chips`` is how many to take if nobody says (else: one node)."""

    name: str
    title: str
    chip: str
    library: Library
    node: NodeTable
    fabric: FabricTable | None = None
    dragonfly: DragonflyTable | None = None
    torus: TorusTable | None = None
    chips: int | None = None
    chip_hour_price: Dollars | None = None
    calibration: CalibrationTable | None = None

    __pydantic_config__: ClassVar = STRICT
