"""``Chip``: one accelerator or processor, with its efficiency curves beside its peaks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from artery.core.source import Provenance


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory level.

    ``capacity`` in bytes, ``bandwidth`` in B/s. For HBM the bandwidth is
    ``stacks * bits_per_stack * rate / 8`` with ``rate`` in bit/s per pin.
    """

    name: str
    capacity: float
    bandwidth: float
    stacks: int | None = None
    bits_per_stack: int | None = None
    rate: float | None = None


@dataclass(frozen=True, slots=True)
class Port:
    """A kind of port: ``count`` equal ports of ``bandwidth`` B/s per direction each."""

    kind: str
    count: int
    bandwidth: float


@dataclass(frozen=True, slots=True)
class AttentionCurve:
    """Speed of a fused attention kernel: ``peak_fraction * s / (s + half_length)`` of peak."""

    peak_fraction: float
    half_length: float


@dataclass(frozen=True, slots=True)
class Efficiency:
    """What fraction of its peaks a chip reaches in practice.

    ``matmul`` maps a dtype to the largest fraction of its peak that a big matrix
    product reaches; ``wave_quantisation`` (0 to 1) says how fully a partly filled
    last wave of tiles is paid for; ``memory`` is the fraction of the memory bandwidth
    that a streaming kernel reaches; ``kernel`` is the fixed cost of one kernel in
    seconds; ``attention`` maps ``flash1``, ``flash2``, ``flash3`` to a curve; ``sustained`` is
    the clock held through whole training steps over the clock of a short benchmark.
    """

    matmul: Mapping[str, float]
    wave_quantisation: float
    memory: float
    kernel: float
    attention: Mapping[str, AttentionCurve] = field(default_factory=dict)
    sustained: float = 1.0


@dataclass(frozen=True, slots=True)
class Chip:
    """One chip. ``peaks`` are dense FLOP/s by dtype (``bf16``, ``fp8``, ...).

    ``memories`` are ordered from the fastest large memory (HBM) outwards; ``cores``
    counts streaming multiprocessors or their like; ``cache`` is the last-level cache
    in bytes; ``power`` in watts and ``price`` in US dollars may be unknown (``None``).
    """

    name: str
    vendor: str
    year: int
    peaks: Mapping[str, float]
    memories: tuple[Memory, ...]
    ports: tuple[Port, ...]
    efficiency: Efficiency
    cores: int
    cache: float
    power: float | None = None
    price: float | None = None
    provenance: Provenance = field(default_factory=dict)

    @property
    def memory(self) -> Memory:
        """The memory that holds the training state (the first one listed)."""
        return self.memories[0]
