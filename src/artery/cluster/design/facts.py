"""InfiniBand and RoCE on equal ground: published measurements, none of them artery's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from artery.core.parts import FabricKind, Span


@dataclass(frozen=True, slots=True)
class Latency:
    """One way for 64 B between two hosts, in seconds, started by the CPU.

    ``leaf`` under one leaf, ``tier`` what two more switches (up one tier and down) add.
    """

    fabric: FabricKind
    leaf: float
    tier: float
    source: str

    def across(self, tiers: int) -> float:
        """Return the latency over the top of ``tiers`` tiers; measured for one and two."""
        return self.leaf + (tiers - 1) * self.tier


_DEEPSEEK: Final = "DeepSeek-V3, ISCA 2025, Table 5: 64 B, CPU side, same leaf and across leaves"

LATENCIES: Final = (
    Latency("infiniband", 2.8e-6, 0.9e-6, _DEEPSEEK),
    Latency("ethernet", 3.6e-6, 2.0e-6, _DEEPSEEK),
)

Topic = Literal["bandwidth", "hashing", "queue_pairs", "at_scale", "spraying"]


@dataclass(frozen=True, slots=True)
class Fact:
    """A published comparison; the renderer has the words for ``topic``."""

    topic: Topic
    ratio: float | None
    chips: int
    source: str


FACTS: Final = (
    Fact("bandwidth", 231.802 / 230.698, 64, "Tolly 225107 (paid by the RoCE vendor)"),
    Fact("hashing", 233.262 / 212.644, 64, "Tolly 225112 (paid by a vendor)"),
    Fact("queue_pairs", 1.40, 4096, "Meta, RDMA over Ethernet, SIGCOMM 2024"),
    Fact("at_scale", None, 24576, "Meta, SIGCOMM 2024: two H100 clusters, one of each"),
)
"""RoCE over InfiniBand; planned paths over hashing; 16 queue pairs over one; both at scale."""

LARGEST_SUBNET: Final = 0xBFFF
"""Unicast addresses (LIDs) of one InfiniBand subnet: InfiniBand Architecture Specification,
volume 1, section 4.1.3. A card's port and a switch take at least one each."""

PLUGGABLE_MTBF: Final = Span(0.5e6 * 3600, 1e6 * 3600)
"""Mean time between failures of one pluggable optic, s; see :data:`PLUGGABLE_SOURCE`.

Field reports are rarer: MOSAIC (SIGCOMM 2025) has a link failure every 6 to 12 h at 100,000 GPUs,
where this rate with 6 ends per GPU would give one every 0.8 to 1.7 h.
"""

PLUGGABLE_SOURCE: Final = (
    "SemiAnalysis on Meta and Broadcom at ECOC 2025: 0.5 to 1 M hours for pluggable 2xFR4"
)

LINK_FAILURES_PER_MONTH: Final = 0.00057
"""Links between card and leaf that fail in a month, as a share: Alibaba HPN, SIGCOMM 2024."""

LEAF_FAILURES_PER_MONTH: Final = 0.00051
"""Leaves with a critical failure in a month, as a share: Alibaba HPN, SIGCOMM 2024."""

MONTH: Final = 30.44
"""Days in a mean month."""
