"""``lab ib``: what OpenSM does with a system's fabric, held against artery's graph and routing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

import numpy as np

from artery.answers.arguments import refused
from artery.answers.systems import system_of
from artery.cluster.cables import NoFabricError, cabling_of
from artery.cluster.cabling import Network as Cables
from artery.cluster.network import Tree
from artery.cluster.routing import Network, network, paths
from artery.core.cabling import Cabling, Device, End
from artery.core.system import System
from artery.errors import InputError, UnknownNameError
from artery.formats.infiniband.ibsim_net import adapter, as_ibsim
from artery.formats.infiniband.opensm_lfts import ForwardingTables, read_tables
from artery.runner.lab.fabric import ENGINES, bring_up
from artery.runner.lab.modes import best
from artery.runner.lab.shape import End as WireEnd
from artery.runner.lab.wired import wires_of

WAYS: Final = 256
"""Equal paths of a pair that are listed: more than the fabrics that ibsim holds have."""

MOST_ADAPTERS: Final = 1024
"""Channel adapters that ibsim is given (assumed; it keeps a table of 2,048 devices)."""

Hops = tuple[tuple[str, str], ...]
"""A path as the devices on either side of every wire."""


@dataclass(frozen=True, slots=True)
class TierLoad:
    """Paths over the up-links of one tier of switches: least and most on one of them."""

    tier: str
    links: int
    opensm: tuple[int, int]
    artery: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Astray:
    """One path of OpenSM's that artery does not have, and why."""

    source: str
    target: str
    devices: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class IbAnswer:
    """The comparison: ``paths`` of OpenSM's, how many are ``legal``, and loads by tier.

    Legal is a path over wires that are there, up and then down, as short as artery's own, and one
    of those that artery lists for the pair. ``asked`` is the routing engine that was asked for,
    ``engine`` the one that OpenSM took. ``islands`` counts the parts of the fabric that no switch
    joins, of which the largest is looked at.
    """

    system: str
    asked: str
    engine: str
    adapters: int
    switches: int
    islands: int
    paths: int
    legal: int
    astray: tuple[Astray, ...]
    loads: tuple[TierLoad, ...]
    files: Mapping[str, str]

    @property
    def equal(self) -> bool:
        """Whether OpenSM loads the up-links of every tier alike, and as artery's d-mod-k does."""
        return all(
            one.opensm == one.artery and one.opensm[0] == one.opensm[1] for one in self.loads
        )


def lab_ib(on: str, *, engine: str = "ftree", overrides: Sequence[str] = ()) -> IbAnswer:
    """Bring the fabric of ``on`` up under ibsim and OpenSM and compare its forwarding tables.

    Raises ``InputError`` for a system without one, or too large, or where tools are missing.
    """
    if engine not in ENGINES:
        raise UnknownNameError("routing engine of OpenSM", engine, ENGINES)
    system = system_of(on, overrides)
    if system.nodes > MOST_ADAPTERS:  # each has one or more: no cabling of millions is drawn first
        raise _too_many(on, system.nodes)
    try:
        whole = cabling_of(system)
    except NoFabricError:
        fix = "name more chips than one node has, for example dgx-h100:256"
        raise refused("SYSTEM", on, "there are no switches between its nodes", fix) from None
    cabling, islands = _largest(_apart(whole))
    names = [device.identity for device in cabling.devices if device.kind == "host"]
    if len(names) > MOST_ADAPTERS:
        raise _too_many(on, len(names))
    up = bring_up(as_ibsim(cabling), names[0], engine, best(), counters=1)
    tables = read_tables(up.tables, "opensm-lfts.dump")
    ours = _Ours.of(system, whole, cabling)
    pairs = ours.pairs()
    taken = {pair: _walk(tables, ours, *pair) for pair in pairs}
    listed = ours.listed(pairs)
    astray = tuple(
        Astray(pair[0], pair[1], tuple(near for near, _ in way or ()), reason)
        for pair, way in taken.items()
        if (reason := _why(way, listed[pair], ours))
    )
    return IbAnswer(
        system=on,
        asked=engine,
        engine=up.engine,
        adapters=len(names),
        switches=len(tables.ports),
        islands=islands,
        paths=len(pairs),
        legal=len(pairs) - len(astray),
        astray=astray,
        loads=_loads(ours, [way for way in taken.values() if way], ours.counted(pairs)),
        files=up.files,
    )


