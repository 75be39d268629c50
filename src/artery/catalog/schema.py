"""What a catalog file may say: plain dataclasses whose quantities carry their unit.

A shipped file and a user's own file have the same shape. ``Annotated[float, Unit("B/s")]`` is
written in a file as a string with a unit (``"3.35 TB/s"``) and is a float in SI once read. The
dataclasses import nothing; pydantic meets them only in :mod:`artery.catalog.door`.

In a file, any value may also be a pair of the value and the name of its source, and any table
may name a ``source`` for all its values; :mod:`artery.catalog.sourced` takes them apart first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from artery.units import Unit

STRICT = {"extra": "forbid"}
"""How pydantic reads these dataclasses: a key that is not a field is an error."""

Flops = Annotated[float, Unit("FLOP/s", positive=True)]
Capacity = Annotated[float, Unit("B", positive=True)]
Rate = Annotated[float, Unit("B/s", positive=True)]
LinkRate = Annotated[float, Unit("B/s", directed=True, positive=True)]
Seconds = Annotated[float, Unit("s")]
Delay = Annotated[float, Unit("s", most=1e6)]
"""The latency of a link or switch: eleven days and more are a slip of the pen, and what is played
counts picoseconds in 64 bits."""
Watts = Annotated[float, Unit("W", positive=True)]
Dollars = Annotated[float, Unit("USD")]
Metres = Annotated[float, Unit("m", positive=True)]
EnergyPerBit = Annotated[float, Unit("J/bit")]
Ratio = Annotated[float, Unit("1")]


RIVALS = {
    ("memory", "bandwidth"): ("memory", "rate"),
    ("memory", "stacks"): ("memory", "bandwidth"),
    ("memory", "bits_per_stack"): ("memory", "bandwidth"),
    ("memory", "rate"): ("memory", "bandwidth"),
}
"""Values that follow from each other: who states the one over a base withdraws the other."""


@dataclass(frozen=True, slots=True)
class MemoryTable:
    """``[memory]`` of a chip. For HBM, bandwidth = stacks·bits_per_stack·rate of one pin.

    One of the two sides may be left out.
    """

    kind: str
    capacity: Capacity
    bandwidth: Rate | None = None
    stacks: int | None = None
    bits_per_stack: int | None = None
    rate: Rate | None = None

    __pydantic_config__: ClassVar = STRICT

    @property
    def product(self) -> float | None:
        """Bandwidth in B/s of all pins together; ``None`` if a factor is not given."""
        if self.stacks is None or self.bits_per_stack is None or self.rate is None:
            return None
        return self.stacks * self.bits_per_stack * self.rate


@dataclass(frozen=True, slots=True)
class PortTable:
    """``[ports.KIND]`` of a chip: ``count`` ports of ``bandwidth`` per direction each."""

    count: int
    bandwidth: LinkRate

    __pydantic_config__: ClassVar = STRICT


@dataclass(frozen=True, slots=True)
class CurveTable:
    """``[efficiency.attention.KERNEL]``: ``peak_fraction·s/(s + half_length)`` of the peak."""

    peak_fraction: Ratio
    half_length: Ratio

    __pydantic_config__: ClassVar = STRICT


@dataclass(frozen=True, slots=True)
class EfficiencyTable:
    """``[efficiency]`` of a chip; what is left out is assumed and marked so.

    ``attention = {}`` says that the chip has no fused attention kernel.
    """

    matmul: Mapping[str, Ratio] = field(default_factory=dict)
    wave_quantisation: Ratio | None = None
    memory: Ratio | None = None
    kernel: Seconds | None = None
    attention: Mapping[str, CurveTable] | None = None
    sustained: Ratio | None = None

    __pydantic_config__: ClassVar = STRICT


@dataclass(frozen=True, slots=True)
class ChipTable:
    """A chip file. ``peaks`` are dense; ``power`` and ``price`` may be left out (unknown)."""

    name: str
    title: str
    vendor: str
    year: int
    cores: int
    cache: Capacity
    peaks: Mapping[str, Flops]
    memory: MemoryTable
    ports: Mapping[str, PortTable] = field(default_factory=dict)
    efficiency: EfficiencyTable = field(default_factory=EfficiencyTable)
    power: Watts | None = None
    price: Dollars | None = None

    __pydantic_config__: ClassVar = STRICT


@dataclass(frozen=True, slots=True)
class LinkTable:
    """A class of link. What is left out is unknown, never zero."""

    name: str
    title: str
    kind: str
    bandwidth: LinkRate
    efficiency: Ratio
    latency: Delay
    energy_per_bit: EnergyPerBit | None = None
    price: Dollars | None = None
    reach: Metres | None = None

    __pydantic_config__: ClassVar = STRICT
