"""What a communication library adds to what its links do: start-up, and the share it reaches.

The closed form's own constants, apart from its bytes: who plays an algorithm on the links
themselves adds these, so that both answers differ only in the network.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from artery.collective.algorithms import ALGORITHMS
from artery.collective.closed_form import lines_of
from artery.collective.groups import gather, inner_tiers
from artery.collective.library import CHANNELS, OPENING, PAYLOAD, Library, piece_of
from artery.collective.placement import Placement, packed
from artery.core.pricing import Collective
from artery.core.system import System
from artery.node.pcie_tree import STAGED

ALIKE: Final = {
    "pairwise": "grouped",
    "windowed": "grouped",
    "rail_aligned": "grouped",
    "bruck": "halving_doubling",
    "recursive_doubling": "halving_doubling",
}
"""Algorithms without lines of their own, and the one whose steps cost alike: grouped messages, or
a logarithm of steps. Assumed."""


@dataclass(frozen=True, slots=True)
class Overheads:
    """``startup`` seconds, hardware latency left out; shares of the links in and out of a node.

    ``latency`` are the seconds of hardware latency in the steps: with ``startup`` all that the
    closed form counts beside bytes. ``passing`` are the seconds that the busiest chip itself needs
    to pass its bytes on, to whichever port: no network makes it faster (0: nothing is passed on).
    ``payload`` is the share of data in what is sent, the rest being flags: what is left of cables
    inside a node that are of another class than the chips' own. ``nearness`` is the part of the
    hardware's latency inside a node that the library's measured step leaves room for. ``piece``
    bytes are passed on as one down chains and trees, over all channels (0: every line), and
    ``filling`` are the seconds until one is everywhere, for who lets pieces have no size.
    """

    startup: float
    inside: float
    outside: float
    protocol: str
    latency: float = 0.0
    passing: float = 0.0
    payload: float = 1.0
    nearness: float = 1.0
    piece: int = 0
    filling: float = 0.0

    @property
    def least(self) -> float:
        """Seconds between start and end at least: a chip that passes on waits before it sends.

        Each channel of a library has threads of its own, which copy while no others' bytes come:
        what is fitted to sweeps is the sum of all steps' latency and of all bytes.
        """
        return self.passing + self.latency if self.passing else 0.0


@dataclass(frozen=True, slots=True)
class Played:
    """An algorithm by name, for a collective of ``size`` bytes over the first ``ranks`` ranks.

    Or over groups of as many ranks ``stride`` apart, all of them at once if ``concurrent``.
    """

    name: str
    collective: Collective
    size: float
    ranks: int
    stride: int = 1
    concurrent: bool = False


def overheads(
    system: System, library: Library, played: Played, placement: Placement | None = None
) -> Overheads:
    """Return what ``library`` adds to an algorithm, by the protocol that is fastest at that size.

    An algorithm that has no lines of its own has those of the one that is most alike.
    """
    if played.ranks < 2:
        return Overheads(0.0, 1.0, 1.0, "")
    algorithm = ALGORITHMS[_alike(played)]
    one = np.ones(1, dtype=np.int64)
    where = placement or packed(system.chips)
    groups = gather(
        system, library, where, one * played.ranks, one * played.stride,
        concurrent=played.concurrent,
    )  # fmt: skip
    with np.errstate(divide="ignore", invalid="ignore"):
        work = algorithm.work(groups, played.collective)
    tier = system.tiers[min(int(groups.inner[0]), len(system.tiers) - 1)]
    first = inner_tiers(system)
    network, adding = None, 1.0
    if first < len(system.tiers) and groups.nodes[0] > 1:
        network = library.network(system.tiers[first].link)
        adding = network.in_network if algorithm.in_network else 1.0
    found = []
    for line in lines_of(algorithm, library.platform(tier.link)):
        # A step's constant includes the hardware's latency.
        hardware = min(line.step, tier.latency)
        steps, outside = float(work.inner_steps[0]), 1.0
        startup, latency = line.base + steps * (line.step - hardware), steps * hardware
        if network is not None:
            hop = network.pipelined_hop if algorithm.by_switches else network.hop[line.protocol]
            startup += float(work.outer_steps[0]) * hop
            latency += float(work.outer_steps[0]) * float(groups.outer_latency[0])
            outside = network.fraction[line.protocol]
            further = min(played.size / OPENING, CHANNELS - 1)
            further *= network.message.get(line.protocol, 0.0)
            startup += float(work.outer_steps[0]) * further
        inside, outside = line.fraction * adding, outside * adding
        moving = float(work.inner_seconds[0]) / inside * played.size
        # Staged, every byte is passed on: by the host, through its memory.
        direct = algorithm.lines == "exchange" and tier.link.kind != STAGED
        passing = 0.0 if direct or groups.torus[0] else moving
        sending = float(work.outer_seconds[0]) / outside * played.size
        payload = PAYLOAD.get(line.protocol, 1.0)
        near = hardware / tier.latency if tier.latency else 1.0
        piece = piece_of(line.protocol)
        filling = np.max(work.inner_fill) / inside + np.max(work.outer_fill) / outside
        filled = float(filling) * min(played.size, piece)
        added = Overheads(
            startup, inside, outside, line.protocol, latency, passing, payload, near, piece, filled
        )
        shared = float(np.max(work.least_seconds)) / payload * played.size
        both = sum((moving, sending)) if work.in_turn else max(moving, sending)
        found.append((startup + latency + max(both, shared) + filled, added))
    return min(found, key=lambda each: each[0])[1]


def _alike(played: Played) -> str:
    known = ALIKE.get(played.name, played.name)
    if played.collective == "alltoall" and known != "torus":
        return "grouped"
    return known if known in ALGORITHMS else "ring"
