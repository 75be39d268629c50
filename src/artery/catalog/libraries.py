"""Communication libraries by name, as :class:`artery.collective.library.Library`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from artery.catalog.loader import entry, resolve
from artery.catalog.schema import Rate, Ratio, Seconds
from artery.catalog.structure import fill
from artery.collective.library import Library, Line, Network, Platform, Spread


@dataclass(frozen=True, slots=True)
class LineTable:
    """``[[platforms.NAME.KIND]]``: one protocol at one buffer size."""

    protocol: str
    base: Seconds
    fraction: Ratio
    step: Seconds = 0.0


@dataclass(frozen=True, slots=True)
class SpreadTable:
    """``spread``: factors above one that bound the start and the rate of a price."""

    start: Ratio
    rate: Ratio


@dataclass(frozen=True, slots=True)
class PlatformTable:
    """``[platforms.NAME]``: constants of one generation of links inside a node."""

    ring: tuple[LineTable, ...]
    exchange: tuple[LineTable, ...]
    spread: SpreadTable
    in_switch: tuple[LineTable, ...] = ()
    smallest_in_switch: int = 3
    across: Ratio = 1.0


@dataclass(frozen=True, slots=True)
class NetworkTable:
    """``[networks.NAME]``: constants of one kind of network between nodes."""

    hop: Mapping[str, Seconds]
    fraction: Mapping[str, Ratio]
    pipelined_hop: Seconds
    spread: SpreadTable
    in_network: Ratio = 1.0
    cap: Rate | None = None
    shared: Ratio = 1.0


@dataclass(frozen=True, slots=True)
class LibraryTable:
    """A library file."""

    name: str
    title: str
    version: str
    platforms: Mapping[str, PlatformTable]
    networks: Mapping[str, NetworkTable] = field(default_factory=dict)


@cache
def library(name: str) -> Library:
    """Return the communication library called ``name`` (``nccl``, ``rccl``, ``ici``, ``gloo``).

    Raises :class:`artery.errors.UnknownNameError` for an unknown name.
    """
    sourced = entry("libraries", resolve("libraries", name).name)
    table = fill(LibraryTable, sourced.values)
    return Library(
        name=table.name,
        title=table.title,
        version=table.version,
        platforms={key: _platform(key, item) for key, item in table.platforms.items()},
        networks={key: _network(key, item) for key, item in table.networks.items()},
        provenance=sourced.provenance,
    )


def _platform(name: str, table: PlatformTable) -> Platform:
    return Platform(
        name=name,
        ring=_lines(table.ring),
        exchange=_lines(table.exchange),
        in_switch=_lines(table.in_switch),
        smallest_in_switch=table.smallest_in_switch,
        across=table.across,
        spread=Spread(table.spread.start, table.spread.rate),
    )


def _lines(tables: tuple[LineTable, ...]) -> tuple[Line, ...]:
    return tuple(Line(line.protocol, line.base, line.step, line.fraction) for line in tables)


def _network(name: str, table: NetworkTable) -> Network:
    return Network(
        name=name,
        hop=table.hop,
        fraction=table.fraction,
        pipelined_hop=table.pipelined_hop,
        in_network=table.in_network,
        cap=table.cap,
        shared=table.shared,
        spread=Spread(table.spread.start, table.spread.rate),
    )
