"""Stops on a cluster: InfiniBand, GPT-3, ten thousand chips and their power."""

from __future__ import annotations

from typing import Final

from artery.answers.plan import plan
from artery.answers.plan.result import PlanAnswer
from artery.answers.scale import scale
from artery.answers.tour.figures import Figures, all_reduce_seconds
from artery.catalog.links import link
from artery.catalog.models import model
from artery.catalog.systems import system
from artery.core.system import System

TEN_THOUSAND: Final = 10_000

SWITCH_PORT_POWER: Final = 747 / 64
"""Watts per 400 Gb/s port without optics: Quantum-2 QM9700, 747 W typical with passive cables
(NVIDIA datasheet, recalled)."""

ADAPTER_POWER: Final = 25.0
"""Watts of a 400 Gb/s adapter: ConnectX-7, 17 to 26 W (NVIDIA, recalled); part of the node."""

GPT3_TOKENS: Final = 300e9
"""Tokens that GPT-3 was trained on (Brown et al. 2020, arXiv 2005.14165, table 2.1)."""

V100_FLOPS: Final = 24.6e12
"""FLOP/s of one V100 on GPT-3: Patterson et al., arXiv 2104.10350, table 4."""

ASSUMED_FLOPS: Final = 400e12
"""FLOP/s that one H100 sustains: the round figure that Llama 3's 380 to 430 stand for
(arXiv 2407.21783, table 4)."""


def ten_thousand() -> Figures:
    """A small all-reduce and a small model, from one chip to ten thousand."""
    counts = (1, 8, 1024, TEN_THOUSAND)
    answer = scale("megatron-1.7b", "dgx-h100", counts)
    weak = {point.chips: point.result for point in answer.points if point.mode == "weak"}
    steps = {
        f"step_{count}": best.time.root.value for count, best in weak.items() if best is not None
    }
    small = {f"small_{n}": all_reduce_seconds(f"dgx-h100:{n}", 8) for n in counts[1:]}
    return {**small, **steps}


def infiniband() -> Figures:
    """Rates and latencies of InfiniBand."""
    hdr = link("ib-hdr")
    return {
        "adapter": hdr.latency,
        "two_nodes": all_reduce_seconds("dgx-a100:16", 8),
        "tcp": all_reduce_seconds("ethernet-10g:2", 8),
        "ib_1g": all_reduce_seconds("dgx-h100:16", 2**30),
        "roce_1g": all_reduce_seconds("hgx-h100-roce:16", 2**30),
        "hdr": hdr.bandwidth,
        "hdr_bytes": hdr.bandwidth,
        "ndr": link("ib-ndr").bandwidth,
        "xdr": link("ib-xdr").bandwidth,
    }


def gpt3() -> Figures:
    """GPT-3 on 1,024 V100, and its gradient over a 100 Gb/s port."""
    parameters = model("gpt3-175b").parameters
    run = _seconds(plan("gpt3-175b", "dgx-1v:1024", tokens=GPT3_TOKENS, explained=False))
    gradients = parameters * 2
    port = link("ib-edr").bandwidth
    # Many ranks: a ring sends 2(N-1)/N, nearly twice, of the shard through each port.
    return {
        "days_2020": 6 * parameters * GPT3_TOKENS / (1024 * V100_FLOPS),
        "days_1024": run,
        "gradients": gradients,
        "shard": 2 * gradients / 64 / port,
    }


def energy() -> Figures:
    """What ten thousand chips draw, and the network's share of it."""
    h100 = system(f"dgx-h100:{TEN_THOUSAND}")
    total = _power(h100)
    outside = h100.chips * _network_power(h100)
    adapters = h100.chips * ADAPTER_POWER
    return {
        "a100": _power(system(f"dgx-a100:{TEN_THOUSAND}")),
        "h100": total,
        "gb200": _power(system(f"gb200-nvl72:{TEN_THOUSAND}")),
        "share": (outside + adapters) / (total + outside),
    }


def _power(of: System) -> float:
    """Rated power of chips and nodes in watts."""
    return of.chips * (of.chip.power or 0.0) + of.nodes * (of.node_power or 0.0)


def _network_power(of: System) -> float:
    """Watts of switches and modules per chip, one port per chip, full bisection.

    A fat tree of ``t`` tiers spends 2t - 1 switch ports and 2t module ends on each chip: one
    cable up to the first tier, one between each two, the spine's ports facing down only.
    """
    tiers = len(of.tiers) - 1
    module = link("optic-dr8-800g").energy_per_bit or 0.0
    per_end = module * of.tiers[-1].link.bandwidth * 8
    return (2 * tiers - 1) * SWITCH_PORT_POWER + 2 * tiers * per_end


def ten_trillion() -> Figures:
    """Ten trillion parameters on about ten thousand chips."""
    work = 6 * 10e12 * 200e12
    infiniband = _sparse("dgx-h100:10240")
    nvl72 = _sparse("gb200-nvl72:10240")
    return {
        "work": work,
        "dense": work / (TEN_THOUSAND * ASSUMED_FLOPS),
        "infiniband": _seconds(infiniband),
        "roce": _seconds(_sparse("hgx-h100-roce:10240")),
        "share_8": _share(infiniband, "ep"),
        "b200": _seconds(_sparse("dgx-b200:10240")),
        "nvl72": _seconds(nvl72),
        "share_72": _share(nvl72, "ep"),
    }


def _sparse(on: str) -> PlanAnswer:
    """A 10 T model with 300 B active parameters over 20 T tokens, optimizer sharded."""
    return plan("moe-10t", on, tokens=20e12, zero=1, etp=1, explained=False)


def _share(answer: PlanAnswer, part: str) -> float:
    root = answer.plans[0].time.root
    return sum(child.value for child in root.children if child.name == part) / root.value


def _seconds(answer: PlanAnswer) -> float:
    run = answer.plans[0].run
    return run.seconds if run is not None else 0.0
