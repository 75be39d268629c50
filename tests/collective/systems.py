"""Small systems by hand, so that these tests depend on no catalog."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from artery.collective.library import Library, Line, Network, Platform
from artery.core.chip import Chip, Efficiency, Memory
from artery.core.link import Link
from artery.core.system import Edges, Router, System, Tier

NVLINK = Link("nvlink4", "nvlink", bandwidth=450e9, efficiency=0.8, latency=1e-6)
CARD = Link("ib-ndr", "infiniband", bandwidth=50e9, efficiency=0.9, latency=2e-6)

CHIP = Chip(
    name="chip",
    vendor="none",
    year=2022,
    peaks={"bf16": 1e15},
    memories=(Memory("hbm", 80e9, 3e12),),
    ports=(),
    efficiency=Efficiency({"bf16": 0.8}, 0.1, 0.8, 3e-6),
    cores=132,
    cache=50e6,
)

LIBRARY = Library(
    name="nccl",
    title="NCCL",
    version="2.27",
    platforms={
        "default": Platform(
            name="default",
            ring=(Line("LL", 5e-6, 1e-6, 0.4), Line("Simple", 40e-6, 2e-6, 1.0)),
            exchange=(Line("Simple", 10e-6, 0.0, 1.0),),
            in_switch=(Line("Simple", 60e-6, 0.0, 0.9),),
            smallest_in_switch=5,
        )
    },
    networks={
        "default": Network(
            name="default",
            hop={"LL": 4e-6, "Simple": 12e-6},
            fraction={"LL": 0.5, "Simple": 1.0},
            pipelined_hop=40e-6,
        )
    },
)


def no_wires() -> Edges:
    """Return no edges: closed forms look at tiers alone."""
    nothing = np.zeros(0, dtype=np.int64)
    return Edges(nothing, nothing, nothing)


def cluster(
    chips: int,
    *,
    per_node: int = 8,
    cards: int = 8,
    pod: int | None = None,
    taper: float = 1.0,
    reduction: str | None = "nvls",
) -> System:
    """Return nodes of ``per_node`` chips, in pods of ``pod`` chips if that is given."""
    share = CARD.bandwidth * cards / per_node
    node = Tier(
        name="node",
        chips=per_node,
        kind="switch",
        link=NVLINK,
        bandwidth=NVLINK.bandwidth,
        burst=NVLINK.bandwidth,
        pair=NVLINK.bandwidth,
        latency=1e-6,
        reduction=reduction,
    )
    leaf = Tier(
        name="leaf",
        chips=pod or max(chips, per_node),
        kind="switch",
        link=CARD,
        bandwidth=share,
        burst=CARD.bandwidth,
        pair=CARD.bandwidth,
        latency=2e-6,
    )
    tiers = [node, leaf]
    if pod is not None:
        spine = replace(leaf, name="spine", chips=chips, bandwidth=share / taper, latency=4e-6)
        tiers.append(spine)
    return System(
        name="cluster",
        chip=CHIP,
        chips=chips,
        chips_per_node=per_node,
        tiers=tuple(tiers),
        groups=(),
        links=(NVLINK, CARD),
        wiring=no_wires,
        router=Router((per_node,), ("direct",)),
        library="nccl",
    )


def torus(dims: tuple[int, ...], rate: float) -> System:
    """Return a closed torus whose links carry ``rate`` per direction, all of it usable."""
    chips = int(np.prod(dims))
    link = Link("ici", "ici", bandwidth=rate, efficiency=1.0, latency=1e-6)
    used = 2 * sum(size > 1 for size in dims)
    tier = Tier(
        name="ici",
        chips=chips,
        kind="torus",
        link=link,
        bandwidth=used * rate,
        burst=used * rate,
        pair=rate,
        latency=1e-6,
        dims=dims,
    )
    return replace(cluster(chips, per_node=4), tiers=(tier,), links=(link,), library="ici")
