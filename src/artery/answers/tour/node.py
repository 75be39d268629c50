"""Stops inside a node and around it: links, wiring, Amdahl, all-reduce."""

from __future__ import annotations

from typing import Final

from artery.answers.expect import expect
from artery.answers.scale import ScaleAnswer, amdahl_speedup, scale
from artery.answers.tour.figures import Figures, all_reduce_seconds
from artery.answers.tour.pseudo_code import average, pseudo_code
from artery.catalog.chips import chip
from artery.catalog.links import link
from artery.catalog.models import model
from artery.catalog.systems import system
from artery.collective.schedules import schedule
from artery.collective.verify import verify
from artery.core.system import System

GRADIENTS: Final = 4


def links() -> Figures:
    """ResNet-50's gradient over three kinds of link."""
    gradient = model("resnet50").parameters * 4
    pcie = all_reduce_seconds("pcie-a100:2", gradient)
    ethernet = all_reduce_seconds("ethernet-10g:2", gradient)
    return {
        "gradient": gradient,
        "pcie": pcie,
        "nvlink": all_reduce_seconds("dgx-a100:2", gradient),
        "ethernet": ethernet,
        "slower": ethernet / pcie,
        "staged": all_reduce_seconds("rtx3090x2:2", gradient),
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
