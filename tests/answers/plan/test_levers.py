"""What would help: each lever's effect is what planning again gives."""

from __future__ import annotations

from dataclasses import replace
from math import log
from typing import Any

import pytest

from artery.answers.hardware import resources
from artery.answers.plan import plan
from artery.answers.plan.levers import NUDGE, WORTH, Situation, levers
from artery.answers.plan.limits import SHARE, limits
from artery.answers.plan.result import Lever, PlanAnswer
from artery.answers.pricing import Pricers
from artery.catalog import model, profile, system
from artery.core.plan import Plan
from artery.core.system import System
from artery.step import evaluate

WHOLE: dict[str, Any] = {
    "tp": 4, "pp": 2, "vpp": 1, "cp": 1, "ep": 1, "etp": 1, "dp": 8, "dp_replicate": 1, "zero": 1,
    "micro_batch": 1, "global_batch": 512, "recompute": "full", "sequence_parallel": False,
    "attention": "flash2", "framework": "megatron-core",
}  # fmt: skip


def again(**changes: Any) -> PlanAnswer:
    return plan("llama3-8b", "dgx-h100:64", **{**WHOLE, **changes})


BEST = again().plans[0]
STEP = BEST.time.root.value
CHANGES = {lever.name: lever for lever in BEST.levers if lever.kind == "change"}


def test_levers_are_worth_showing_and_the_best_come_first() -> None:
    effects = [lever.effect for lever in BEST.levers]
    assert effects == sorted(effects)
    changes = [lever.effect for lever in BEST.levers if lever.kind == "change"]
    assert max(changes) <= -WORTH
    assert max(effects) <= 0.0, "more of a resource never makes a step slower"
    assert len(BEST.levers) == len({(lever.name, lever.change) for lever in BEST.levers})


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("recompute", {"recompute": "none"}),
        ("attention", {"attention": "flash3"}),
        ("dtype", {"dtype": "fp8"}),
        ("tp", {"tp": 2, "dp": 16}),
        ("overlap ep", None),
    ],
)
def test_a_change_is_what_planning_again_gives(name: str, changes: dict[str, Any] | None) -> None:
    if changes is None:
        assert name not in CHANGES  # a dense model exchanges nothing between experts
        return
    changed = again(**changes).plans[0]
    assert CHANGES[name].effect == pytest.approx(changed.time.root.value / STEP - 1, rel=1e-9)
    assert CHANGES[name].fits == changed.fits


def test_what_is_already_hidden_is_no_lever() -> None:
    def names(**changes: Any) -> set[str]:
        found = plan("bert-large", "ethernet-10g:8", tp=1, pp=1, dp=8, zero=1, **changes)
        return {lever.name for lever in found.plans[0].levers}

    assert "overlap dp" in names(overlap=())
    assert "overlap dp" not in names(overlap=("dp",))
    assert "overlap dp" not in names()  # the profile hides it


def test_hiding_what_is_exposed_is_what_planning_again_gives() -> None:
    given: dict[str, Any] = {"tp": 1, "pp": 1, "cp": 1, "dp": 8, "zero": 1, "recompute": "none"}
    given |= {"micro_batch": 1}
    bare = plan("bert-large", "ethernet-10g:8", overlap=(), **given).plans[0]
    hidden = plan("bert-large", "ethernet-10g:8", overlap=("dp",), **given).plans[0]
    lever = next(lever for lever in bare.levers if lever.name == "overlap dp")
    effect = hidden.time.root.value / bare.time.root.value - 1
    assert lever.effect == pytest.approx(effect, rel=1e-9)


def situation(place: System, chosen: Plan, name: str = "llama3-8b") -> Situation:
    return Situation(model(name), place, profile(chosen.framework), chosen, Pricers())


def test_elasticity_is_the_slope_of_the_logarithms() -> None:
    place = system("dgx-h100:64")
    found = {r.name: r for r in BEST.levers if r.kind == "resource"}
    assert set(found) <= {resource.name for resource in resources(place)}
    faster = next(r for r in resources(place) if r.name == "peak compute").scaled(place, NUDGE)
    there = situation(faster, BEST.plan)
    seconds = float(there.evaluate(BEST.plan).step[0])
    lever = found["peak compute"]
    assert lever.elasticity == pytest.approx(log(seconds / STEP) / log(NUDGE))
    assert lever.effect == pytest.approx(seconds / STEP - 1)
    assert lever.elasticity is not None
    assert -1 <= lever.elasticity < 0


