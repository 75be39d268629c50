"""A network in user space: frames queue at the wires of their way, and arrive when they would.

Every wire has a queue in virtual time: a frame departs at ``max(now, free)``, keeps the wire for
``bytes / rate`` and is at the other end ``delay`` later; what would wait behind more than ``queue``
bytes is dropped, and so is a share ``loss``, drawn. Switches cut through: a frame keeps several
wires at once. Equal ways are chosen by a hash of addresses and ports.
"""

from __future__ import annotations

import heapq
import json
import os
import select
import socket
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from time import monotonic
from typing import Final

from artery.runner.lab.routes import Hop, routes
from artery.runner.lab.shape import Shape

_VNET: Final = 10
"""Bytes of ``struct virtio_net_hdr`` before a frame: type at 1, header's length at 2, size of a
segment at 4 (linux/virtio_net.h)."""

_IP: Final = _VNET + 14
_LARGEST: Final = _VNET + 14 + 65_536
_AT_ONCE: Final = 16
"""Frames read from one tap before the others have their turn."""


@dataclass(slots=True)
class Lane:
    """One direction of a wire; ``held`` says that the host itself keeps to its rate."""

    rate: float
    held: bool = False
    up: bool = True
    free: float = 0.0
    sent: int = 0


@dataclass(slots=True)
class Switch:
    """The wires of a shape in virtual time."""

    shape: Shape
    lanes: list[tuple[Lane, Lane]] = field(init=False)
    _random: Random = field(init=False)
    _hops: dict[tuple[str, str], tuple[Hop, ...]] = field(init=False)
    _ways: dict[bytes, list[Lane] | None] = field(init=False)
    _next: dict[tuple[str, str], tuple[Lane, str]] = field(init=False)

    def __post_init__(self) -> None:
        cards = {card.address for host in self.shape.hosts for card in host.cards}
        self.lanes = [
            (Lane(wire.rate, held=wire.lower.address in cards), Lane(wire.rate))
            for wire in self.shape.wires
        ]
        self._random = Random(self.shape.conditions.seed)  # noqa: S311 (draws losses)
        self._next = {}
        for wire, (rise, fall) in zip(self.shape.wires, self.lanes, strict=True):
            self._next[wire.lower.address, wire.lower.interface] = (rise, wire.upper.address)
            self._next[wire.upper.address, wire.upper.interface] = (fall, wire.lower.address)
        self._route()

    def limit(self, wire: int, share: float) -> None:
        """Leave ``share`` of a wire's rate; 0 takes it down."""
        for lane in self.lanes[wire]:
            lane.up = share > 0.0
            lane.rate = self.shape.wires[wire].rate * (share or 1.0)
        self._route()

    def passes(self, frame: bytes, now: float) -> tuple[float, str] | None:
        """Return when a frame arrives, and at which address; ``None`` if it does not.

        ``frame`` begins with its virtio header; what is no IPv4 packet to a card is dropped.
        """
        if len(frame) < _IP + 20 or frame[_IP - 2 : _IP] != b"\x08\x00":
            return None
        ports = frame[_IP + 20 : _IP + 24] if frame[_IP] == 0x45 else b""
        flow = frame[_IP + 12 : _IP + 20] + frame[_IP + 9 : _IP + 10] + ports
        if flow not in self._ways:
            self._ways[flow] = self._way(flow)
        way = self._ways[flow]
        if way is None:
            return None
        conditions = self.shape.conditions
        size = _wire_bytes(frame)
        tail = now
        for lane in way:
            lane.sent += size
            start = now if lane.held else max(now, lane.free)
            if (start - now) * lane.rate > conditions.queue:
                return None
            lane.free = start + size / lane.rate
            if not lane.held:
                tail = max(tail, lane.free)
            if conditions.loss and self._random.random() < conditions.loss:
                return None
            now = start + conditions.delay
            tail += conditions.delay
        return tail, _dotted(flow[4:8])

    def carried(self) -> list[tuple[int, int]]:
        """Return the bytes that each wire has carried upwards and downwards."""
        return [(rise.sent, fall.sent) for rise, fall in self.lanes]

    def _route(self) -> None:
        """Find all next hops anew, and forget the ways of flows."""
        down = {number for number, (lane, _) in enumerate(self.lanes) if not lane.up}
        address = {one.name: one.address for one in self.shape.switches}
        self._hops = {}
        for device, found in routes(self.shape, down).items():
            for route in found:
                here = address.get(device, route.source)
                self._hops[here, route.target] = route.hops
        self._ways = {}

    def _way(self, flow: bytes) -> list[Lane] | None:
        """Return the wires that a flow takes, ``None`` if there is no way."""
        source, target = _dotted(flow[:4]), _dotted(flow[4:8])
        # A host with several cards may send with the address of one by the route of another.
        found: list[Lane] = []
        here = source
        while here != target:
            hops = self._hops.get((here, target)) or self._by_another(here, target)
            if not hops or len(found) > len(self.shape.wires):
                return None
            seed = zlib.crc32(here.encode(), self.shape.conditions.seed)
            hop = hops[_mixed(zlib.crc32(flow, seed)) % len(hops)]
            start = self._start(here, hop)
            lane, here = self._next[start, hop.interface]
            found.append(lane)
        return found

    def _by_another(self, here: str, target: str) -> tuple[Hop, ...]:
        for host in self.shape.hosts:
            own = [card.address for card in host.cards]
            if here in own:
                return next(
                    (self._hops[one, target] for one in own if (one, target) in self._hops), ()
                )
        return ()

    def _start(self, here: str, hop: Hop) -> str:
        """Return the address behind the interface of a hop: another card's, it may be."""
        if (here, hop.interface) in self._next:
            return here
        for host in self.shape.hosts:
            own = [card.address for card in host.cards]
            if here in own:
                return next(one for one in own if (one, hop.interface) in self._next)
        return here


