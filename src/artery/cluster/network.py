"""``Network``: the directed links of a system as arrays, and how to find ways over them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from artery.cluster.dragonfly import Dragonfly
from artery.cluster.drawn import Drawn
from artery.cluster.fabric import Fabric, cable_counts, port_classes
from artery.cluster.inside import Inside, inside
from artery.cluster.paths.drawn import Ways, ways
from artery.cluster.paths.torus import torus_cables
from artery.cluster.stages import Stage, crosses, stages
from artery.cluster.torus import Torus, torus_wiring
from artery.cluster.wiring import Assembly
from artery.core.arrays import Flags, Ints
from artery.core.link import Link
from artery.core.system import Edges, System, VertexGroup
from artery.errors import InputError, Problem
from artery.node.trunks import trunked

PICOSECONDS = 1e12


@dataclass(frozen=True, slots=True)
class Tree:
    """A fabric over domains, with what its paths need.

    ``slots`` is the first cable of a card's slot and ``first`` the first of the fabric; ``relay``
    says that a path to another rail changes it in the node that it starts from; ``ways`` are the
    tables of a network drawn cable by cable.
    """

    fabric: Fabric
    within: Inside
    stages: tuple[Stage, ...]
    slots: int
    first: int
    relay: bool
    ways: Ways | None = None

    @property
    def port(self) -> int:
        """The class of the first port of a card; the slot's is the one before."""
        return len(self.within.whole.domain.links) + 1

    @property
    def core(self) -> int:
        """The first class of a cable between switches."""
        return self.port + port_classes(self.fabric)

    @property
    def nodes(self) -> int:
        """Nodes under the fabric."""
        return self.within.whole.nodes


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """The directed links of a system, in the order of :meth:`edges`.

    ``rate`` is B/s (what is reached: efficiency included), ``latency`` picoseconds, both int64;
    ``up`` says which links work; ``kind`` is the index of a link's class in ``links``. Link
    ``cables + k`` is cable ``k`` the other way. NVSwitches of one domain and parallel cables of a
    node are one link of their sum. ``plan`` says how paths run: on a torus, inside one domain, or
    through a fabric over domains.
    """

    rate: Ints
    latency: Ints
    up: Flags
    kind: NDArray[np.int16]
    links: tuple[Link, ...]
    groups: tuple[VertexGroup, ...]
    plan: Torus | Inside | Tree

    @property
    def cables(self) -> int:
        """Cables: half the number of directed links."""
        return len(self.rate) // 2

    @property
    def whole(self) -> bool:
        """Whether all links work."""
        return bool(self.up.all())

    def edges(self) -> Edges:
        """Return the two vertices and the class of every directed link."""
        if isinstance(self.plan, Torus):
            return torus_wiring(self.plan)
        return _within(self.plan).whole.edges()

    @property
    def between(self) -> Ints:
        """The cables between switches: int64 numbers, none in a network of one tier or a torus."""
        # The domain's classes come first, then a card's slot and port, then those between switches.
        core = len(self.links)
        if isinstance(self.plan, Tree):
            core = self.plan.core
        return np.flatnonzero(self.kind[: self.cables] >= core)

    def fail(self, what: float | Iterable[int], seed: int = 0) -> Network:
        """Return a view in which some cables are down, in both directions.

        ``what`` is a share (0 to 1) of the cables between switches (of all cables, if there are
        none such), drawn with ``seed``; or the numbers of directed links. Raises
        :class:`artery.errors.InputError` for a share or a number out of range.
        """
        up = self.up.copy()
        if isinstance(what, int | float):
            down = self._drawn(float(what), seed)
        else:
            down = np.unique(np.fromiter(what, dtype=np.int64))
            if len(down) and (down[0] < 0 or down[-1] >= len(self.rate)):
                raise _out_of_range(f"link {down[0] if down[0] < 0 else down[-1]}", len(self.rate))
            down %= max(self.cables, 1)
        up[down] = False
        up[down + self.cables] = False
        return replace(self, up=up)

    def fail_vertices(self, vertices: Iterable[int]) -> Network:
        """Return a view in which all links of some vertices (switches, cards) are down."""
        edges = self.edges()
        gone = np.isin(edges.source, np.fromiter(vertices, dtype=np.int64))
        return self.fail(np.flatnonzero(gone).tolist())

    def _drawn(self, share: float, seed: int) -> Ints:
        if not 0.0 <= share <= 1.0:
            raise InputError(
                Problem(
                    field="fail",
                    found=f"{share:g}",
                    rule="a share of links lies between 0 and 1",
                    fix="0.01 for one in a hundred",
                )
            )
        candidates = self.between
        if not len(candidates):
            candidates = np.arange(self.cables)
        many = round(share * len(candidates))
        drawn = np.random.default_rng(seed).choice(candidates, many, replace=False)
        return np.sort(drawn).astype(np.int64)


