"""From the table of a system to the noun: its parts put together, clipped to its chips."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import chain
from math import ceil, prod

from artery.catalog.door import is_path
from artery.catalog.systems.parts import Links, dragonfly, fat_tree, scale_up, slice_of
from artery.catalog.systems.schema import SystemTable, TorusTable
from artery.catalog.systems.spec import Spec
from artery.cluster.dragonfly import CHOOSING, Dragonfly, RouterPortsError, check_ports
from artery.cluster.drawn import Drawn
from artery.cluster.fabric import Fabric, fabric_tiers
from artery.cluster.fat_tree import FatTree
from artery.cluster.stages import TooManyPortsError, stages
from artery.cluster.torus import Torus, squarest, torus_tier, torus_wiring
from artery.cluster.wiring import Assembly
from artery.core.chip import Chip
from artery.core.link import Link
from artery.core.system import Calibration, Edges, Router, System, Tier, VertexGroup
from artery.errors import InputError, Problem
from artery.node.scale_up import ScaleUp
from artery.node.single import alone

LIBRARY_OF_VENDOR = {"nvidia": "nccl", "amd": "rccl", "google": "ici"}
"""The communication library of one chip alone; others have ``gloo``."""


def build(
    table: SystemTable,
    chip: Chip,
    links: Links,
    wanted: Spec,
    drawn: Callable[[int], Drawn] | None = None,
) -> System:
    """Return the system with the ``wanted`` chips or shape (else as the table says, or one node).

    ``links`` are the classes that the table names; ``drawn`` gives the network above a number of
    nodes, if it is not that of the table. Raises :class:`artery.errors.InputError` if it
    cannot be that large, has no such shape, or its tiers need more ports than a switch has.
    """
    if table.torus is not None:
        grid = _slice(table, table.torus, links, wanted)
        network, warnings = _torus(grid), _torus_warnings(table, grid, wanted)
    else:
        domain = scale_up(table.node, links)
        chips = wanted.chips if drawn and wanted.chips else _chips(table, domain, wanted)
        nodes = ceil(chips / table.node.chips)
        tree = drawn(nodes) if drawn else _fabric(table, links, nodes)
        network = _switched(table, domain, tree, chips)
        warnings = chain(
            _uncounted(table, wanted, chips),
            _warnings(table, domain, chips, extrapolated=drawn is None),
        )
    measured = _calibration(table)
    return System(
        name=table.name,
        chip=_at_its_clock(chip, measured.compute),
        chips=network.chips,
        chips_per_node=table.node.chips,
        tiers=network.tiers,
        groups=network.groups,
        links=network.links,
        wiring=network.wiring,
        router=network.router,
        library=table.library,
        node_power=table.node.power,
        chip_hour_price=table.chip_hour_price,
        calibration=measured,
        warnings=tuple(warnings),
    )


def _calibration(table: SystemTable) -> Calibration:
    found = table.calibration
    if found is None:
        return Calibration()
    return Calibration(**{one.name: getattr(found, one.name) for one in fields(Calibration)})


def _at_its_clock(chip: Chip, factor: float) -> Chip:
    """Return the chip with the clock it holds in long runs changed by ``factor``."""
    if factor == 1.0:
        return chip
    efficiency = replace(chip.efficiency, sustained=chip.efficiency.sustained * factor)
    return replace(chip, efficiency=efficiency)


def lone_chip(chip: Chip) -> System:
    """Return one chip as a system, its crossbar the only tier."""
    whole = Assembly(1, alone(chip), None)
    return System(
        name=chip.name,
        chip=chip,
        chips=1,
        chips_per_node=1,
        tiers=whole.domain.tiers,
        groups=whole.groups,
        links=whole.links,
        wiring=whole.edges,
        router=Router((1,), ("direct",), whole),
        library=LIBRARY_OF_VENDOR.get(chip.vendor.casefold(), "gloo"),
    )


@dataclass(frozen=True, slots=True)
class _Network:
    """What joins the chips, in the terms of :class:`artery.core.system.System`."""

    chips: int
    tiers: tuple[Tier, ...]
    groups: tuple[VertexGroup, ...]
    links: tuple[Link, ...]
    wiring: Callable[[], Edges]
    router: Router


def _switched(table: SystemTable, domain: ScaleUp, tree: Fabric | None, chips: int) -> _Network:
    """Return the network of domains under switches, if more than one node needs them."""
    nodes = ceil(chips / table.node.chips)
    if tree is not None and (nodes > 1 or not domain.tiers):
        _check_ports(tree, nodes)
    tiers = _nested(domain, tree, table.node.chips, chips)
    if nodes == 1 and domain.tiers:
        tree = None
    whole = Assembly(chips, domain, tree)
    return _Network(
        chips, tiers, whole.groups, whole.links, whole.edges, _router(tiers, tree, whole)
    )


def _fabric(table: SystemTable, links: Links, nodes: int) -> Fabric | None:
    """Return what joins ``nodes`` nodes, if they can be joined."""
    if table.dragonfly is not None:
        return dragonfly(table.dragonfly, links)
    return None if table.fabric is None else fat_tree(table.fabric, links).clipped(nodes)


def _nested(
    domain: ScaleUp, tree: Fabric | None, chips_per_node: int, chips: int
) -> tuple[Tier, ...]:
    """Return the tiers that ``chips`` chips meet, each clipped to them, innermost first."""
    above = () if tree is None else fabric_tiers(tree, chips_per_node, chips)
    kept: list[Tier] = []
    for tier in (*domain.tiers, *above):
        if kept and kept[-1].chips >= chips:
            break
        size = min(tier.chips, chips)
        some = slice(size + 1)
        kept.append(
            replace(
                tier,
                chips=size,
                ring=tier.ring[some],
                exchange=tier.exchange[some],
                onward=tier.onward[some],
                own_exchange=tier.own_exchange[some],
                own_onward=tier.own_onward[some],
            )
        )
    return tuple(kept)


def _router(tiers: tuple[Tier, ...], tree: Fabric | None, whole: Assembly) -> Router:
    """Return the digits of a chip number: its place in each tier's domain, innermost first."""
    radix: list[int] = []
    inside = 1
    for tier in tiers:
        radix.append(ceil(tier.chips / inside))
        inside = tier.chips
    # Up to the leaf there is one path; above it there is a choice among equal ones.
    single_path = len(tiers)
    if isinstance(tree, FatTree):
        single_path += 1 - len(tree.levels)
    elif isinstance(tree, Drawn):
        single_path += 1 - len(tree.meetings)
    elif tree is not None:
        single_path -= sum(tier.name in CHOOSING for tier in tiers)
    routing = "direct" if tree is None else tree.routing
    choice = ["direct" if index < single_path else routing for index in range(len(tiers))]
    return Router(tuple(radix), tuple(choice), whole)


