"""The system that a lab really is: the one that was asked for, on slower wires, under gloo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from artery import units
from artery.answers.arguments import refused
from artery.answers.libraries import library_of
from artery.answers.systems import system_of
from artery.catalog.door import is_path
from artery.catalog.systems import is_catalog_name
from artery.cluster.cables import NoFabricError
from artery.cluster.fat_tree import FatTree
from artery.cluster.wiring import Assembly
from artery.collective.library import Library
from artery.core.system import System
from artery.errors import InputError, Problem, UsageError
from artery.places import is_file
from artery.runner.lab.shape import Conditions, Engine, Shape
from artery.runner.lab.wired import TooLargeError, shaped

RATE: Final = 200e6 / 8
"""B/s of a wire unless asked otherwise: at 200 Mbit/s two cores have time to spare (measured: four
hosts keep within 2 % of the arithmetic; at 1 Gbit/s within 11 %)."""

HOP: Final = 15e-6
"""Seconds that one switch with its wire takes without a delay: of the order of a wake-up of the
kernel, as in the catalog's ``lab-wire`` (assumed)."""

WIRE: Final = "lab-wire"
"""The class of link of every wire of a lab."""


@dataclass(frozen=True, slots=True)
class LabSystem:
    """A system as the lab stands for it, with its shape and the ``overrides`` that make it."""

    system: System
    shape: Shape
    overrides: tuple[str, ...]


def lab_system(
    on: str,
    overrides: Sequence[str],
    *,
    rate: str | None,
    rate_scale: str | None,
    engine: Engine,
    conditions: Conditions,
) -> LabSystem:
    """Return the system ``on`` with the wires of a lab, and the shape of its network.

    ``rate`` is that of the fastest wire, ``rate_scale`` the rates over the real ones; one at most.
    Raises ``InputError`` for a system without a network between nodes, or one too large.
    """
    if rate is not None and rate_scale is not None:
        raise UsageError("--rate and --rate-scale both say how fast the wires are; give one")
    if is_file(on) and (is_path(on) or not is_catalog_name(on)):
        on = str(Path(on).resolve())
    given = system_of(on, overrides)
    structure = given.router.structure
    fabric = structure.fabric if isinstance(structure, Assembly) else None
    if fabric is None:
        raise _no_network(on)
    ports = fabric.planes * fabric.tors if isinstance(fabric, FatTree) else 1
    real = fabric.card.bandwidth / ports
    port = _rate(rate, rate_scale, real)
    table = "fabric" if isinstance(fabric, FatTree) else "dragonfly"
    added = _overrides(table, port * ports, conditions.delay)
    system = system_of(on, (*overrides, *added))
    try:
        shape = shaped(system, port, engine, conditions)
    except NoFabricError:
        raise _no_network(on) from None
    except TooLargeError as error:
        fix = "name fewer chips, for example ethernet-10g:16"
        raise InputError(
            Problem(field="SYSTEM", found=f'"{on}"', rule=f"{error}", fix=fix)
        ) from None
    named = replace(shape, system=on, scale=port / real, asked=tuple(overrides))
    return LabSystem(system, named, (*overrides, *added))


def system_again(shape: Shape) -> System:
    """Return the system of a lab that is up."""
    structure = system_of(shape.system, shape.asked).router.structure
    fabric = structure.fabric if isinstance(structure, Assembly) else None
    if fabric is None:
        raise _no_network(shape.system)
    table = "fabric" if isinstance(fabric, FatTree) else "dragonfly"
    added = _overrides(table, fabric.card.bandwidth * shape.scale, shape.conditions.delay)
    return system_of(shape.system, (*shape.asked, *added))


def lab_library(system: System, shape: Shape) -> Library:
    """Return gloo, whose steps take two one-way delays: the tier's own latency, and one more.

    Measured: 12.3 delays for the six steps of an all-reduce of four.
    """
    library = library_of(system)
    network = library.networks[WIRE]
    crossed = 2 * len([tier for tier in system.tiers if tier.link.name == WIRE])
    more = crossed * shape.conditions.delay
    slower = replace(network, hop={name: hop + more for name, hop in network.hop.items()})
    return replace(library, networks={**library.networks, WIRE: slower})


def _overrides(table: str, card: float, delay: float) -> tuple[str, ...]:
    """Return what makes a system that of a lab: gloo over wires of ``card`` B/s in all."""
    return (
        "library=gloo",
        f"{table}.nic.link={WIRE}",
        f"{table}.nic.bandwidth={card * 8:.6g} b/s",
        f"{table}.hop={(HOP + delay) * 1e6:.6g} us",
        f"{table}.latency={2 * (HOP + delay) * 1e6:.6g} us",
    )


def _rate(rate: str | None, rate_scale: str | None, real: float) -> float:
    """Return the rate of the fastest wire in B/s."""
    if rate_scale is not None:
        return real * _scale(rate_scale)
    if rate is None:
        return min(RATE, real)
    try:
        found = units.parse(spelled_rate(rate), "B/s", positive=True)
    except InputError as error:
        raise error.at(field="rate") from None
    if not 1e3 <= found <= 1e12:
        raise refused("rate", rate, "wires move from 8 kbit/s to 8 Tbit/s", "200Mbit/s")
    return found


def spelled_rate(text: str) -> str:
    """Return a rate as ``tc`` writes it, as one with a unit.

    >>> spelled_rate("200Mbit")
    '200Mbit/s'
    """
    return f"{text}/s" if text.lower().endswith("bit") else text


def _scale(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0.0 < found <= 1.0:
        raise refused("rate-scale", text, "is the lab's rate over the real one", "0.001")
    return found


def seconds(text: str | None, field: str) -> float:
    """Return a time in seconds, 0 if none is given; raises ``InputError`` for anything else."""
    if text is None:
        return 0.0
    try:
        found = units.parse(text, "s")
    except InputError as error:
        raise error.at(field=field) from None
    if found > 10.0:
        raise refused(field, text, "must be at most 10 s", "1ms")
    return found


def _no_network(on: str) -> InputError:
    rule = "there are no switches between its nodes, so nothing to build"
    fix = "name more chips than one node has, for example ethernet-10g:4 or lab-leaf-spine"
    return refused("SYSTEM", on, rule, fix)
