"""Plans and answers built by hand, for tests of what only shows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from artery.answers.plan.result import Fits, Lever, PlanAnswer, PlanResult, Run
from artery.core.chip import Chip, Efficiency, Memory, Port
from artery.core.link import Link
from artery.core.plan import Plan
from artery.core.profile import Profile
from artery.core.system import Edges, Router, System, Tier, VertexGroup
from artery.core.term import Estimate, Term
from artery.core.workload import Layer, Parameter, Workload

GIB = 2.0**30


def _no_wiring() -> Edges:
    raise AssertionError("a renderer has no business with the wiring")


def chip() -> Chip:
    return Chip(
        name="toy-chip",
        vendor="toy",
        year=2024,
        peaks={"bf16": 1e15},
        memories=(Memory("hbm", 80 * GIB, 3e12),),
        ports=(Port("nvlink", 18, 25e9),),
        efficiency=Efficiency({"bf16": 0.8}, 0.1, 0.8, 3e-6),
        cores=132,
        cache=50e6,
        power=700.0,
    )


def system(chips: int = 64, name: str = "toy-pod") -> System:
    link = Link("toy-link", "nvlink", 450e9, 0.8, 1e-6)
    tier = Tier("node", 8, "switch", link, 450e9, 450e9, 450e9, 1e-6)
    return System(
        name=name,
        chip=chip(),
        chips=chips,
        chips_per_node=8,
        tiers=(tier,),
        groups=(VertexGroup("chip", "chip", chips),),
        links=(link,),
        wiring=_no_wiring,
        router=Router((8,), ("direct",)),
        library="nccl",
    )


def workload(name: str = "toy-70b") -> Workload:
    def layer(part: str, count: int = 1) -> Layer:
        weight = Parameter("weight", (8192, 8192), "tensor")
        return Layer(part, count, (), (weight,), (), reductions=2, reduced=8192, boundary=8192)

    return Workload(
        name=name,
        family="decoder",
        row_kind="token",
        sequence=4096,
        first=layer("embedding"),
        layers=(layer("layer", 80),),
        last=layer("head"),
        hidden=8192,
        heads=64,
        kv_heads=8,
        logits=128256,
        tied=False,
    )


def profile() -> Profile:
    return Profile(
        name="megatron-core",
        as_of="2024-06",
        description="toy",
        attention="flash2",
        zero=1,
        optimizer="adam",
        grad_dtype="fp32",
        traffic=1.0,
        kernels=1.0,
        overlap={"dp": 0.9},
        contention=0.1,
        host=1e-4,
        straggler=0.01,
        logit_bytes=6.0,
        reserve=0.05,
        context=2 * GIB,
    )


BREAKDOWN = {
    "compute": 4.0,
    "memory_bound": 0.6,
    "tp": 1.0,
    "pp": 0.1,
    "cp": 0.0,
    "ep": 0.0,
    "dp": 0.4,
    "bubble": 0.75,
    "optimizer": 0.1,
    "host": 0.0,
    "straggler": 0.05,
    "other": 0.0,
}
"""Seconds; they sum to 7.0."""

MEMORY = {
    "weights": 17 * GIB,
    "gradients": 8 * GIB,
    "optimizer": 12 * GIB,
    "activations": 20 * GIB,
    "other": 4 * GIB,
}


def tree(root: str, unit: str, parts: Mapping[str, float], low: float, high: float) -> Term:
    children = tuple(
        Term(
            name,
            unit,
            value,
            value * low,
            value * high,
            formula=f"{name} = a · b",
            inputs={"a": 2.0, "b": value / 2},
            source="made up for tests",
        )
        for name, value in parts.items()
    )
    total = sum(parts.values())
    return Term(
        root,
        unit,
        total,
        total * low,
        total * high,
        "sum",
        formula="sum of the parts",
        source="made up for tests",
        children=children,
    )


def plan() -> Plan:
    return Plan(
        tp=4,
        pp=4,
        vpp=2,
        dp=4,
        zero=1,
        micro_batch=1,
        global_batch=128,
        sequence=4096,
        recompute="selective",
        sequence_parallel=True,
        attention="flash2",
    )


def result(fits: Fits = "yes", scale: float = 1.0) -> PlanResult:
    parts = {name: value * scale for name, value in BREAKDOWN.items()}
    seconds = sum(parts.values())
    return PlanResult(
        plan=plan(),
        time=Estimate(tree("step", "s", parts, 0.9, 1.15), "closed form"),
        memory=Estimate(tree("memory", "B", MEMORY, 0.95, 1.1), "closed form"),
        fits=fits,
        capacity=80 * GIB,
        tokens_per_s=128 * 4096 / seconds,
        samples_per_s=128 / seconds,
        mfu=0.412 / scale,
        hfu=0.433 / scale,
        limited_by=("matrix products and attention", "tensor-parallel collectives on node"),
        levers=(
            Lever("change", "tp", "4 -> 2", -0.043),
            Lever("resource", "node bandwidth", "+10%", -0.013, -0.14),
            Lever("change", "recompute", "full -> none", -0.05, fits="no"),
        ),
        energy_per_step=64 * 700.0 * seconds,
        cost_per_hour=128.0,
        run=Run(15e12, 28_610_229, 28_610_229 * seconds, 9e12, 7.1e6),
        notes=("sequence parallel is the profile's default",),
    )


def answer(*plans: PlanResult, given: bool = False) -> PlanAnswer:
    return PlanAnswer(
        workload=workload(),
        system=system(),
        profile=profile(),
        plans=plans or (result(), replace(result(scale=1.1), plan=replace(plan(), tp=8, dp=2))),
        searched=1234,
        fitting=567,
        given=given,
        warnings=("toy-pod: price is unknown",),
    )


def infeasible() -> PlanAnswer:
    too_big = replace(result(fits="no"), capacity=40 * GIB)
    return replace(answer(too_big), fitting=0)


Factory = Callable[[], PlanAnswer]