def _chips(table: SystemTable, domain: ScaleUp, wanted: Spec) -> int:
    """Return how many chips there shall be, or raise if there cannot be so many."""
    if wanted.shape is not None:
        raise InputError(
            Problem(
                field="system",
                found=f"the shape {_times(wanted.shape)}",
                rule=f"{table.name} is no torus and takes a number of chips",
                fix=f'"{table.name}:{prod(wanted.shape)}"',
            )
        )
    chips = wanted.chips or table.chips or domain.chips
    fabric = table.fabric or table.dragonfly
    if fabric is None and chips > domain.chips:
        raise _too_many(table.name, chips, domain.chips, "it has no fabric")
    if fabric is not None and fabric.limit is not None and chips > fabric.limit:
        raise _too_many(table.name, chips, fabric.limit, "that is the whole of it")
    return chips


def _check_ports(tree: Fabric, nodes: int) -> None:
    """Raise if the nodes of a rail group, or the groups of a dragonfly, need too many ports."""
    try:
        if isinstance(tree, Dragonfly):
            check_ports(tree, nodes)
        elif isinstance(tree, FatTree):
            stages(tree, nodes)
    except RouterPortsError as error:
        raise InputError(
            Problem(
                field="dragonfly.radix",
                found=f"{error}",
                rule="every group is joined to every other, and a router to all of its group",
                fix="fewer nodes or cables between groups, more routers, or a larger radix",
            )
        ) from None
    except TooManyPortsError as error:
        raise InputError(
            Problem(
                field="fabric.tiers[0].nodes",
                found=str(error),
                rule="with rails every node takes a port of every leaf of its group",
                fix="fewer nodes in a group, or a larger radix",
            )
        ) from None


