"""Node failures: published rates, and what to expect of so many nodes.

Failures of independent nodes add up: a job on ``n`` nodes fails ``n`` times as often as one
node (a series system). The rates differ by what is counted, so each says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class FailureRate:
    """``per_1000_node_days`` node failures, on ``fleet``; ``source`` is where it was published."""

    fleet: str
    per_1000_node_days: float
    source: str

    def per_day(self, nodes: int) -> float:
        """Return the failures to expect in a day on ``nodes`` nodes."""
        return self.per_1000_node_days / 1000 * nodes

    def mean_time_between(self, nodes: int) -> float:
        """Return the mean time between failures on ``nodes`` nodes, in seconds."""
        return 86400 / self.per_day(nodes)


RSC_1: Final = FailureRate("RSC-1", 6.5, "Meta's RSC-1, 16,000 A100, arXiv 2410.21680")
"""Hardware-attributed failures over eleven months, nodes of 8 chips."""

RSC_2: Final = FailureRate("RSC-2", 2.34, "Meta's RSC-2, 8,000 A100, arXiv 2410.21680")
"""The same company's smaller, newer cluster."""

LLAMA_3: Final = FailureRate(
    "Llama 3", 1000 * 419 / (54 * 16384 / 8), "Llama 3, 16,384 H100, arXiv 2407.21783"
)
"""419 unexpected interruptions of one job in 54 days on 2,048 nodes of 8 chips."""
