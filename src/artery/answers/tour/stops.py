"""The figures of the tour's stops, each computed by what also answers the commands.

One function per stop of ``data/tour.toml``, named after it; each returns its figures by name,
in SI units.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import ceil
from typing import Final

from artery.answers.expect import expect
from artery.answers.goodput import goodput
from artery.answers.plan import plan
from artery.answers.result import PlanAnswer
from artery.answers.scale import ScaleAnswer, amdahl_speedup, scale
from artery.answers.tour.pseudo_code import average, pseudo_code
from artery.answers.tour.stops_more import inside, minutes, pool
from artery.catalog.chips import chip
from artery.catalog.links import link
from artery.catalog.models import model
from artery.catalog.systems import system
from artery.cloud.failures import RSC_1
from artery.collective.schedules import schedule
from artery.collective.verify import verify
from artery.core.chip import Memory
from artery.core.system import System

Figures = Mapping[str, float]

FERMI_CORES: Final = 32
"""CUDA cores of one streaming multiprocessor (NVIDIA Fermi whitepaper, 2010)."""

ADAM_STATE: Final = 16
"""Bytes of training state per parameter with Adam in mixed precision: fp16 weight and gradient,
fp32 weight, momentum and variance (ZeRO, arXiv 1910.02054, section 3.1)."""

MOMENTUM_STATE: Final = 12
"""Bytes per parameter in fp32: weight, gradient, momentum (Krizhevsky et al. 2012, section 5)."""

ALEXNET_BATCH: Final = 128
"""Samples per step (Krizhevsky et al. 2012, section 5)."""

GRADIENTS: Final = 4

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


def one_chip() -> Figures:
    """AlexNet on a GTX 580."""
    card, network = chip("gtx580"), model("alexnet")
    whole = plan("alexnet", "gtx580", global_batch=ALEXNET_BATCH, micro_batch=ALEXNET_BATCH,
                 dtype="fp32", explained=False)  # fmt: skip
    return {
        "cores": card.cores * FERMI_CORES,
        "memory": card.memory.capacity,
        "state": network.parameters * MOMENTUM_STATE,
        "batch": ALEXNET_BATCH,
        "total": whole.plans[0].memory.root.value,
    }


def does_it_fit() -> Figures:
    """BERT and GPT-3 against the memory of a chip."""
    gpt3 = model("gpt3-175b").parameters * ADAM_STATE
    return {
        "bert": model("bert-base").parameters * ADAM_STATE,
        "gpt3": gpt3,
        "chips": ceil(gpt3 / chip("h100-sxm").memory.capacity),
    }


def memory() -> Figures:
    """HBM against DDR and GDDR."""
    stack = link("hbm3").bandwidth
    shipped = chip("h100-sxm").memory
    width = _width(shipped)
    return {
        "stack": stack,
        "ratio_4800": stack / link("ddr5-4800").bandwidth,
        "ratio_6400": stack / link("ddr5-6400").bandwidth,
        "ratio_ddr4": stack / (2 * link("ddr4-2133").bandwidth),
        "stacks": shipped.stacks or 0,
        "shipped": shipped.bandwidth / (shipped.stacks or 1),
        "pins_ddr": width / _width(chip("epyc-9654").memory),
        "pins_gddr": width / _width(chip("l40s").memory),
    }


def _width(of: Memory) -> int:
    return of.bits_per_stack or 0


def links() -> Figures:
    """ResNet-50's gradient over three kinds of link."""
    gradient = model("resnet50").parameters * 4
    pcie = _all_reduce("pcie-a100:2", gradient)
    ethernet = _all_reduce("ethernet-10g:2", gradient)
    return {
        "gradient": gradient,
        "pcie": pcie,
        "nvlink": _all_reduce("dgx-a100:2", gradient),
        "ethernet": ethernet,
        "slower": ethernet / pcie,
        "staged": _all_reduce("rtx3090x2:2", gradient),
    }


def dgx_1() -> Figures:
    """Eight V100 in a box."""
    nvlink = next(port for port in chip("v100").ports if port.kind == "nvlink")
    direction = nvlink.count * nvlink.bandwidth
    rows = expect("all_reduce", "dgx-1v:8", sizes=[256 * 2**20]).rows
    answer = scale("resnet50", "dgx-1v", [1, 8], dtype="fp32", global_batch=2048, zero=0, pp=1)
    return {
        "both_ways": 2 * direction,
        "direction": direction,
        "over_pcie": direction / link("pcie3x16").bandwidth,
        "busbw": rows[0].speed.busbw,
        "speedup": _speedups(answer, "weak")[8],
    }


def wiring() -> Figures:
    """A full mesh, and what a DGX-1 has instead."""
    server = system("dgx-1v:8")
    joined = _nvlinks(server)
    return {
        "hands_10": _pairs(10),
        "hands_16": _pairs(16),
        "hands_32": _pairs(32),
        "dgx1_all": _pairs(server.chips),
        "dgx1_pairs": len(joined),
        "dgx1_links": sum(joined.values()),
    }


