"""``Shape``: the network of a lab as data: hosts, switches, wires with rates, and addresses.

It travels to the process that holds the lab as JSON, so it is plain text and numbers.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Literal

Engine = Literal["kernel", "tap"]
"""Who moves the frames: the kernel's routes and token buckets, or a switch in user space."""


@dataclass(frozen=True, slots=True)
class End:
    """One end of a wire: the device, its interface, the address behind it, and its other name.

    ``alias`` is how ``artery simulate`` calls the vertex: ``leaf 0``.
    """

    device: str
    interface: str
    address: str
    alias: str


@dataclass(frozen=True, slots=True)
class Wire:
    """A wire from a ``lower`` to an ``upper`` end; ``rate`` is B/s per direction, in the lab."""

    lower: End
    upper: End
    rate: float

    @property
    def name(self) -> str:
        """The wire as people write it: ``leaf001[3] - spine001[1]``."""
        return f"{_shown(self.lower)} - {_shown(self.upper)}"


@dataclass(frozen=True, slots=True)
class Card:
    """A network card of a host: the interface that carries its address."""

    interface: str
    address: str


@dataclass(frozen=True, slots=True)
class Host:
    """A host with its cards, and the switch that its first card is on."""

    name: str
    cards: tuple[Card, ...]
    leaf: str


@dataclass(frozen=True, slots=True)
class Switch:
    """A switch; it forwards what its routes say."""

    name: str
    address: str


@dataclass(frozen=True, slots=True)
class Conditions:
    """How wires behave in a user-space switch, and how hashes are drawn.

    ``delay`` is seconds one way through each wire, ``queue`` the bytes that wait for one, ``loss``
    the share of frames that each loses, ``seed`` draws hashes and losses.
    """

    delay: float = 0.0
    queue: int = 1 << 20
    loss: float = 0.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Shape:
    """The network of a lab.

    ``system`` and ``asked`` are how the system and its overrides were named, ``scale`` is the rates
    of wires over those of that system.
    """

    system: str
    engine: Engine
    scale: float
    hosts: tuple[Host, ...]
    switches: tuple[Switch, ...]
    wires: tuple[Wire, ...]
    conditions: Conditions = Conditions()
    asked: tuple[str, ...] = ()

    @property
    def devices(self) -> tuple[str, ...]:
        """The names of all hosts, then of all switches."""
        return (*(one.name for one in self.hosts), *(one.name for one in self.switches))

    def to_json(self) -> str:
        """Return the shape as one line of JSON."""
        return json.dumps(asdict(self))


def from_json(text: str) -> Shape:
    """Return the shape that :meth:`Shape.to_json` wrote."""
    return from_plain(json.loads(text))


def from_plain(found: dict[str, Any]) -> Shape:
    """Return the shape of an object of JSON."""
    return Shape(
        system=found["system"],
        engine=found["engine"],
        scale=found["scale"],
        hosts=tuple(
            Host(one["name"], tuple(Card(**card) for card in one["cards"]), one["leaf"])
            for one in found["hosts"]
        ),
        switches=tuple(Switch(**one) for one in found["switches"]),
        wires=tuple(
            Wire(End(**one["lower"]), End(**one["upper"]), one["rate"]) for one in found["wires"]
        ),
        conditions=Conditions(**found["conditions"]),
        asked=tuple(found["asked"]),
    )


def _shown(end: End) -> str:
    """Return a host's end without, a switch's with its port."""
    if end.interface.startswith("eth"):
        return end.device if end.interface == "eth0" else f"{end.device} {end.interface}"
    return f"{end.device}[{end.interface.removeprefix('p')}]"
