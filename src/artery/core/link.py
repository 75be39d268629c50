"""``Link``: a class of link, without ends."""

from __future__ import annotations

from dataclasses import dataclass, field

from artery.core.source import Provenance


@dataclass(frozen=True, slots=True)
class Link:
    """A class of link.

    ``bandwidth`` is the line rate in B/s per direction; ``efficiency`` the fraction
    of it that a large transfer reaches; ``latency`` one way in seconds through the
    link and its ends; ``energy_per_bit`` in J/bit; ``price`` in US dollars; ``reach``
    in metres. ``None`` means unknown, never zero.
    """

    name: str
    kind: str
    bandwidth: float
    efficiency: float
    latency: float
    energy_per_bit: float | None = None
    price: float | None = None
    reach: float | None = None
    provenance: Provenance = field(default_factory=dict)
