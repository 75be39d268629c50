"""Where a checkpoint can lie, what writing and reading it there costs, and what it survives.

Three tiers: the host memory of a peer (GEMINI, SOSP 2023), the node's own disk, a shared store. A
tier has its own blocking save, its own time until it is safe, its own loading time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

from artery.core.failure import Severity
from artery.core.system import System

TierName = Literal["memory", "local", "shared"]

SURVIVES: Final[Mapping[TierName, frozenset[Severity]]] = MappingProxyType(
    {
        "memory": frozenset({"process", "node"}),
        "local": frozenset({"process"}),
        "shared": frozenset({"process", "node", "domain", "silent"}),
    }
)
"""Failures after which each tier still has the state. A peer's memory is gone with its rack; a
local disk with its node; neither keeps the old states that a silent error calls for."""

STORE_PER_NODE: Final = 2e12 / 2048
"""B/s of a shared store per node: 2 TB/s sustained for 2,048 nodes (Llama 3, arXiv 2407.21783,
section 3.3.1)."""

DISK: Final = 10e9
"""Assumed: B/s of a node's own NVMe disks, together."""

HOST_LINK: Final = 25e9
"""Assumed: B/s from a chip to its host where the system names no PCIe link."""

OVERHEAD: Final = 0.5
"""Seconds that any save stops a job, however small: an asynchronous save of Llama 3 8B on 512 H100
blocks for under 0.5 s (PyTorch forum, 2024)."""

MASTER: Final = 2.0
"""Bytes of a 16-bit weight, saved beside the optimizer's state."""


@dataclass(frozen=True, slots=True)
class State:
    """Bytes of a checkpoint: ``saved`` once in all, ``loaded`` by all chips together."""

    saved: float
    loaded: float
    chips: int


@dataclass(frozen=True, slots=True)
class Tier:
    """One tier: ``save`` seconds block the job, ``persist`` pass until the copy is safe.

    ``load`` is seconds until every chip has its state again.
    """

    name: TierName
    save: float
    persist: float
    load: float

    @property
    def unsafe(self) -> float:
        """Seconds of work after a save in which its copy is not yet safe."""
        return max(0.0, self.persist - self.save)

    @property
    def survives(self) -> frozenset[Severity]:
        """The failures after which this tier can be loaded from."""
        return SURVIVES[self.name]


def host_bandwidth(system: System) -> float:
    """Return B/s from one chip to its host."""
    links = [link.bandwidth * link.efficiency for link in system.links if link.kind == "pcie"]
    return max(links, default=HOST_LINK)


def network_bandwidth(system: System) -> float:
    """Return B/s that one chip sends to another node, while all do."""
    outside = [tier for tier in system.tiers if tier.chips > system.chips_per_node]
    return outside[0].bandwidth if outside else host_bandwidth(system)


def tiers(
    system: System, state: State, *, store: float | None = None, blocking: bool = False
) -> dict[TierName, Tier]:
    """Return the tiers of ``system`` for ``state``.

    ``store`` is the shared store's B/s in all (default: :data:`STORE_PER_NODE` per node), both
    ways. Saves are spread over all chips. Unless ``blocking``, a save stops the job only for its
    overhead and the copy to the host's memory; the rest happens while it computes, and bounds the
    interval.
    """
    per_chip, back = state.saved / state.chips, state.loaded / state.chips
    staging = OVERHEAD + per_chip / host_bandwidth(system)
    unstaging = back / host_bandwidth(system)
    whole_store = store if store is not None else STORE_PER_NODE * system.nodes
    rates: dict[TierName, float] = {
        "memory": network_bandwidth(system) * state.chips,
        "local": DISK * system.nodes,
        "shared": whole_store,
    }

    def tier(name: TierName) -> Tier:
        written = state.saved / rates[name]
        return Tier(
            name,
            save=staging + (written if blocking else 0.0),
            persist=staging + written,
            load=unstaging + state.loaded / rates[name],
        )

    return {name: tier(name) for name in rates}