@dataclass(frozen=True, slots=True)
class _Ours:
    """artery's side: the fabric by the names that OpenSM sees.

    ``peers`` gives, by device and port, who is at the other end; ``chips`` the chip that uses an
    adapter; ``alias`` the name of a device by that of its vertex; ``tier`` of every switch.
    """

    system: System
    wires: Network
    peers: Mapping[str, Sequence[str]]
    chips: Mapping[str, int]
    alias: Mapping[str, str]
    tier: Mapping[str, int]

    @classmethod
    def of(cls, system: System, whole: Cabling, part: Cabling) -> _Ours:
        """Return the fabric of a system with its ``whole`` cabling, of which ``part`` is up."""
        peers: dict[str, list[str]] = {}
        for cable in part.cables:
            peers.setdefault(cable.one.device, []).append(cable.other.device)
            peers.setdefault(cable.other.device, []).append(cable.one.device)
        many = _cards(whole)
        alias = {}
        for wire in wires_of(system, whole, 1.0):
            for end in (wire.lower, wire.upper):
                alias[end.alias] = _seen_wire(end, many)
        wires = network(system)
        return cls(system, wires, peers, _chips(system, wires, many), alias, Cables(part).tier)

    def pairs(self) -> list[tuple[str, str]]:
        """Return all pairs of adapters of one rail: those of equal number in different hosts."""
        return [
            (one, other)
            for one, chip in self.chips.items()
            for other, target in self.chips.items()
            if chip // self.system.chips_per_node != target // self.system.chips_per_node
            and chip % self.system.chips_per_node == target % self.system.chips_per_node
            and one in self.peers
            and other in self.peers
        ]

    def listed(self, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], set[Hops]]:
        """Return all equal paths of each pair: twice as many are asked for until no more come."""
        ways = 2
        found = self._routed(pairs, "spray", ways)
        while ways < WAYS:
            ways *= 2
            more = self._routed(pairs, "spray", ways)
            if sum(map(len, more.values())) == sum(map(len, found.values())):
                break
            found = more
        return found

    def counted(self, pairs: Sequence[tuple[str, str]]) -> list[Hops]:
        """Return the one path of each pair by its target's number: d-mod-k."""
        return [way for ways in self._routed(pairs, "static", 1).values() for way in ways]

    def _routed(
        self, pairs: Sequence[tuple[str, str]], policy: str, ways: int
    ) -> dict[tuple[str, str], set[Hops]]:
        ends = [np.array([self.chips[pair[side]] for pair in pairs]) for side in (0, 1)]
        found = paths(self.system, self.wires, ends[0], ends[1], policy=policy, ways=ways)
        names = _vertices(self.wires)
        edges = self.wires.edges()
        owner = found.pair if len(found.pair) else np.arange(len(pairs))
        taken: dict[tuple[str, str], set[Hops]] = {pair: set() for pair in pairs}
        for number in range(len(found.start) - 1):
            links = found.link[found.start[number] : found.start[number + 1]]
            hops = [
                (names[one], names[other])
                for one, other in zip(edges.source[links], edges.target[links], strict=True)
            ]
            # What lies inside the nodes is no business of OpenSM's.
            taken[pairs[int(owner[number])]].add(
                tuple(
                    (self.alias[one], self.alias[other])
                    for one, other in hops
                    if one in self.alias and other in self.alias
                )
            )
        return taken


def _walk(tables: ForwardingTables, ours: _Ours, source: str, target: str) -> Hops | None:
    """Return the path that the tables give, ``None`` if they lead nowhere."""
    here = ours.peers[source][0]
    way = [(source, here)]
    while here != target:
        port = tables.ports.get(here, {}).get(target, 0)
        if not 0 < port <= len(ours.peers[here]) or len(way) > len(ours.tier) + 1:
            return None
        following = ours.peers[here][port - 1]
        way.append((here, following))
        here = following
    return tuple(way)


