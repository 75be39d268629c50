"""What ``expect`` answers: one row per size, and what the rows hold for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from artery.core.pricing import Collective
from artery.core.system import System

DTYPES: Final = {
    "int8": 1, "uint8": 1, "int32": 4, "uint32": 4, "int64": 8, "uint64": 8,
    "half": 2, "float": 4, "double": 8, "bfloat16": 2, "fp8_e4m3": 1, "fp8_e5m2": 1,
}  # fmt: skip
"""Bytes of an element, by nccl-tests' name of the type."""

Note = Literal[
    "alone", "empty", "average", "two_nodes", "above_link", "best_differs", "part_filled"
]
"""What has to be said about the rows; the renderer has the words."""


@dataclass(frozen=True, slots=True)
class Speed:
    """One size under one algorithm: seconds with their 80 % interval, and bandwidths in B/s.

    ``wire`` is what one chip puts on the links that leave its node, on average, or inside one
    node what the busiest chip puts on its own.
    """

    seconds: float
    low: float
    high: float
    algbw: float
    busbw: float
    wire: float
    algorithm: str
    protocol: str


@dataclass(frozen=True, slots=True)
class ExpectRow:
    """One size in bytes; ``count`` elements as nccl-tests counts them.

    ``speed`` is what was asked for, ``best`` the fastest known where it is at least 2 % faster.
    """

    size: int
    count: int
    speed: Speed
    best: Speed | None


@dataclass(frozen=True, slots=True)
class ExpectAnswer:
    """The rows, and what they hold for.

    ``nodes`` counts scale-up domains that the ranks lie on, ``least`` are the bytes of one element,
    for every rank where the size is of all ranks, ``limit`` names the tier that bounds
    the largest size and ``link_rate`` is what one chip can put on its links inside a node, B/s.
    ``chips_per_node`` and ``nccl`` are what was asked.
    """

    collective: Collective
    system: System
    ranks: int
    nodes: int
    library: str
    version: str
    algorithm: str
    dtype: str
    reduction: str
    root: int
    rows: tuple[ExpectRow, ...]
    least: int
    limit: str | None
    link_rate: float | None
    notes: tuple[Note, ...]
    warnings: tuple[str, ...]
    chips_per_node: int | None = None
    nccl: str | None = None
