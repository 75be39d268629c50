"""Memory bandwidth: read, write, copy, and a·x + y, over arrays that no cache holds.

Bytes are counted as STREAM counts them (McCalpin, 1995): what the program reads and writes. A CPU
that fetches a line before it is written moves more than that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import torch

from artery.meter.clock import Times
from artery.meter.device import Device
from artery.meter.surroundings import last_level_cache

BEYOND: Final = 1.25
"""Assumed: an array this many times the last cache is served by memory; two or three are used."""

LEAST: Final = {"cpu": 256 * 2**20, "cuda": 1024 * 2**20}
"""Bytes of an array at least. Assumed: beyond an H100's L2 of 50 MB, and an MI300X's 256 MB."""

ARRAYS: Final = 3
"""Arrays that are held at once."""

PASSES: Final = {"read": 1, "write": 1, "copy": 2, "triad": 3}
"""How often each kind passes over an array."""


@dataclass(frozen=True, slots=True)
class Pass:
    """One kind of access; ``size`` is the bytes of one array."""

    kind: str
    size: int
    times: Times

    @property
    def moved(self) -> int:
        """Bytes read and written."""
        return PASSES[self.kind] * self.size


def array_size(chip: Device) -> int:
    """Return bytes of an array that is larger than every cache."""
    cache = last_level_cache() or 0
    beyond = int(BEYOND * cache) if chip.kind == "cpu" else 0
    return max(LEAST[chip.kind], beyond)


def passes(chip: Device, size: int, *, warmup: int, repeats: int, most: float) -> tuple[Pass, ...]:
    """Return the four kinds of access over arrays of ``size`` bytes of 32-bit floats."""
    count = max(size // 4, 1)
    one, two, three = (torch.ones(count, device=chip.torch) for _ in range(ARRAYS))
    total = torch.empty((), device=chip.torch)
    kinds: dict[str, Callable[[], object]] = {
        "read": lambda: torch.sum(one, dim=0, out=total),
        "write": lambda: two.fill_(1.0),
        "copy": lambda: two.copy_(one),
        "triad": lambda: torch.add(one, two, alpha=3.0, out=three),
    }
    return tuple(
        Pass(kind, 4 * count, chip.times(action, warmup=warmup, repeats=repeats, most=most))
        for kind, action in kinds.items()
    )
