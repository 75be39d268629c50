"""The speed of a job at the placement that it really got, and what interruptions cost it.

A job over L leaves in P pods is priced as a packed job on a system whose leaves hold 1/L and whose
pods hold 1/P of it: its network, with the links of the real one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Final

from artery.answers.plan.levers import Situation
from artery.answers.schedule.work import Training
from artery.cloud.checkpoints import MASTER, State, tiers
from artery.cloud.intervals import best_complete
from artery.cloud.recovery import recovery, restart_time
from artery.core.failure import FailureModel
from artery.core.plan import Plan
from artery.core.pricing import Pricer
from artery.core.system import System
from artery.core.term import Term
from artery.simulator.fleet.setting import Costs, Place
from artery.step.evaluate import evaluate
from artery.step.optimizer import RULES

PLANNED = ("detect", "reschedule")
"""Parts of a restart that a planned one does not have: nobody must notice, nothing is repaired."""


NEAREST: Final = 1.0
"""Assumed: seconds of work that lie between two saves at least."""


@dataclass(frozen=True, slots=True)
class Levels:
    """Nodes of a leaf and leaves of a pod, as the tiers of a system have them."""

    leaf: int
    pod: int


def levels_of(system: System) -> Levels:
    """Return the two levels above the nodes at which placement matters.

    Of several switch tiers the innermost beyond a node is the leaf and the next that is not the
    whole system the pod. A system without such tiers, a torus among them, is one leaf.
    """
    outside = [
        tier.chips // system.chips_per_node
        for tier in system.tiers
        if system.chips_per_node < tier.chips < system.chips
    ]
    if not outside:
        return Levels(max(system.nodes, 1), 1)
    leaf = outside[0]
    pod = outside[1] // leaf if len(outside) > 1 else -(-system.nodes // leaf)
    return Levels(leaf, max(pod, 1))


def spread_over(system: System, chips: int, leaves: int, pods: int) -> System:
    """Return a system of ``chips`` that lie evenly over ``leaves`` and ``pods`` of ``system``."""
    inner = [tier for tier in system.tiers if tier.chips <= system.chips_per_node]
    outer = [tier for tier in system.tiers if tier.chips > system.chips_per_node]
    per_node = system.chips_per_node
    if chips <= per_node:
        return replace(system, chips=chips, tiers=tuple(inner or outer[:1]))
    nodes = chips // per_node
    per_leaf = -(-nodes // leaves) * per_node
    found = [tier for tier in inner if tier.chips < chips]
    for tier, size in zip(outer, (per_leaf, per_leaf * -(-leaves // pods)), strict=False):
        found.append(replace(tier, chips=min(size, chips)))
        if size >= chips:
            break
    else:
        found.append(replace(outer[min(len(found) - len(inner), len(outer) - 1)], chips=chips))
    return replace(system, chips=chips, tiers=tuple(found))


@dataclass(slots=True)
class Rates:
    """Steps of every kind at every placement, priced once each; ``played``: on the network."""

    system: System
    kinds: Sequence[Training]
    pricer: Callable[[System], Pricer]
    levels: Levels
    played: bool = False
    steps: dict[tuple[int, int, int, int, int], float] = field(default_factory=dict)

    def speed(self, place: Place) -> float:
        """Return the speed at ``place`` over that on the chips asked for, well placed."""
        best = self.packed(place.kind, place.asked)
        return 1.0 if best == place else self.step(best) / self.step(place)

    def packed(self, kind: int, chips: int) -> Place:
        """Return the placement of a job on the ``chips`` that it asked for, well placed."""
        nodes = -(-chips // self.system.chips_per_node)
        leaves = max(-(-nodes // self.levels.leaf), 1)
        return Place(kind, chips, chips, leaves, max(-(-leaves // self.levels.pod), 1))

    def step(self, place: Place) -> float:
        """Return the seconds of a step at ``place``, for one and the same global batch."""
        batch = self.kinds[place.kind].batch(place.asked)
        key = place.kind, batch, place.chips, place.leaves, place.pods
        known = self.steps.get(key)
        if known is None:
            known = self.steps[key] = self._priced(place)
        return known

    def _priced(self, place: Place) -> float:
        what = self.kinds[place.kind]
        plan = what.plan(place.asked, place.chips)
        system = spread_over(self.system, plan.chips, place.leaves, place.pods)
        if self.played:
            return self._step_played(what, system, plan)
        priced = evaluate(
            what.workload,
            system,
            [plan],
            profile=what.settled.profile,
            pricer=self.pricer(system),
        )
        return float(priced.step[0])

    def _step_played(self, what: Training, system: System, plan: Plan) -> float:
        """Seconds of a step whose communication is played on the network of its placement."""
        from artery.answers.plan.simulated_step import Simulator

        about = Situation(what.workload, system, what.settled.profile, plan, self.pricer)
        simulator = Simulator(None, what.settled.shared.placement)
        return float(simulator.step(about).priced.step[0])


@dataclass(frozen=True, slots=True)
class Told:
    """What was told of costs, in seconds; ``None`` is computed."""

    save: float | None = None
    restart: float | None = None
    resize: float | None = None
    interval: float | None = None
    store: float | None = None


@dataclass(slots=True)
class Prices:
    """What interruptions cost, from the recovery's parts and the model's own bytes."""

    system: System
    rates: Rates
    failures: FailureModel | None
    told: Told
    losses: float = 0.0
    """Times a second that a provider takes each node away."""

    def costs(self, kind: int, chips: int) -> Costs:
        """Return the costs of a job of ``kind`` on ``chips``."""
        what, system = self.rates.kinds[kind], self.system
        own = replace(system, chips=max(chips, 1))
        plan = what.plan(chips, chips)
        held = RULES[plan.optimizer].state
        state = State(
            saved=what.workload.parameters * (MASTER + held),
            loaded=what.workload.parameters * (MASTER * plan.dp + held),
            chips=own.chips,
        )
        store = None if self.told.store is None else self.told.store * own.nodes / system.nodes
        tier = tiers(own, state, store=store)["shared"]
        save = tier.save if self.told.save is None else self.told.save
        parts = recovery(own.chips, 1.0)
        process, node = self._restarts(parts, tier.load)
        resize = self.told.resize
        if resize is None:
            resize = save + tier.load + sum(p.value for p in parts if p.name not in PLANNED)
        return Costs(process, node, resize, self._interval(own, save, tier.persist, node), save)

    def _restarts(self, parts: tuple[Term, ...], load: float) -> tuple[float, float]:
        if self.told.restart is not None:
            return self.told.restart, self.told.restart
        return restart_time(parts, "process") + load, restart_time(parts, "node") + load

    def _interval(self, own: System, save: float, persist: float, restart: float) -> float:
        """The interval that Daly's complete model finds best at what this size loses nodes by.

        Failures and what a provider takes back count alike.

        Saves that cost nothing are as near to one another as copies become safe.
        """
        if self.told.interval is not None:
            return self.told.interval
        rate = self.losses
        if self.failures is not None:
            rate += self.failures.rate() / self.system.nodes
        if rate <= 0.0:
            return inf
        mtbf = 1.0 / (rate * own.nodes)
        return max(best_complete(save, mtbf, restart)[0], persist, NEAREST)