def _uncounted(table: SystemTable, wanted: Spec, chips: int) -> Iterator[str]:
    """Yield that a file with a network between nodes does not say how many there are."""
    larger = (table.fabric or table.dragonfly) is not None
    if larger and is_path(wanted.name) and wanted.chips is None and table.chips is None:
        name, more = f"{wanted.name}:{8 * chips}", 8 * chips
        said = "the file does not say how many chips; one node is taken"
        yield f"{table.name}: {said}, {name} takes {more:,}"


def _warnings(
    table: SystemTable, domain: ScaleUp, chips: int, *, extrapolated: bool
) -> Iterator[str]:
    """Yield what the user should know of how ``chips`` fill the system."""
    for size, what in ((table.node.chips, "node"), (domain.chips, "domain")):
        again = what == "domain" and domain.nodes == 1
        if chips % size and not again:
            yield f"{table.name}: the last {what} holds {chips % size} of {size} chips"
    if table.node.kind == "nvswitch" and table.node.reduction is None:
        yield f"{table.name}: node.reduction is not given; taken as none (nvls: NVLink 4 and later)"
    fabric = table.fabric or table.dragonfly
    published = None if fabric is None or not extrapolated else fabric.published
    if published is not None and chips > published:
        yield f"{table.name}: published to {published:,} chips; {chips:,} is extrapolated"


def _slice(table: SystemTable, pod: TorusTable, links: Links, wanted: Spec) -> Torus:
    """Return the slice of the wanted shape, or the squarest one of the wanted number of chips."""
    chips = wanted.chips or table.chips or table.node.chips
    dims = wanted.shape or squarest(chips, pod.dimensions)
    if len(dims) != pod.dimensions:
        raise InputError(
            Problem(
                field="system",
                found=f"the shape {_times(dims)}",
                rule=f"{table.name} has {pod.dimensions} dimensions",
                fix=f'for example "{table.name}:{_times((4,) * pod.dimensions)}"',
            )
        )
    if prod(dims) > pod.limit:
        raise _too_many(table.name, prod(dims), pod.limit, "that is a whole pod")
    return slice_of(pod, dims, links)


def _torus(grid: Torus) -> _Network:
    return _Network(
        grid.chips,
        (torus_tier(grid),),
        (VertexGroup("chip", "chip", grid.chips),),
        (grid.link,),
        partial(torus_wiring, grid),
        Router(grid.dims, ("dimension",) * len(grid.dims), grid),
    )


def _torus_warnings(table: SystemTable, grid: Torus, wanted: Spec) -> Iterator[str]:
    """Yield what the user should know of the shape of the slice."""
    shape = _times(grid.dims)
    if wanted.chips is not None:
        yield f"{table.name}: {wanted.chips} chips are taken as {shape}, the squarest shape"
    if any(not wrapped and size > 1 for size, wrapped in zip(grid.dims, grid.wrapped, strict=True)):
        yield f"{table.name}: {shape} is no whole number of cubes and not wrapped around"
    if grid.chips % table.node.chips:
        left = grid.chips % table.node.chips
        yield f"{table.name}: the last node holds {left} of {table.node.chips} chips"


def _times(dims: tuple[int, ...]) -> str:
    return "x".join(map(str, dims))


def _too_many(name: str, chips: int, limit: int, why: str) -> InputError:
    return InputError(
        Problem(
            field="system",
            found=f"{chips:,} chips",
            rule=f"{name} holds at most {limit:,} chips: {why}",
            fix=f'"{name}:{limit}", or a file of your own with a fabric',
        )
    )