def _why(way: Hops | None, listed: set[Hops], ours: _Ours) -> str:
    """Return why a path is not legal in artery's graph, nothing if it is."""
    if way is None:
        return "the tables lead nowhere"
    heights = [ours.tier.get(near, 0) for near, _ in way] + [0]
    steps = [after - before for before, after in pairwise(heights)]
    if sorted(steps, reverse=True) != steps:
        return "it goes up again after it went down"
    if len(way) > min(map(len, listed)):
        return "it is longer than the shortest"
    return "" if way in listed else "artery does not list it"


def _loads(ours: _Ours, theirs: Sequence[Hops], own: Sequence[Hops]) -> tuple[TierLoad, ...]:
    """Return the loads of up-links, tier by tier; a bundle of parallel ones is one link."""
    counts = [Counter(hop for way in ways for hop in way) for ways in (theirs, own)]
    found = []
    for tier in range(1, max(ours.tier.values(), default=1)):
        links = {
            (one, other)
            for one, peers in ours.peers.items()
            for other in peers
            if ours.tier.get(one) == tier and ours.tier.get(other) == tier + 1
        }
        both = [[count[link] for link in links] for count in counts]
        name = next(one for one in ours.tier if ours.tier[one] == tier).rstrip("0123456789")
        spans = [(min(one, default=0), max(one, default=0)) for one in both]
        found.append(TierLoad(name, len(links), spans[0], spans[1]))
    return tuple(found)


def _largest(cabling: Cabling) -> tuple[Cabling, int]:
    """Return the largest part that wires join, and how many parts there are."""
    islands = Cables(cabling).islands
    kept = islands[0]
    cables = tuple(cable for cable in cabling.cables if cable.one.device in kept)
    devices = tuple(device for device in cabling.devices if device.identity in kept)
    return replace(cabling, devices=devices, cables=cables), len(islands)


def _apart(cabling: Cabling) -> Cabling:
    """Return a cabling in which every card is a device of its own, as OpenSM sees it."""
    many = _cards(cabling)
    kinds = {device.identity: device.kind for device in cabling.devices}
    devices: dict[str, Device] = {}
    cables = []
    for cable in cabling.cables:
        ends = []
        for end in (cable.one, cable.other):
            name = _seen(end, many)
            devices[name] = Device(name, name, kinds[end.device])
            ends.append(End(name, end.port))
        cables.append(replace(cable, one=ends[0], other=ends[1]))
    return replace(cabling, devices=tuple(devices.values()), cables=tuple(cables))


def _cards(cabling: Cabling) -> Counter[str]:
    """Return how many cards each host has."""
    ends = [end for cable in cabling.cables for end in (cable.one, cable.other)]
    return Counter(device for device, _ in {(end.device, end.card) for end in ends if end.card})


def _seen(end: End, many: Mapping[str, int]) -> str:
    """Return what OpenSM sees at an end."""
    return adapter(end, many.get(end.device, 1)) if end.card else end.device


def _seen_wire(end: WireEnd, many: Mapping[str, int]) -> str:
    card = f"nic{end.interface.removeprefix('eth').partition('p')[0]}"
    is_host = end.interface.startswith("eth")
    return _seen(End(end.device, "", card if is_host else ""), many)


def _chips(system: System, wires: Network, many: Mapping[str, int]) -> dict[str, int]:
    """Return, by adapter, the first chip of its host that has it as its own."""
    if not isinstance(wires.plan, Tree):
        return {}
    first = wires.plan.within.slots[:, 0].tolist()
    found: dict[str, int] = {}
    for chip in range(system.chips):
        node, place = divmod(chip, system.chips_per_node)
        device = f"node{node + 1:04d}"
        name = _seen(End(device, "", f"nic{first[place]}"), many)
        found.setdefault(name, chip)
    return found


def _vertices(wires: Network) -> list[str]:
    """Return how artery calls every vertex: group and number."""
    return [f"{group.name} {number}" for group in wires.groups for number in range(group.count)]


def _too_many(on: str, adapters: int) -> InputError:
    rule = f"{adapters:,} channel adapters or more; the simulator takes {MOST_ADAPTERS:,}"
    return refused("SYSTEM", on, rule, "name fewer chips")