def test_an_overridden_system_gives_the_effect_of_its_lever() -> None:
    """Twice the memory bandwidth as a lever, and as ``--set``."""
    lever = next(x for x in BEST.levers if (x.kind, x.name) == ("change", "memory bandwidth"))
    bandwidth = system("dgx-h100").chip.memory.bandwidth
    doubled = again(overrides=(f"chip.memory.bandwidth={2 * bandwidth / 1e12!r} TB/s",))
    assert doubled.system.chip.memory.bandwidth == pytest.approx(2 * bandwidth)
    effect = doubled.plans[0].time.root.value / STEP - 1
    assert lever.effect == pytest.approx(effect, rel=1e-9)


def test_scaling_moves_what_it_says_and_nothing_else() -> None:
    place = system("rail-clos-h100:64")
    for resource in resources(place):
        scaled = resource.scaled(place, 2.0)
        assert resource.scaled(scaled, 0.5) == place
        changed = {
            "peak compute": scaled.chip.peaks["bf16"] / place.chip.peaks["bf16"],
            "memory bandwidth": scaled.chip.memory.bandwidth / place.chip.memory.bandwidth,
        }
        for before, after in zip(place.tiers, scaled.tiers, strict=True):
            changed[f"{before.name} bandwidth"] = after.bandwidth / before.bandwidth
            changed[f"{before.name} latency"] = before.latency / after.latency
            assert after.burst / before.burst == after.bandwidth / before.bandwidth
        assert {name for name, ratio in changed.items() if ratio != 1} == {resource.name}
        assert changed[resource.name] == 2


def test_no_change_that_does_not_fit_is_offered() -> None:
    place = system("dgx-h100:8")
    tight = Plan(tp=8, global_batch=64, sequence=8192, recompute="full", micro_batch=2)
    here = situation(place, tight)
    step = float(here.evaluate(tight).step[0])
    offered = {lever.name for lever in levers(here, step)}
    assert "recompute" in offered
    small = replace(place.chip.memory, capacity=place.chip.memory.capacity / 3)
    tiny = replace(place, chip=replace(place.chip, memories=(small,)))
    assert "recompute" not in {x.name for x in levers(situation(tiny, tight), step)}


def test_every_offered_neighbour_is_legal_and_its_fit_said() -> None:
    found: list[Lever] = [x for x in BEST.levers if x.kind == "change"]
    assert {lever.fits for lever in found} <= {"yes", "at_limit"}


def test_limits_name_the_largest_parts_and_their_tier() -> None:
    place = system("ethernet-10g:8")
    chosen = Plan(dp=8, zero=1, global_batch=64, sequence=1024, overlap=())
    here = situation(place, chosen, "gpt2")
    priced = here.evaluate(chosen)
    said = limits(priced, chosen, place)
    shares = sorted((float(p[0] / priced.step[0]) for p in priced.parts.values()), reverse=True)
    assert len(said) == sum(share >= SHARE for share in shares)
    assert said[0] == "gradient and weight traffic on switch"


def test_limits_of_one_chip_name_no_tier() -> None:
    place = system("h100-sxm")
    chosen = Plan(global_batch=8, sequence=1024)
    priced = evaluate(
        model("gpt2"), place, [chosen], profile=profile("megatron-core"), pricer=Pricers()(place)
    )
    assert limits(priced, chosen, place)[0] in {
        "matrix products and attention",
        "memory bandwidth (norms, activations, residuals)",
    }


def test_every_resource_has_its_elasticity_also_where_it_matters_little() -> None:
    named = {lever.name for lever in BEST.levers if lever.kind == "resource"}
    assert {"peak compute", "memory bandwidth"} <= named
    assert all(lever.elasticity is not None for lever in BEST.levers if lever.kind == "resource")


def test_an_upgrade_names_what_there_is_and_what_there_would_be() -> None:
    upgrades = [x.change for x in BEST.levers if x.kind == "change" and "bandwidth" in x.name]
    assert upgrades
    assert all(" -> " in change and "/s" in change for change in upgrades)
