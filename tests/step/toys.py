"""A small decoder on a small cluster, with round numbers, for tests of one formula at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from artery.core.chip import AttentionCurve
from artery.core.plan import Plan
from artery.core.pricing import Demand, Price, Pricer
from artery.core.profile import Profile
from artery.core.system import System
from artery.core.workload import Layer, Parameter, Workload
from artery.step import Evaluation, Ledger, Plans, evaluate
from artery.step.job import Job
from artery.step.machine import machine
from artery.workload import DecoderShape, Experts, decoder, gpt_shape
from tests.collective.systems import cluster

WIRE: Mapping[str, float] = {
    "all_reduce": 2.0, "all_gather": 1.0, "reduce_scatter": 1.0, "alltoall": 1.0, "sendrecv": 1.0,
}  # fmt: skip
"""Bytes that a rank puts on the wire over the message's bytes, in large groups."""


@dataclass
class Meter:
    """Prices every collective at ``rate`` B/s, without latency, and remembers what was asked."""

    rate: float = 1e9
    asked: list[Demand] = field(default_factory=list)

    def price(self, demand: Demand) -> Price:
        self.asked.append(demand)
        seconds = np.where(demand.ranks > 1, WIRE[demand.collective] * demand.size / self.rate, 0.0)
        return Price(seconds, np.zeros(len(seconds), dtype=np.int64))


PROFILE = Profile(
    name="toy",
    as_of="2024-01",
    description="hides nothing, wastes nothing",
    attention="flash2",
    zero=1,
    optimizer="adam",
    grad_dtype="fp32",
    traffic=1.0,
    kernels=1.0,
    overlap={},
    contention=0.0,
    host=0.0,
    straggler=0.0,
    logit_bytes=4.0,
    reserve=0.0,
    context=0.0,
)


def system(chips: int = 64) -> System:
    """Nodes of 8 chips; fused attention and FP8 on top of the chip of the collectives' tests."""
    made = cluster(chips)
    efficiency = replace(
        made.chip.efficiency,
        matmul={"bf16": 0.8, "fp8": 0.7},
        attention={"flash2": AttentionCurve(0.7, 300.0)},
    )
    chip = replace(made.chip, peaks={"bf16": 1e15, "fp8": 2e15}, efficiency=efficiency)
    return replace(made, chip=chip)


def gpt(layers: int = 8, sequence: int = 1024) -> Workload:
    """A GPT of hidden 1024 with 16 heads."""
    shape = gpt_shape(layers=layers, hidden=1024, heads=16, vocab=32000, sequence=sequence)
    return decoder("toy-gpt", shape)


def mixture(experts: int = 16, top_k: int = 2) -> Workload:
    """A mixture-of-experts decoder of 4 layers and hidden 512."""
    return decoder(
        "toy-moe",
        DecoderShape(
            layers=4, hidden=512, heads=8, vocab=32000, sequence=1024,
            experts=Experts(count=experts, top_k=top_k, width=1024),
        ),
    )  # fmt: skip


def without_ends(workload: Workload) -> Workload:
    """The same layers with nothing before and after them, so that stages are equal."""

    def empty(layer: Layer) -> Layer:
        return replace(layer, operators=(), parameters=(), saved=(), reductions=0)

    return replace(
        workload, first=empty(workload.first), last=empty(workload.last), tied=False, logits=0
    )


def weights_only(count: int) -> Workload:
    """One layer of ``count`` weights that computes nothing worth mentioning."""
    bare = without_ends(gpt(layers=1))
    parameter = Parameter("weight", (count,), "tensor")
    layer = replace(bare.layers[0], operators=(), parameters=(parameter,), saved=())
    return replace(bare, layers=(layer,))


def job(
    workload: Workload,
    *plans: Plan,
    profile: Profile = PROFILE,
    pricer: Pricer | None = None,
    ledger: Ledger | None = None,
) -> Job:
    """The job of ``plans`` on enough chips."""
    table = Plans.of(plans)
    where = system(max(8, int(table.chips.max())))
    frame = machine(where, pricer or Meter(), profile, table.shared)
    return Job(workload, table, frame, ledger or Ledger())


def run(
    workload: Workload,
    *plans: Plan,
    profile: Profile = PROFILE,
    pricer: Pricer | None = None,
    ledger: Ledger | None = None,
) -> Evaluation:
    """The evaluation of ``plans`` on enough chips."""
    made = job(workload, *plans, profile=profile, pricer=pricer)
    return evaluate(
        workload,
        made.machine.system,
        made.plans,
        profile=profile,
        pricer=made.machine.pricer,
        ledger=ledger,
    )
