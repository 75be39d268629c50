"""``ibsim``'s net files: ``ibnetdiscover``'s grammar with names in place of GUIDs.

``Switch 8 "leaf1"`` or ``Hca 2 "host1"``, then ``[port] "other"[port]`` with an optional ``w=``
(ibsim, ``net-examples/net``). A peer that has no block of its own is noted.
"""

from __future__ import annotations

import re

from artery.core.cabling import Cable, Cabling, Device, DeviceKind, End
from artery.errors import InputError, Problem
from artery.formats.cabling.reading import fabric_reading
from artery.formats.passed import runs
from artery.formats.reading import Reading
from artery.formats.text import Text

_BLOCK = re.compile(r'\s*(Switch|Hca|Ca)\s+(\d{1,4})\s+"(?![SHR]-[0-9a-fA-F]{1,32}")([^"]{1,200})"')
_PORT = re.compile(r'\s*\[(\d{1,4})\]\s*"([^"]{1,200})"\s*\[(\d{1,4})\]')


def is_ibsim_net(text: Text) -> bool:
    """Whether the text has a block whose name is no GUID."""
    return any(_BLOCK.match(line) for line in text.head.split("\n"))


def read_cabling(text: Text) -> Cabling:
    """Return the cabling of a net file; raises ``InputError`` if it has no switch."""
    devices, cables, _ = _understood(text)
    if not any(one.kind == "switch" for one in devices.values()):
        fix = 'write Switch 36 "leaf1" and its ports below'
        rule = "a net has a switch"
        raise InputError(Problem(file=text.path, found="no switch", rule=rule, fix=fix))
    return Cabling(text.path, "ibnetdiscover", tuple(devices.values()), tuple(cables))


def _understood(text: Text) -> tuple[dict[str, Device], list[Cable], list[int]]:
    """Return devices, cables and the numbers of lines that are neither."""
    devices: dict[str, Device] = {}
    cables: dict[frozenset[tuple[str, str]], Cable] = {}
    strange: list[int] = []
    here = ""
    for number, line in enumerate(text.lines, 1):
        if block := _BLOCK.match(line):
            here = block[3]
            kind: DeviceKind = "switch" if block[1] == "Switch" else "host"
            devices[here] = Device(here, here, kind)
        elif (port := _PORT.match(line)) and here:
            ends = frozenset({(here, port[1]), (port[2], port[3])})
            one, other = End(here, port[1], port[1]), End(port[2], port[3], port[3])
            cables.setdefault(ends, Cable(one, other, line=number))
        elif line.strip() and not line.lstrip().startswith("#"):
            strange.append(number)
    for cable in cables.values():
        devices.setdefault(
            cable.other.device, Device(cable.other.device, cable.other.device, "host")
        )
    return devices, list(cables.values()), strange


def ibsim_reading(text: Text) -> Reading:
    """Return the reading of a net file, as one of ``ibnetdiscover``."""
    return fabric_reading(read_cabling(text), runs(_understood(text)[2], "no block and no port"))


def as_ibsim(cabling: Cabling) -> str:
    """Return a cabling as a net file; a host with several cards is several channel adapters.

    Ports of a device are numbered in the order of its cables, from 1.
    """
    kinds = {device.identity: device.kind for device in cabling.devices}
    cards: dict[str, set[str]] = {}
    for cable in cabling.cables:
        for end in (cable.one, cable.other):
            cards.setdefault(end.device, set()).add(end.card)
    ports: dict[str, list[tuple[str, int]]] = {}
    is_switch: dict[str, bool] = {}
    for cable in cabling.cables:
        names = []
        for end in (cable.one, cable.other):
            name = adapter(end, len(cards[end.device]))
            is_switch[name] = kinds[end.device] == "switch"
            names.append(name)
        places = [len(ports.setdefault(name, [])) + 1 for name in names]
        if names[0] == names[1]:
            places[1] += 1
        ports[names[0]].append((names[1], places[1]))
        ports[names[1]].append((names[0], places[0]))
    blocks = []
    for name, peers in sorted(ports.items(), key=lambda item: not is_switch[item[0]]):
        head = f'{"Switch" if is_switch[name] else "Hca"} {len(peers)} "{name}"'
        lines = [f'[{number}] "{peer}"[{port}]' for number, (peer, port) in enumerate(peers, 1)]
        blocks.append("\n".join([head, *lines]) + "\n")
    return "\n".join(blocks)


def adapter(end: End, cards: int) -> str:
    """Return what a device is called there: a host of several ``cards`` with that of the end."""
    return f"{end.device}-{end.card}" if cards > 1 else end.device
