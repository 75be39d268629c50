"""Parts that a network is bought from: ``Switch``, ``Nic``, ``Optic``.

What is not known is ``None``, never zero; what is known as a range is a :class:`Span`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from artery.core.source import Provenance

SwitchKind = Literal["box", "chassis", "asic"]
FabricKind = Literal["infiniband", "ethernet", "slingshot"]
NicKind = Literal["nic", "supernic", "dpu", "ipu"]
OpticKind = Literal["copper", "active-copper", "optics", "cpo", "microled"]


@dataclass(frozen=True, slots=True)
class Span:
    """A value known as a range: ``low`` to ``high``, equal where one number is known."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        """The mean of both ends."""
        return (self.low + self.high) / 2


@dataclass(frozen=True, slots=True)
class Switch:
    """A switch, or a switch chip (``asic``, whose power is that of the chip alone).

    ``ports`` of ``port`` B/s per direction each; ``capacity`` is all of them together, one way;
    ``max_radix`` the largest number of (slower) ports they can be split into. ``power`` is
    typical and without optics, ``power_max`` with them, in watts; ``latency`` port to port in
    seconds; ``buffer`` in bytes; ``price`` of one in US dollars.
    """

    name: str
    vendor: str
    kind: SwitchKind
    fabric: FabricKind
    year: int
    ports: int
    port: float
    capacity: float
    max_radix: int | None = None
    power: Span | None = None
    power_max: float | None = None
    latency: Span | None = None
    buffer: float | None = None
    reduction: str | None = None
    price: Span | None = None
    provenance: Provenance = field(default_factory=dict)

    def radix_at(self, rate: float) -> int:
        """Return the number of ports of ``rate`` B/s; 0 if no port is that fast."""
        if rate > self.port:
            return 0
        split = self.ports * int(self.port / rate)
        return min(split, max(self.max_radix or self.ports, self.ports))


@dataclass(frozen=True, slots=True)
class Nic:
    """A network card. ``rate`` is all its ports together, B/s per direction.

    ``power`` is typical, ``power_max`` the largest, in watts; ``latency`` adapter to adapter in
    seconds; ``price`` in US dollars. ``adding`` is the B/s at which it adds what comes in, ``step``
    the seconds that it takes from a message's arrival to the next one of a collective (``None``:
    it does neither).
    """

    name: str
    vendor: str
    kind: NicKind
    year: int
    protocols: tuple[str, ...]
    rate: float
    ports: int | None = None
    power: Span | None = None
    power_max: float | None = None
    latency: Span | None = None
    price: Span | None = None
    adding: float | None = None
    step: float | None = None
    provenance: Provenance = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Optic:
    """One end of a cable: a transceiver, or half of a cable that comes with its ends.

    ``rate`` in B/s per direction, ``reach`` in metres, ``power`` and ``price`` of one end in
    watts and US dollars, ``energy_per_bit`` of one end in J/bit, ``latency`` added by the link's
    electronics in seconds, ``mtbf`` the mean time between failures of one end in seconds.
    """

    name: str
    kind: OpticKind
    rate: float
    medium: str
    reach: Span
    power: Span | None = None
    energy_per_bit: float | None = None
    latency: float | None = None
    price: Span | None = None
    mtbf: Span | None = None
    provenance: Provenance = field(default_factory=dict)
