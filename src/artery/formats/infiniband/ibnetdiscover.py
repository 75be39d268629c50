"""``ibnetdiscover``: the switches and host cards of an InfiniBand subnet, port by port.

Blocks begin with ``Switch N "S-guid" # "name"`` or ``Ca N "H-guid" # "name"``; every cable stands
in the blocks of both of its ends. A card's name is ``host card``; SHARP's aggregation nodes, which
live inside switches, are no hosts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Final

from artery.core.cabling import Cable, Cabling, Device, End
from artery.errors import InputError, Problem
from artery.formats.cabling.reading import fabric_reading
from artery.formats.infiniband.ibsim_net import ibsim_reading, is_ibsim_net
from artery.formats.infiniband.names import card_of
from artery.formats.infiniband.rates import LANE, link_rate
from artery.formats.reading import Format, Reading
from artery.formats.text import Text

_GUID = r'"([SHR])-([0-9a-fA-F]{1,32})"'
_BLOCK = re.compile(rf'\s*(?:Switch|Ca|Rt)\s+\d+\s+{_GUID}\s*#\s*"([^"]*)"')
_PORT = re.compile(
    rf"\s*\[(\d+)\](?:\[[^\]]*\])?(?:\([0-9a-fA-F]+\))?\s*{_GUID}\[(\d+)\]"
    r'(?:\[[^\]]*\])?(?:\([0-9a-fA-F]+\))?\s*#([^"]*)"([^"]*)"(.*)'
)
_SPEED = re.compile(r"\b(\d+)x([A-Z][A-Z0-9]+)\b")
_HEADER = re.compile(r"\s*(?:(?:vendid|devid|sysimgguid|switchguid|caguid|rtguid)=|#|$)")


@dataclass(slots=True)
class _Found:
    """What was met so far: devices by identity, GUIDs with a block of their own, and cables."""

    devices: dict[str, Device] = field(default_factory=dict)
    blocks: set[str] = field(default_factory=set)
    cables: dict[frozenset[tuple[str, str]], Cable] = field(default_factory=dict)
    ignored: int = 0


def is_ibnetdiscover(text: Text) -> bool:
    """Whether the text has a block of a switch or a card."""
    return re.search(rf"(?m)^[ \t]*(?:Switch|Ca)\s+\d+\s+{_GUID}", text.content) is not None


def read_cabling(text: Text) -> Cabling:
    """Return the cabling that an ``ibnetdiscover`` output describes.

    A host's cards are joined by the host's name; cards without a name of their own stay apart.
    Raises :class:`artery.errors.InputError` if there is no switch in it.
    """
    found = _Found()
    guid = ""
    here: End | None = None
    for number, line in enumerate(text.lines, 1):
        if block := _BLOCK.match(line):
            letter, guid, name = block[1], _guid(block[2]), block[3]
            here = _end(found, letter, guid, name)
            found.blocks.add(guid)
        elif port := _PORT.match(line):
            if here is not None:
                _cable(found, (guid, here), port, number)
        elif not _HEADER.match(line):
            found.ignored += 1
    if not any(device.kind == "switch" for device in found.devices.values()):
        rule = "ibnetdiscover prints a block for every switch"
        fix = "run it on a host of the subnet, as root"
        raise InputError(Problem(file=text.path, found="no switch", rule=rule, fix=fix))
    warnings = (f"{found.ignored} lines were not understood",) if found.ignored else ()
    cables = [
        # Only where both ends have a block could both report the cable.
        cable if {guid for guid, _ in ends} <= found.blocks else replace(cable, sides=2)
        for ends, cable in found.cables.items()
    ]
    devices = tuple(found.devices.values())
    return Cabling(text.path, "ibnetdiscover", devices, tuple(cables), warnings)


def _guid(digits: str) -> str:
    """Return a GUID without leading zeros, which some versions drop."""
    return f"{int(digits, 16):x}"


def _end(found: _Found, letter: str, guid: str, name: str) -> End | None:
    """Return the end at a device, without its port; ``None`` for an aggregation node."""
    if letter != "H":
        found.devices.setdefault(guid, Device(guid, name or guid, "switch", bool(name)))
        return End(guid)
    card = card_of(name, guid)
    if card is None:
        return None
    found.devices.setdefault(card[0].identity, card[0])
    return card[1]


def _cable(found: _Found, near: tuple[str, End], port: re.Match[str], number: int) -> None:
    """Note the cable of one port line, or that its other end reports it too."""
    guid, here = near
    letter, far, remote, name = port[2], _guid(port[3]), port[4], port[6]
    there = _end(found, letter, far, name)
    if there is None:
        return
    speed = _SPEED.search(port[7])
    rate = link_rate(int(speed[1][:4]), speed[2]) if speed and speed[2] in LANE else None
    key = frozenset({(guid, port[1]), (far, remote)})
    if key in found.cables:
        found.cables[key] = replace(found.cables[key], sides=2)
        return
    one, other = replace(here, port=port[1]), replace(there, port=remote)
    found.cables[key] = Cable(one, other, rate, sides=1, line=number)


def _recognise(text: Text) -> float:
    return 0.95 if is_ibnetdiscover(text) or is_ibsim_net(text) else 0.0


def _read(text: Text) -> Reading:
    if not is_ibnetdiscover(text):
        return ibsim_reading(text)
    return fabric_reading(read_cabling(text))


FORMAT: Final = Format("ibnetdiscover", "system", _recognise, _read)
