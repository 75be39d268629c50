"""The cables that ``iblinkinfo`` tells: every port with a peer, once for both ends.

With ``-l`` no line says what a device is: one with more ports than a card is a switch, and so is
what a card is cabled to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, Literal

from artery.core.cabling import Cable, Cabling, Device, End
from artery.formats.infiniband.names import AGGREGATION, card_of
from artery.formats.infiniband.rates import generation, link_rate

MOST_PORTS: Final = 2
"""Ports of a host's card; what lists more is a switch."""

Kind = Literal["switch", "host", ""]


@dataclass(frozen=True, slots=True)
class Port:
    """One port line; ``lanes`` and ``signalling`` (Gb/s of a lane) are ``None`` if it is down.

    ``kind`` is that of the device above the line in blocks; ``guid`` and ``peer_guid`` are empty
    where the form has none.
    """

    name: str
    number: str
    lanes: int | None
    signalling: float | None
    state: str
    physical: str
    peer: str
    hint: str
    line: int
    kind: Kind = ""
    guid: str = ""
    peer_guid: str = ""
    peer_port: str = ""

    @property
    def unlinked(self) -> bool:
        """Whether nothing answers at the other end."""
        return self.physical.casefold() in {"down", "polling", "disabled"}

    @property
    def speed(self) -> str | None:
        """The generation, ``EDR`` and the like."""
        return generation(self.signalling) if self.signalling else None

    @property
    def rate(self) -> float | None:
        """B/s per direction."""
        return link_rate(self.lanes, self.speed) if self.lanes and self.speed else None


def cabling_of(path: str, ports: Iterable[Port]) -> Cabling | None:
    """Return the cables between the ports of a listing; ``None`` if it shows no switch."""
    listed = list(ports)
    switches = _switches(listed)
    if not switches:
        return None
    devices: dict[str, Device] = {}
    cables: dict[frozenset[tuple[str, str, str]], Cable] = {}
    for port in listed:
        if not port.peer:
            continue
        ends = [
            _end(name, guid, number, switches, devices)
            for name, guid, number in (
                (port.name, port.guid, port.number),
                (port.peer, port.peer_guid, port.peer_port),
            )
        ]
        one, other = ends
        if one is None or other is None:
            continue
        key = frozenset((end.device, end.card, end.port) for end in (one, other))
        if key in cables:
            cables[key] = replace(cables[key], sides=2)
        else:
            cables[key] = Cable(one, other, port.rate, line=port.line)
    if not cables:
        return None
    return Cabling(path, "iblinkinfo", tuple(devices.values()), tuple(cables.values()))


def _switches(ports: list[Port]) -> set[str]:
    """Return the names and GUIDs of the switches."""
    found = {key for port in ports if port.kind == "switch" for key in (port.name, port.guid)}
    lines = Counter(port.guid or port.name for port in ports if not port.kind)
    for port in ports:
        few = port.kind == "host" or (not port.kind and lines[port.guid or port.name] <= MOST_PORTS)
        if few and AGGREGATION not in port.name:
            found |= {port.peer, port.peer_guid}
        elif not few:
            found |= {port.name, port.guid}
    return found - {""}


def _end(
    name: str, guid: str, number: str, switches: set[str], devices: dict[str, Device]
) -> End | None:
    """Return one end of a cable, its device noted; ``None`` for a SHARP node."""
    if (guid or name) in switches or name in switches:
        identity = guid or name
        devices.setdefault(identity, Device(identity, name or guid, "switch", bool(name)))
        return End(identity, number)
    found = card_of(name, guid or name)
    if found is None:
        return None
    devices.setdefault(found[0].identity, found[0])
    return replace(found[1], port=number)
