"""The shape of a lab from a system: its cables become wires, its nodes hosts, its rates smaller."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Final

from artery.cluster.cables import cabling_of
from artery.core.cabling import Cabling
from artery.core.system import System
from artery.runner.lab.shape import Card, Conditions, End, Engine, Host, Shape, Switch, Wire

MOST_DEVICES: Final = 256
"""Hosts and switches of one lab: assumed to be as many as one machine should hold."""

MOST_WIRES: Final = 2048
"""Wires of one lab, for the same reason."""


class TooLargeError(ValueError):
    """The network has more parts than a lab takes."""


def shaped(system: System, rate: float, engine: Engine, conditions: Conditions) -> Shape:
    """Return the shape of ``system`` whose fastest wire moves ``rate`` B/s per direction.

    Raises :class:`artery.cluster.cables.NoFabricError` for a system without switches between
    nodes, and :class:`TooLargeError`.
    """
    if system.nodes > MOST_DEVICES:
        raise TooLargeError(f"{system.nodes:,} hosts; a lab has at most {MOST_DEVICES}")
    cabling = cabling_of(system)
    if len(cabling.devices) > MOST_DEVICES or len(cabling.cables) > MOST_WIRES:
        many = f"{len(cabling.devices):,} hosts and switches, {len(cabling.cables):,} cables"
        raise TooLargeError(f"{many}; a lab has at most {MOST_DEVICES} and {MOST_WIRES:,}")
    scale = rate / max(cable.rate or 0.0 for cable in cabling.cables)
    wires = wires_of(system, cabling, scale)
    leaf = {wire.lower.device: wire.upper.device for wire in reversed(wires)}
    cards: defaultdict[str, dict[str, Card]] = defaultdict(dict)
    for wire in wires:
        end = wire.lower
        if end.interface.startswith("eth"):
            cards[end.device].setdefault(end.address, Card(end.interface, end.address))
    switches = {wire.upper.device: wire.upper.address for wire in wires}
    return Shape(
        system=system.name,
        engine=engine,
        scale=scale,
        hosts=tuple(Host(name, tuple(own.values()), leaf[name]) for name, own in cards.items()),
        switches=tuple(Switch(name, address) for name, address in switches.items()),
        wires=wires,
        conditions=conditions,
    )


def wires_of(system: System, cabling: Cabling, scale: float) -> tuple[Wire, ...]:
    """Return the cables of a system as wires: a card's ports are ``eth0`` and ``eth0p2``."""
    aliases = _aliases(system, cabling)
    kinds = {device.identity: device.kind for device in cabling.devices}
    addresses = _Addresses()
    used: Counter[str] = Counter()
    found = []
    for cable in cabling.cables:
        ends = []
        for end in (cable.one, cable.other):
            host = kinds[end.device] == "host"
            if host:
                used[f"{end.device} {end.card}"] += 1
                port = used[f"{end.device} {end.card}"]
                card = f"eth{end.card.removeprefix('nic')}"
                interface = card if port == 1 else f"{card}p{port}"
            else:
                used[end.device] += 1
                interface = f"p{used[end.device]}"
            name = f"{end.device} {end.card}" if host else end.device
            address = addresses.of(name, second=77 if host else 78)
            ends.append(End(end.device, interface, address, aliases[name]))
        found.append(Wire(ends[0], ends[1], (cable.rate or 0.0) * scale))
    return tuple(found)


class _Addresses:
    """Hands out 10.77.x.y to cards and 10.78.x.y to switches, in the order of first asking."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self._count: Counter[int] = Counter()

    def of(self, name: str, second: int) -> str:
        """Return the address of ``name``."""
        if name not in self._known:
            self._count[second] += 1
            number = self._count[second]
            self._known[name] = f"10.{second}.{number // 250}.{number % 250 + 1}"
        return self._known[name]


def _aliases(system: System, cabling: Cabling) -> dict[str, str]:
    """Return how ``artery simulate`` calls each switch and card: group and number from 0."""
    cards = [(end.device, end.card) for cable in cabling.cables for end in (cable.one,) if end.card]
    per_node = len({card for _, card in cards})
    found: dict[str, str] = {}
    for group in system.groups:
        if group.kind == "nic":
            for device, card in cards:
                node = int(device.removeprefix("node")) - 1
                number = node * per_node + int(card.removeprefix("nic"))
                found[f"{device} {card}"] = f"{group.name} {number}"
        elif group.kind == "switch":
            width = max(3, len(str(group.count)))
            for number in range(group.count):
                name = group.name if group.own else f"{group.name}{number + 1:0{width}d}"
                found[name] = f"{group.name} {number}"
    return found
