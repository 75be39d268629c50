"""A lab whose frames a switch in user space moves: a tap for every card, one process in between."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import struct
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from artery.runner.lab import commands, namespaces
from artery.runner.lab.shape import Host, Shape
from artery.runner.lab.switch import Switch, serve

_SET_INTERFACE: Final = 0x400454CA
"""``TUNSETIFF`` (linux/if_tun.h)."""

_SET_OFFLOAD: Final = 0x400454D0
"""``TUNSETOFFLOAD``."""

_TAP: Final = 0x0002 | 0x1000 | 0x4000
"""``IFF_TAP | IFF_NO_PI | IFF_VNET_HDR``: whole Ethernet frames, with what is left to offload."""

_WHOLE_FRAMES: Final = 0x01 | 0x02
"""``TUN_F_CSUM | TUN_F_TSO4``: frames of 64 KiB pass uncut and without a checksum."""


@dataclass(slots=True)
class TapNetwork:
    """A network that is up: namespaces of hosts by name, and a line to the switch's process."""

    shape: Shape
    where: Mapping[str, int]
    line: socket.socket
    process: int
    share: dict[int, float] = field(default_factory=dict)

    @classmethod
    def build(cls, shape: Shape) -> TapNetwork:
        """Return the network of ``shape``, built; raises ``namespaces.RefusedError``."""
        where = {host.name: namespaces.new() for host in shape.hosts}
        taps: dict[str, int] = {}
        for host in shape.hosts:
            with namespaces.inside(where[host.name]):
                namespaces.settle(commands.GROUND)
                for card in host.cards:
                    taps[card.address] = tap(card.interface)
                namespaces.ip(commands.tap_lines(shape, host))
                namespaces.tc(_rates(shape, host, {}))
        mine, its = socket.socketpair()
        process = os.fork()
        if process == 0:
            mine.close()
            # A switch that waits for a processor delays what it should not; without root it may.
            with suppress(PermissionError):
                os.setpriority(os.PRIO_PROCESS, 0, -15)
            os._exit(serve(Switch(shape), taps, its))
        its.close()
        for file in taps.values():
            os.close(file)
        return cls(shape, where, mine, process)

    def limit(self, wire: int, share: float) -> None:
        """Leave ``share`` of a wire's rate, 0 to take it down, 1 to repair it."""
        if share == 1.0:
            self.share.pop(wire, None)
        else:
            self.share[wire] = share
        for host in self.shape.hosts:
            if host.name == self.shape.wires[wire].lower.device:
                with namespaces.inside(self.where[host.name]):
                    namespaces.tc(_rates(self.shape, host, self.share))
        self._ask({"wire": wire, "share": share})

    def carried(self) -> list[tuple[int, int]]:
        """Return the bytes that each wire has carried: from its lower end, and from its upper."""
        found: list[tuple[int, int]] = self._ask({})
        return found

    def _ask(self, request: dict[str, float]) -> list[tuple[int, int]]:
        """Send a request to the switch and return the bytes that wires have carried."""
        try:
            self.line.sendall(json.dumps(request).encode() + b"\n")
            answer = b""
            while not answer.endswith(b"\n"):
                part = self.line.recv(1 << 16)
                if not part:
                    raise ConnectionError
                answer += part
        except OSError:
            raise namespaces.RefusedError("the switch in user space has ended") from None
        found: list[tuple[int, int]] = [(one, other) for one, other in json.loads(answer)]
        return found


def _rates(shape: Shape, host: Host, share: Mapping[int, float]) -> Iterator[str]:
    """Yield the lines of ``tc`` for a host's cards, each with the rate of all of its ports.

    The token bucket is in the host and not in the switch, so that TCP feels it at once and keeps
    its data back (TCP small queues) in place of filling the switch.
    """
    for card in host.cards:
        rates = [
            wire.rate * (share.get(number, 1.0) or 1.0)
            for number, wire in enumerate(shape.wires)
            if wire.lower.address == card.address
        ]
        yield commands.rate_line(card.interface, sum(rates))


def tap(interface: str) -> int:
    """Return a new tap of that name in the present namespace as an open file."""
    try:
        file = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise namespaces.RefusedError(f"/dev/net/tun: {error.strerror}") from None
    try:
        fcntl.ioctl(file, _SET_INTERFACE, struct.pack("16sH22x", interface.encode(), _TAP))
        fcntl.ioctl(file, _SET_OFFLOAD, _WHOLE_FRAMES)
    except OSError as error:
        os.close(file)
        raise namespaces.RefusedError(f"tap {interface}: {error.strerror}") from None
    return file
