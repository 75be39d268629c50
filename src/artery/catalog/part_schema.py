"""What the file of a switch, a network card or an optic may say.

Ranges are tables: ``price = {low = "36000 USD", high = "50000 USD"}``; a single known number is
both ends. See :mod:`artery.catalog.schema` for how values are written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Generic, TypeVar

from artery.catalog.schema import (
    STRICT,
    Capacity,
    Dollars,
    EnergyPerBit,
    LinkRate,
    Metres,
    Seconds,
    Watts,
)
from artery.core.parts import FabricKind, NicKind, OpticKind, SwitchKind
from artery.units import Unit

Watt0 = Annotated[float, Unit("W")]
"""Watts that may be zero: passive copper takes none."""


Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Range(Generic[Value]):
    """From ``low`` to ``high``; both are the same where one number is known."""

    low: Value
    high: Value

    __pydantic_config__: ClassVar = STRICT


@dataclass(frozen=True, slots=True)
class SwitchTable:
    """A switch; ``ports`` of ``port`` each, ``capacity`` one way, ``max_radix`` if split."""

    name: str
    title: str
    vendor: str
    kind: SwitchKind
    fabric: FabricKind
    year: int
    ports: int
    port: LinkRate
    capacity: LinkRate
    max_radix: int | None = None
    serdes: str | None = None
    power: Range[Watt0] | None = None
    power_max: Watts | None = None
    latency: Range[Seconds] | None = None
    buffer: Capacity | None = None
    reduction: str | None = None
    price: Range[Dollars] | None = None
    note: str | None = None

    __pydantic_config__: ClassVar = STRICT


@dataclass(frozen=True, slots=True)
class NicTable:
    """A network card; ``rate`` of all its ports together.

    ``adding`` is what it adds of what comes in, ``step`` what it takes for a step of a collective.
    """

    name: str
    title: str
    vendor: str
    kind: NicKind
    year: int
    protocols: tuple[str, ...]
    rate: LinkRate
    ports: int | None = None
    pcie: str | None = None
    power: Range[Watt0] | None = None
    power_max: Watts | None = None
    cores: str | None = None
    memory: str | None = None
    offloads: tuple[str, ...] = ()
    latency: Range[Seconds] | None = None
    price: Range[Dollars] | None = None
    adding: LinkRate | None = None
    step: Seconds | None = None
    note: str | None = None

    __pydantic_config__: ClassVar = STRICT


@dataclass(frozen=True, slots=True)
class OpticTable:
    """One end of a cable; ``power`` and ``price`` are per end."""

    name: str
    title: str
    kind: OpticKind
    rate: LinkRate
    medium: str
    reach: Range[Metres]
    power: Range[Watt0] | None = None
    energy_per_bit: EnergyPerBit | None = None
    latency: Seconds | None = None
    price: Range[Dollars] | None = None
    mtbf: Range[Seconds] | None = None
    note: str | None = None

    __pydantic_config__: ClassVar = STRICT