def network(system: System) -> Network:
    """Return the network of a system.

    Raises :class:`artery.errors.InputError` if the system was not built by a builder that says how
    its paths run.
    """
    plan = plan_of(system)
    if isinstance(plan, Torus):
        kind = np.zeros(2 * torus_cables(plan), dtype=np.int16)
        return _network(system, kind, (plan.link,), plan)
    whole = _within(plan).whole
    domain = np.array([cable[2] for cable in whole.domain.cables], dtype=np.int16)
    parts = [np.tile(domain, whole.domains - 1), domain[~whole.missing_cables()]]
    if isinstance(plan, Inside):
        return _network(system, np.concatenate([*parts, *parts]), whole.links, plan)
    kinds = len(whole.domain.links)
    parts.append(np.full(plan.first - plan.slots, kinds, dtype=np.int16))
    parts += [
        np.full(count, kinds + 1 + kind, dtype=np.int16)
        for kind, count in cable_counts(plan.fabric, whole.nodes)
    ]
    links = _without_slots(whole, plan.within)
    return _network(system, np.concatenate([*parts, *parts]), links, plan)


def plan_of(system: System) -> Torus | Inside | Tree:
    """Return how the paths of a system run, without a link of its network.

    Raises :class:`artery.errors.InputError` if the system was not built by a builder that says it.
    """
    structure = system.router.structure
    if isinstance(structure, Torus):
        return structure
    if isinstance(structure, Assembly):
        return _assembled(replace(structure, domain=trunked(structure.domain)))
    raise InputError(
        Problem(
            field="system",
            found=f"{system.name} without a structure",
            rule="paths are computed from what a builder says of its switches",
            fix="take a system of the catalog or from a file",
        )
    )


def _assembled(whole: Assembly) -> Inside | Tree:
    """Return the ways through domains under a fabric, cables counted in this order."""
    slots = whole.domains * len(whole.domain.cables) - int(whole.missing_cables().sum())
    if whole.fabric is None:
        return inside(whole, slots)
    many = whole.nodes * whole.fabric.cards - whole.missing_slots(whole.fabric)
    above = sum(count for _, count in cable_counts(whole.fabric, whole.nodes))
    within = inside(whole, slots + many + above)
    return _tree(whole.fabric, within, slots, slots + many)


def _network(
    system: System,
    kind: NDArray[np.int16],
    links: tuple[Link, ...],
    plan: Torus | Inside | Tree,
) -> Network:
    """Return the network of links of the classes ``links``, whose paths follow ``plan``."""
    rate = np.array([int(link.bandwidth * link.efficiency) for link in links], dtype=np.int64)
    latency = np.array([round(link.latency * PICOSECONDS) for link in links], dtype=np.int64)
    return Network(
        rate=rate[kind],
        latency=latency[kind],
        up=np.ones(len(kind), dtype=bool),
        kind=kind,
        links=links,
        groups=system.groups if isinstance(plan, Torus) else _within(plan).whole.groups,
        plan=plan,
    )


def _within(plan: Inside | Tree) -> Inside:
    return plan.within if isinstance(plan, Tree) else plan


def _tree(fabric: Fabric, within: Inside, slots: int, first: int) -> Tree:
    """Return the fabric with its stages; rails that never meet are changed inside nodes."""
    if isinstance(fabric, Dragonfly):
        return Tree(fabric, within, (), slots, first, relay=False)
    if isinstance(fabric, Drawn):
        table = ways(fabric)
        return Tree(fabric, within, (), slots, first, not table.joined, table)
    found = stages(fabric, within.whole.nodes)
    relay = fabric.rail_only or (fabric.rails and not crosses(found))
    return Tree(fabric, within, found, slots, first, relay)


def _without_slots(whole: Assembly, within: Inside) -> tuple[Link, ...]:
    """Return the classes of link, the latency from a chip to its card taken off the card's port.

    The latency of a fabric is from chip to chip, so it includes what lies inside the node.
    """
    links = list(whole.links)
    arcs = within.exits[0, 0]
    cable = arcs[arcs >= 0] % max(within.cables, 1)
    spent = sum(links[whole.domain.cables[index][2]].latency for index in cable.tolist())
    first = len(whole.domain.links) + 1
    ports = port_classes(whole.fabric) if whole.fabric is not None else 0
    for port in range(first, first + ports):
        links[port] = replace(links[port], latency=max(0.0, links[port].latency - spent))
    return tuple(links)


def _out_of_range(found: str, links: int) -> InputError:
    return InputError(
        Problem(
            field="fail",
            found=found,
            rule=f"there are {links:,} directed links, numbered from 0",
            fix=f"0 to {links - 1}",
        )
    )