def serve(switch: Switch, taps: Mapping[str, int], line: socket.socket) -> int:
    """Move frames between ``taps`` (open files, by address) until ``line`` closes; return 0.

    A line of JSON with ``wire`` and ``share`` limits a wire; each is answered with the bytes that
    wires have carried. ``select`` waits by microseconds, where ``epoll`` rounds to milliseconds.
    """
    address = {file: name for name, file in taps.items()}
    due: list[tuple[float, int, int, bytes]] = []
    number = 0
    files = [*address, line.fileno()]
    while True:
        wait = max(0.0, due[0][0] - monotonic()) if due else None
        ready, _, _ = select.select(files, [], [], wait)
        now = monotonic()
        for file in ready:
            if file == line.fileno():
                if not _orders(switch, line):
                    return 0
                continue
            for frame in _frames(file):
                found = switch.passes(frame, now)
                if found is not None and found[1] in taps:
                    number += 1
                    heapq.heappush(due, (found[0], number, taps[found[1]], frame))
        _deliver(due, os.write)


def _frames(file: int) -> list[bytes]:
    """Return the frames that wait in a tap, some at most."""
    found: list[bytes] = []
    try:
        while len(found) < _AT_ONCE:
            found.append(os.read(file, _LARGEST))
    except BlockingIOError:
        pass
    return found


def _deliver(due: list[tuple[float, int, int, bytes]], write: Callable[[int, bytes], int]) -> None:
    """Write the frames whose time has come; a host that does not take one loses it."""
    now = monotonic()
    while due and due[0][0] <= now:
        _, _, file, frame = heapq.heappop(due)
        try:
            write(file, frame)
        except OSError:
            continue


def _orders(switch: Switch, line: socket.socket) -> bool:
    """Answer one request; return whether there is anybody to answer."""
    text = line.recv(1 << 16)
    if not text:
        return False
    request = json.loads(text)
    if "wire" in request:
        switch.limit(int(request["wire"]), float(request["share"]))
    line.sendall(json.dumps(switch.carried()).encode() + b"\n")
    return True


def _wire_bytes(frame: bytes) -> int:
    """Return what a frame takes on the wire: uncut, it is several packets with a header each."""
    length = len(frame) - _VNET
    segment = int.from_bytes(frame[4:6], "little")
    if not frame[1] or not segment:
        return length
    header = int.from_bytes(frame[2:4], "little")
    data = length - header
    return data + -(-data // segment) * header


def _dotted(address: bytes) -> str:
    return ".".join(map(str, address))


def _mixed(word: int) -> int:
    """Return the word stirred: the low bits of a CRC are linear in what they sum up.

    Half of splitmix64's finaliser, as :mod:`artery.cluster.paths.choice` stirs its hashes.
    """
    word = (word ^ (word >> 16)) * 0xBF58476D1CE4E5B9 & (2**64 - 1)
    return word ^ (word >> 31)
