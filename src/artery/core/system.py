"""``System``: chips, what joins them, and the nested domains that a group of chips meets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from artery.core.chip import Chip
from artery.core.link import Link
from artery.core.source import Provenance

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TierKind = Literal["switch", "ring", "mesh", "cube-mesh", "pcie-tree", "pairs", "torus", "crossbar"]


@dataclass(frozen=True, slots=True)
class VertexGroup:
    """``count`` vertices of one kind (``chip``, ``host``, ``nic``, ``switch``), numbered on.

    With ``own`` the one vertex has a name of its own and no number.
    """

    kind: str
    name: str
    count: int
    own: bool = False

    def called(self, number: int) -> str:
        """Return what a vertex is called: ``leaf 3``, ``chip 17``, or by its own name."""
        return self.name if self.own else f"{self.name} {number}"


@dataclass(frozen=True, slots=True)
class Edges:
    """The wiring as three integer arrays of one length: from, to, index into ``System.links``.

    Each entry is one direction; a cable is two entries.
    """

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    link: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Router:
    """Routing as data: a path is computed from the digits of a vertex, never looked up.

    ``radix`` are the mixed-radix digits of a chip number, innermost first, and
    ``choice`` the rule at each tier: ``direct``, ``hash``, ``modulo`` or ``dimension``.
    ``structure`` is the frozen data of the builder (its counts of switches and ports), from which
    :mod:`artery.cluster.routing` computes paths; ``None`` if paths are not needed.
    """

    radix: tuple[int, ...]
    choice: tuple[str, ...]
    structure: object | None = None


@dataclass(frozen=True, slots=True)
class Tier:
    """One level of the nested domains that a chip sits in; tiers are listed innermost first.

    ``chips`` is the number of chips in one domain of this tier. ``bandwidth`` is what one
    chip can send into this tier, B/s per direction, while every chip does (after taper and
    NIC sharing); ``burst`` is what it can send while its neighbours are silent. ``latency``
    is one way, chip to chip across this tier, hardware only, in seconds. ``reduction`` names
    in-switch reduction (``nvls``, ``sharp``). ``ring`` gives, for a packed group of ``g``
    chips inside one domain, the B/s per direction that a (multi-)ring over them reaches per
    chip at index ``g`` (index 0 and 1 unused); empty means ``bandwidth`` for every ``g``.
    ``exchange`` gives likewise what each of a packed group sends while all send to all alike;
    empty means as much as ``ring``. ``pair`` is the B/s of one chip to one other chip in this tier,
    and ``onward`` what each of a packed group sends to the one after it while all do (empty:
    ``pair``). ``own_exchange`` and ``own_onward`` are the same if only cables of the class ``link``
    held a group back (empty: no others do). All are rates of ``link``: times its efficiency they
    are what is reached, also where cables of another class hold a group back. ``last`` is the share
    that the last domain of the tier below, which may be part-filled, has of a full one's links into
    this tier.
    """

    name: str
    chips: int
    kind: TierKind
    link: Link
    bandwidth: float
    burst: float
    pair: float
    latency: float
    reduction: str | None = None
    ring: tuple[float, ...] = ()
    exchange: tuple[float, ...] = ()
    onward: tuple[float, ...] = ()
    own_exchange: tuple[float, ...] = ()
    own_onward: tuple[float, ...] = ()
    dims: tuple[int, ...] = ()
    last: float = 1.0

    def times(self, factor: float) -> Tier:
        """Return the tier with every rate of its own ``factor`` times as high; the link as is."""
        return replace(
            self,
            bandwidth=self.bandwidth * factor,
            burst=self.burst * factor,
            pair=self.pair * factor,
            ring=tuple(rate * factor for rate in self.ring),
            exchange=tuple(rate * factor for rate in self.exchange),
            onward=tuple(rate * factor for rate in self.onward),
            own_exchange=tuple(rate * factor for rate in self.own_exchange),
            own_onward=tuple(rate * factor for rate in self.own_onward),
        )


@dataclass(frozen=True, slots=True)
class Calibration:
    """What measurements on this very system said of library and chips, as factors.

    ``node_start`` multiplies what the library takes to start and to step inside a node with small
    messages (NCCL's LL), ``node_fill`` with large ones (LL128, Simple); ``network_start`` and
    ``network_fill`` what a step between nodes costs it. ``compute`` multiplies the clock that the
    chips hold. ``network_message`` is no factor: seconds that every further channel of a small
    message adds to a step between nodes. ``host`` multiplies the launch floor, and ``exposed`` the
    share of communication that does not hide, of the training framework called ``framework``.
    """

    node_start: float = 1.0
    node_fill: float = 1.0
    network_start: float = 1.0
    network_fill: float = 1.0
    network_message: float = 0.0
    compute: float = 1.0
    framework: str | None = None
    host: float = 1.0
    exposed: float = 1.0


@dataclass(frozen=True, slots=True)
class System:
    """A set of chips and the network between them. One chip alone is a system too.

    ``wiring`` builds the edge arrays on demand. ``node_power`` is watts of one node without
    its chips, ``chip_hour_price`` US dollars per chip-hour.
    ``overrides`` are the ``path=value`` texts that were laid over what ``name`` stands for;
    ``asked`` is how it was named, with its chips or shape where they were said.
    ``calibration`` are factors that were measured.
    ``library`` names the communication library (``nccl``, ``rccl``, ``ici``, ``gloo``).
    """

    name: str
    chip: Chip
    chips: int
    chips_per_node: int
    tiers: tuple[Tier, ...]
    groups: tuple[VertexGroup, ...]
    links: tuple[Link, ...]
    wiring: Callable[[], Edges]
    router: Router
    library: str
    node_power: float | None = None
    chip_hour_price: float | None = None
    calibration: Calibration = field(default_factory=Calibration)
    warnings: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()
    asked: str | None = None
    provenance: Provenance = field(default_factory=dict)

    @property
    def nodes(self) -> int:
        """Number of nodes, the last one perhaps part-filled."""
        return -(-self.chips // self.chips_per_node)
