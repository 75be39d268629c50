"""``Cabling``: the cables of a network as they are, or are planned, one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

DeviceKind = Literal["switch", "host"]


@dataclass(frozen=True, slots=True)
class Device:
    """A switch or a host. ``identity`` is unique; ``named`` is false if nobody gave it a name."""

    identity: str
    name: str
    kind: DeviceKind
    named: bool = True


@dataclass(frozen=True, slots=True)
class End:
    """One end of a cable: the device's identity, its port, and for a host the card (``""``: one).

    ``port`` is empty where the file does not say it.
    """

    device: str
    port: str = ""
    card: str = ""


@dataclass(frozen=True, slots=True)
class Cable:
    """A cable between two ends; ``rate`` in B/s per direction, ``length`` in metres.

    ``part`` names the cable or optic, ``sides`` counts the ends that report it where both could,
    and ``line`` is where the file says so. ``None`` means not said.
    """

    one: End
    other: End
    rate: float | None = None
    length: float | None = None
    part: str | None = None
    sides: int = 2
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Cabling:
    """All devices and cables of a ``file`` in a foreign ``format``."""

    file: str
    format: str
    devices: tuple[Device, ...]
    cables: tuple[Cable, ...]
    warnings: tuple[str, ...] = ()