def _pairs(count: int) -> int:
    return count * (count - 1) // 2


def _nvlinks(of: System) -> dict[tuple[int, int], int]:
    """Return the number of NVLinks between each pair of chips that has any."""
    lane = next(port for port in of.chip.ports if port.kind == "nvlink").bandwidth
    edges = of.wiring()
    return {
        (int(a), int(b)): round(of.links[int(which)].bandwidth / lane)
        for a, b, which in zip(edges.source, edges.target, edges.link, strict=True)
        if a < b < of.chips
    }


def amdahl() -> Figures:
    """Amdahl's law at P = 0.9."""
    on_8, on_1024 = amdahl_speedup(0.9, 8), amdahl_speedup(0.9, 1024)
    return {
        "on_8": on_8,
        "on_1024": on_1024,
        "limit": amdahl_speedup(0.9, float("inf")),
        "efficiency_8": on_8 / 8,
        "efficiency_1024": on_1024 / 1024,
    }


def falling() -> Figures:
    """A fixed batch over slow Ethernet."""
    counts = [1, 2, 4, 8, 16, 32, 64, 128, 256]
    answer = scale("resnet50", "ethernet-10g", counts, global_batch=256, pp=1)
    strong = _speedups(answer, "strong")
    ends = [counts[0], counts[-1]]
    growing = scale("resnet50", "ethernet-10g", ends, global_batch=256 * counts[-1], pp=1)
    weak = _speedups(growing, "weak")
    best = max(strong, key=strong.__getitem__)
    return {
        "best": strong[best],
        "best_chips": best,
        "last": strong[counts[-1]],
        "last_chips": counts[-1],
        "weak": weak[counts[-1]],
        "weak_chips": counts[-1],
    }


def _speedups(answer: ScaleAnswer, mode: str) -> dict[int, float]:
    return {p.chips: p.speedup for p in answer.points if p.mode == mode and p.speedup is not None}


def all_reduce() -> Figures:
    """The article's pseudo-code and a ring, played on four gradients of 1."""
    ring = schedule("ring", "all_reduce", GRADIENTS)
    return {
        "code": average(pseudo_code(GRADIENTS)),
        "ring": average(ring),
        "steps": ring.steps,
        "sent": verify(ring).sent[0] / ring.chunks,
    }


def ten_thousand() -> Figures:
    """A small all-reduce and a small model, from one chip to ten thousand."""
    counts = (1, 8, 1024, TEN_THOUSAND)
    answer = scale("megatron-1.7b", "dgx-h100", counts)
    weak = {point.chips: point.result for point in answer.points if point.mode == "weak"}
    steps = {
        f"step_{count}": best.time.root.value for count, best in weak.items() if best is not None
    }
    small = {f"small_{n}": _all_reduce(f"dgx-h100:{n}", 8) for n in counts[1:]}
    return {**small, **steps}


def infiniband() -> Figures:
    """Rates and latencies of InfiniBand."""
    hdr = link("ib-hdr")
    return {
        "adapter": hdr.latency,
        "two_nodes": _all_reduce("dgx-a100:16", 8),
        "tcp": _all_reduce("ethernet-10g:2", 8),
        "ib_1g": _all_reduce("dgx-h100:16", 2**30),
        "roce_1g": _all_reduce("hgx-h100-roce:16", 2**30),
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


def failures() -> Figures:
    """Node failures of ten thousand chips in nodes of eight."""
    nodes = system(f"dgx-h100:{TEN_THOUSAND}").nodes
    return {
        "rate": RSC_1.per_1000_node_days,
        "per_day": RSC_1.per_day(nodes),
        "between": RSC_1.mean_time_between(nodes),
    }


def recovery() -> Figures:
    """What failures leave of Llama 3's run, at its own rate of failures."""
    answer = goodput("llama3-405b", "hgx-h100-roce:16384", rate="llama-3")
    return {
        "between": answer.mtbf.value,
        "interval": answer.intervals.best,
        "restart": answer.restart,
        "ettr": answer.ettr.value,
        "five": answer.availability.five_nines_restart,
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


def _all_reduce(on: str, size: int) -> float:
    """Return the seconds that an all-reduce of ``size`` bytes should take on all of ``on``."""
    return expect("all_reduce", on, sizes=[size]).rows[0].speed.seconds


STOPS: Final[Mapping[str, Callable[[], Figures]]] = {
    "one-chip": one_chip,
    "does-it-fit": does_it_fit,
    "memory": memory,
    "inside": inside,
    "links": links,
    "dgx-1": dgx_1,
    "wiring": wiring,
    "amdahl": amdahl,
    "falling": falling,
    "all-reduce": all_reduce,
    "ten-thousand": ten_thousand,
    "infiniband": infiniband,
    "gpt3": gpt3,
    "failures": failures,
    "recovery": recovery,
    "minutes": minutes,
    "pool": pool,
    "energy": energy,
    "ten-trillion": ten_trillion,
}
"""The function of each stop in ``data/tour.toml``."""
