"""Stops on one chip: its memory, what fits, the network inside it."""

from __future__ import annotations

from math import ceil
from typing import Final

from artery.answers.plan import plan
from artery.answers.simulate import simulate
from artery.answers.tour.figures import Figures
from artery.catalog.chips import chip
from artery.catalog.links import link
from artery.catalog.models import model
from artery.core.chip import Memory

FERMI_CORES: Final = 32
"""CUDA cores of one streaming multiprocessor (NVIDIA Fermi whitepaper, 2010)."""

ADAM_STATE: Final = 16
"""Bytes of training state per parameter with Adam in mixed precision: fp16 weight and gradient,
fp32 weight, momentum and variance (ZeRO, arXiv 1910.02054, section 3.1)."""

MOMENTUM_STATE: Final = 12
"""Bytes per parameter in fp32: weight, gradient, momentum (Krizhevsky et al. 2012, section 5)."""

ALEXNET_BATCH: Final = 128
"""Samples per step (Krizhevsky et al. 2012, section 5)."""


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


def inside() -> Figures:
    """All cores of a processor send to all others, over three networks on the chip."""
    times = {kind: _exchange(kind) for kind in ("mesh", "ring", "crossbar")}
    return {**times, "worse": times["ring"] / times["mesh"]}


def _exchange(kind: str) -> float:
    """Seconds of an all-to-all of 4 KiB on the network alone, without the library's start."""
    answer = simulate("alltoall", "xeon-8480-mesh", size=4096, overrides=[f"node.kind=noc-{kind}"])
    return answer.network
