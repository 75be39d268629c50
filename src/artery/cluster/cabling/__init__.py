"""A cabling seen as a network: its tiers, its islands, and the links between each two switches.

A switch with hosts is a leaf; every further tier is one cable farther from the hosts. A few hosts
on a spine (a subnet manager, storage) do not make it a leaf: its neighbours have hosts as well.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from artery.core.cabling import Cable, Cabling, Device, End

STRAY: Final = 8
"""Assumed: where fewer than one in so many cables goes to a host, the hosts may be strays."""

NO_TIER: Final = 99
"""The tier of a switch that no host reaches."""


@dataclass(frozen=True)
class Network:
    """A cabling with what follows from it. Identities are those of the devices."""

    cabling: Cabling

    @cached_property
    def devices(self) -> Mapping[str, Device]:
        """Every device by its identity."""
        return {device.identity: device for device in self.cabling.devices}

    def name(self, identity: str) -> str:
        """The device's name as people know it."""
        return self.devices[identity].name

    def is_host(self, identity: str) -> bool:
        """Whether the device is a host."""
        return self.devices[identity].kind == "host"

    @cached_property
    def links(self) -> Mapping[str, Counter[str]]:
        """Cables from every device to each of its neighbours."""
        found: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for cable in self.cabling.cables:
            one, other = cable.one.device, cable.other.device
            found[one][other] += 1
            if one != other:
                found[other][one] += 1
        return found

    @cached_property
    def tier(self) -> Mapping[str, int]:
        """The tier of every switch: 1 for a leaf, 2 for a spine, and so on; ``NO_TIER``."""
        switches = [one.identity for one in self.cabling.devices if one.kind == "switch"]
        hosts = {one: self._hosts(one) for one in switches}
        with_hosts = [one for one in switches if hosts[one]]
        leaves = [one for one in with_hosts if not self._strays(one, hosts)] or with_hosts
        found = dict.fromkeys(leaves, 1)
        queue = deque(leaves)
        while queue:
            here = queue.popleft()
            for near in self.links[here]:
                if near not in found and not self.is_host(near):
                    found[near] = found[here] + 1
                    queue.append(near)
        return {one: found.get(one, NO_TIER) for one in switches}

    def _strays(self, switch: str, hosts: Mapping[str, int]) -> bool:
        """Whether the hosts of a switch are few, and a third of its neighbours have some too."""
        if hosts[switch] * STRAY >= self.links[switch].total():
            return False
        near = [one for one in self.links[switch] if one in hosts]
        return 3 * sum(hosts[one] > 0 for one in near) >= len(near) > 0

    def _hosts(self, switch: str) -> int:
        return sum(count for near, count in self.links[switch].items() if self.is_host(near))

    def switches(self, tier: int) -> list[str]:
        """The switches of a tier, by name."""
        return sorted((one for one, at in self.tier.items() if at == tier), key=self.name)

    @property
    def tiers(self) -> int:
        """The number of tiers."""
        return max((at for at in self.tier.values() if at != NO_TIER), default=0)

    def above(self, switch: str) -> Counter[str]:
        """The cables of a switch to each switch one tier up."""
        up = self.tier[switch] + 1
        near = self.links[switch].items()
        return Counter({one: count for one, count in near if self.tier.get(one) == up})

    def hosts_of(self, switch: str) -> list[tuple[str, Cable]]:
        """The hosts on a switch, each with its cable."""
        return [(host.device, cable) for host, cable in self._host_cables[switch]]

    @cached_property
    def _host_cables(self) -> Mapping[str, list[tuple[End, Cable]]]:
        found: defaultdict[str, list[tuple[End, Cable]]] = defaultdict(list)
        for cable in self.cabling.cables:
            for near, far in ((cable.one, cable.other), (cable.other, cable.one)):
                if self.is_host(near.device) and not self.is_host(far.device):
                    found[far.device].append((near, cable))
        return found

    def cards_of(self, switch: str) -> list[End]:
        """The ends of the host cards on a switch."""
        return [end for end, _ in self._host_cables[switch]]

    @cached_property
    def islands(self) -> list[set[str]]:
        """The parts that no cable joins, largest first."""
        return _components(self.devices, self.links)

    def pods(self, tier: int) -> list[set[str]]:
        """The parts that the switches of ``tier`` and the one above it fall into by themselves.

        Of parts that are equally large, the first in the file comes first.
        """
        inside = {one: at for one, at in self.tier.items() if at in (tier, tier + 1)}
        links = {
            one: [near for near in self.links[one] if near in inside and near in self.tier]
            for one in inside
        }
        return _components(inside, links)

    def joined(self, tier: int) -> list[set[str]]:
        """The parts that the hosts and the switches up to ``tier`` fall into.

        Of parts that are equally large, the first in the file comes first.
        """
        inside = dict.fromkeys(one for one in self.devices if self.tier.get(one, 0) <= tier)
        links = {one: [near for near in self.links[one] if near in inside] for one in inside}
        return _components(inside, links)

    def shown(self, end: End) -> str:
        """An end as people write it: ``leaf03[17]``, ``node001 mlx5_0``."""
        name = self.name(end.device)
        if self.is_host(end.device):
            return f"{name} {end.card}" if end.card and end.card != end.device else name
        return f"{name}[{end.port}]" if end.port else name

    def cable(self, cable: Cable) -> str:
        """A cable as people write it, with its line in the file."""
        line = f" (line {cable.line})" if cable.line else ""
        return f"{self.shown(cable.one)} - {self.shown(cable.other)}{line}"


def _components(members: Iterable[str], links: Mapping[str, Iterable[str]]) -> list[set[str]]:
    """Return the connected parts, largest first, equal ones in the order of ``members``."""
    seen: set[str] = set()
    found = []
    for start in members:
        if start in seen:
            continue
        part = {start}
        queue = deque(part)
        while queue:
            for near in links.get(queue.popleft(), ()):
                if near not in part:
                    part.add(near)
                    queue.append(near)
        seen |= part
        found.append(part)
    return sorted(found, key=len, reverse=True)
