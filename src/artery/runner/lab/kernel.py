"""A lab whose frames the kernel moves: namespaces, wires, token buckets, routes of equal cost."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from artery.runner.lab import commands, namespaces
from artery.runner.lab.routes import routes
from artery.runner.lab.shape import Shape


@dataclass(slots=True)
class KernelNetwork:
    """A network that is up. ``where`` are its namespaces as open files, by device.

    ``share`` is what is left of the wires that are not whole: 0 for one that is down.
    """

    shape: Shape
    where: Mapping[str, int]
    share: dict[int, float] = field(default_factory=dict)

    @classmethod
    def build(cls, shape: Shape) -> KernelNetwork:
        """Return the network of ``shape``, built; raises ``namespaces.RefusedError``."""
        network = cls(shape, {device: namespaces.new() for device in shape.devices})
        paths = {device: f"/proc/{os.getpid()}/fd/{file}" for device, file in network.where.items()}
        namespaces.ip(commands.wire_line(wire, paths) for wire in shape.wires)
        switches = {one.name: number for number, one in enumerate(shape.switches)}
        for device, file in network.where.items():
            with namespaces.inside(file):
                namespaces.settle(commands.GROUND)
                if device in switches:
                    namespaces.settle(commands.FORWARDING)
                    _seed(shape.conditions.seed * 65_537 + switches[device] + 1)
                namespaces.ip(commands.up_lines(shape, device))
                namespaces.tc(
                    commands.rate_line(end.interface, wire.rate)
                    for end, wire in commands.ends_of(shape, device)
                )
        network._route()
        return network

    def limit(self, wire: int, share: float) -> None:
        """Leave ``share`` of a wire's rate, 0 to take it down, 1 to repair it; route anew."""
        before = self.share.get(wire, 1.0)
        if share == 1.0:
            self.share.pop(wire, None)
        else:
            self.share[wire] = share
        one = self.shape.wires[wire]
        for end in (one.lower, one.upper):
            with namespaces.inside(self.where[end.device]):
                if share > 0.0:
                    line = commands.rate_line(end.interface, one.rate * share)
                    namespaces.tc([line])
                if (share > 0.0) != (before > 0.0):
                    state = "up" if share > 0.0 else "down"
                    namespaces.ip([f"link set {end.interface} {state}"])
        self._route()

    def carried(self) -> list[tuple[int, int]]:
        """Return the bytes that each wire has carried: from its lower end, and from its upper."""
        counts = {device: self._sent(file) for device, file in self.where.items()}
        return [
            (
                counts[wire.lower.device][wire.lower.interface],
                counts[wire.upper.device][wire.upper.interface],
            )
            for wire in self.shape.wires
        ]

    @staticmethod
    def _sent(namespace: int) -> dict[str, int]:
        """Return the bytes sent by each interface of a namespace, from ``/proc/net/dev``."""
        with namespaces.inside(namespace):
            lines = Path("/proc/thread-self/net/dev").read_text("ascii").splitlines()[2:]
        rows = (line.partition(":") for line in lines)
        return {name.strip(): int(figures.split()[8]) for name, _, figures in rows}

    def _route(self) -> None:
        """Set the routes over the wires that are up."""
        down = {wire for wire, share in self.share.items() if share == 0.0}
        for device, wanted in routes(self.shape, down).items():
            with namespaces.inside(self.where[device]):
                namespaces.ip(commands.route_lines(self.shape, device, wanted))


def _seed(seed: int) -> None:
    """Draw the hash of the present namespace, where the kernel lets one."""
    if Path("/proc/sys", commands.HASH_SEED).exists():
        namespaces.settle({commands.HASH_SEED: str(seed % 2**32)})
