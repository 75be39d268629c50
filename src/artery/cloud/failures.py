"""Node failures: published rates, and what to expect of so many nodes.

Failures of independent nodes add up: a job on ``n`` nodes fails ``n`` times as often as one
node (a series system). The rates differ by what is counted, so each says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from artery.units.durations import DAY


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
        return DAY / self.per_day(nodes)


RSC_1: Final = FailureRate("RSC-1", 6.5, "Meta's RSC-1, 16,000 A100, arXiv 2410.21680")
"""Hardware-attributed failures over eleven months, nodes of 8 chips."""

RSC_2: Final = FailureRate("RSC-2", 2.34, "Meta's RSC-2, 8,000 A100, arXiv 2410.21680")
"""The same company's smaller, newer cluster."""

RSC_1_JOBS: Final = FailureRate(
    "RSC-1, by jobs",
    ((1000 / 47.7) * (1000 * 24 / (7.9 * 128))) ** 0.5,
    "Meta's RSC-1, mean time to failure of jobs, arXiv 2410.21680",
)
"""All causes, as jobs saw them: 47.7 days on one node (21.0) and 7.9 hours on 128 (23.7 per 1,000
node-days). The two agree with failures in proportion to nodes; this is their geometric mean."""

LLAMA_3: Final = FailureRate(
    "Llama 3", 1000 * 419 / (54 * 16384 / 8), "Llama 3, 16,384 H100, arXiv 2407.21783"
)
"""419 unexpected interruptions of one job in 54 days on 2,048 nodes of 8 chips."""

RATES: Final = {"rsc-1": RSC_1, "rsc-1-jobs": RSC_1_JOBS, "rsc-2": RSC_2, "llama-3": LLAMA_3}
"""The published rates by the names under which they are asked for."""
