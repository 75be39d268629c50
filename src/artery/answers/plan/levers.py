"""What would help: elasticities of the step time, and concrete changes with their effect."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import log
from typing import Any

from artery.answers.hardware import resources
from artery.answers.plan.result import Fits, Lever
from artery.core.plan import AttentionKind, Plan
from artery.core.pricing import Pricer
from artery.core.profile import Profile
from artery.core.system import System
from artery.core.workload import Workload
from artery.errors import InputError
from artery.step.evaluate import Evaluation, evaluate
from artery.step.legality import problems

NUDGE = 1.1
"""Resources are raised by a tenth to find their elasticity."""

WORTH = 0.004
"""Changes of the step time smaller than this share are not shown."""

FITS: tuple[Fits, ...] = ("no", "at_limit", "yes")


@dataclass(frozen=True, slots=True)
class Situation:
    """A plan on a system, and how to price another one.

    ``switched`` prices with switches that add, where they could and are not asked to.
    """

    workload: Workload
    system: System
    profile: Profile
    plan: Plan
    pricer: Callable[[System], Pricer]
    switched: Callable[[System], Pricer] | None = None

    @property
    def hidden(self) -> tuple[str, ...]:
        """The kinds of communication that the plan overlaps with compute."""
        if self.plan.overlap is not None:
            return self.plan.overlap
        return tuple(kind for kind, share in self.profile.overlap.items() if share > 0)

    def evaluate(self, plan: Plan, system: System | None = None) -> Evaluation:
        """Price ``plan``, on ``system`` if it is another one."""
        where = system or self.system
        return evaluate(
            self.workload, where, [plan], profile=self.profile, pricer=self.pricer(where)
        )


def levers(situation: Situation, step: float) -> tuple[Lever, ...]:
    """Return what changes the step time of ``step`` seconds, the most helpful first.

    Resources carry d log time / d log resource, all of them, also where it is next to nothing;
    changes their effect when made alone, if it is worth while.
    """
    found = [
        *_elasticities(situation, step),
        *_upgrades(situation, step),
        *_changes(situation, step),
        *_in_network(situation, step),
    ]
    kept = [each for each in found if each.kind == "resource" or each.effect <= -WORTH]
    return tuple(sorted(kept, key=lambda lever: lever.effect))


def _elasticities(situation: Situation, step: float) -> Iterator[Lever]:
    for resource in resources(situation.system):
        system = resource.scaled(situation.system, NUDGE)
        changed = float(situation.evaluate(situation.plan, system).step[0])
        yield Lever(
            kind="resource",
            name=resource.name,
            change=f"{NUDGE - 1:+.0%}",
            effect=changed / step - 1.0,
            elasticity=log(changed / step) / log(NUDGE),
        )


def _upgrades(situation: Situation, step: float) -> Iterator[Lever]:
    """Memory and each network tier at twice its bandwidth: the next generation of its link."""
    doubled = {r.name: r.amount for r in resources(_doubled(situation.system))}
    for resource in resources(situation.system):
        if resource.name.endswith("bandwidth"):
            system = resource.scaled(situation.system, 2.0)
            changed = float(situation.evaluate(situation.plan, system).step[0])
            text = f"{resource.amount} -> {doubled[resource.name]}"
            yield Lever("change", resource.name, text, changed / step - 1.0)


def _doubled(system: System) -> System:
    """The system with twice of everything."""
    for resource in resources(system):
        system = resource.scaled(system, 2.0)
    return system


def _in_network(situation: Situation, step: float) -> Iterator[Lever]:
    """Switches between nodes that add (SHARP), where the network has them."""
    if situation.switched is not None:
        asked = replace(situation, pricer=situation.switched)
        changed = float(asked.evaluate(situation.plan).step[0])
        yield Lever("change", "sums in network switches", "--offload switch", changed / step - 1.0)


def _changes(situation: Situation, step: float) -> Iterator[Lever]:
    """Neighbouring plans that are legal, with whether they still fit."""
    for name, change, plan in _neighbours(situation.plan, situation):
        if problems(situation.workload, plan):
            continue
        try:
            priced = situation.evaluate(plan)
        except InputError:
            continue  # the chip lacks the dtype or kernel of this neighbour: no lever here
        fits = FITS[int(priced.fits[0])]
        if fits != "no":
            yield Lever("change", name, change, float(priced.step[0]) / step - 1.0, fits=fits)


def _neighbours(plan: Plan, situation: Situation) -> Iterator[tuple[str, str, Plan]]:
    yield from _degrees(plan)
    hidden = situation.hidden
    for kind in ("dp", "tp", "pp", "ep"):
        if kind not in hidden:
            yield f"overlap {kind}", "on", replace(plan, overlap=(*hidden, kind))
    if plan.recompute == "full":
        yield "recompute", "full -> none", replace(plan, recompute="none")
    newer: tuple[AttentionKind, ...] = ("flash2", "flash3")
    for kind in newer:
        if kind in situation.system.chip.efficiency.attention and kind > plan.attention:
            yield "attention", f"{plan.attention} -> {kind}", replace(plan, attention=kind)
    if plan.tp > 1 and not plan.sequence_parallel:
        yield "sequence parallelism", "on", replace(plan, sequence_parallel=True)
    if plan.dtype in ("bf16", "fp16") and "fp8" in situation.system.chip.peaks:
        yield "dtype", f"{plan.dtype} -> fp8", replace(plan, dtype="fp8")


def _degrees(plan: Plan) -> Iterator[tuple[str, str, Plan]]:
    """One degree halved or doubled, data parallelism taking up the slack."""
    for name in ("tp", "pp", "cp"):
        old = getattr(plan, name)
        if old % 2 == 0:
            yield name, f"{old} -> {old // 2}", _with(plan, name, old // 2, plan.dp * 2)
        if plan.dp % 2 == 0:
            yield name, f"{old} -> {old * 2}", _with(plan, name, old * 2, plan.dp // 2)
    yield (
        "micro-batch",
        f"{plan.micro_batch} -> {plan.micro_batch * 2}",
        replace(plan, micro_batch=plan.micro_batch * 2),
    )
    if plan.pp > 1:
        yield "vpp", f"{plan.vpp} -> {plan.vpp * 2}", replace(plan, vpp=plan.vpp * 2)


def _with(plan: Plan, name: str, value: int, dp: int) -> Plan:
    degrees: dict[str, Any] = {name: value, "dp": dp}
    changed = replace(plan, **degrees)
    if changed.tp == 1:
        changed = replace(changed, sequence_parallel=False)
    if changed.pp == 1:
        changed = replace(changed, vpp=1)
    return changed
