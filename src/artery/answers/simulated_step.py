"""One plan's step with its communication simulated: which operations, beside which others."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, get_args

import numpy as np

from artery.answers.contention import Exchange, Kind, Network, Spread
from artery.answers.libraries import library_of
from artery.answers.simulate_asked import order
from artery.answers.simulated import Asked, Simulated
from artery.core.pricing import Collective, Demand, Price, Pricer
from artery.simulator.seeds import Range
from artery.step.evaluate import Evaluation, evaluate
from artery.step.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Callable

    from artery.answers.levers import Situation
    from artery.core.plan import Plan

PASSES = {"ep": 2, "cp": 2, "tp": 2, "pp": 1}
"""Operations of one layer's backward pass: dispatch and combine, keys and values and their
gradients, a gather and a scatter; between stages one for all layers of a pass."""


@dataclass(frozen=True, slots=True)
class SimulatedStep:
    """The plan ``priced`` by simulation, its terms, and what the ``network`` showed."""

    priced: Evaluation
    ledger: Ledger
    network: Network


@dataclass(slots=True)
class Simulator:
    """Steps of plans on one system; what several of them ask is played once.

    Each is played with ``seeds`` draws of the hashes; the first is the one that is told.
    """

    nccl: str | None
    placement: str
    seeds: int = 1
    known: dict[tuple[object, ...], Exchange] = field(default_factory=dict)

    def step(self, situation: Situation) -> SimulatedStep:
        """Return the plan priced by simulation, its terms, and what the network showed.

        While gradients are reduced, which happens
        behind a backward pass if the framework overlaps them, that pass's expert, context and
        pipeline traffic (and tensor-parallel traffic that leaves a domain) is on the network too.
        Other operations wait for each other and are played by themselves.
        """
        plan, system = situation.plan, situation.system
        recorder = _Recorder(situation.pricer(system), kind_of(plan))
        closed = _evaluated(situation, recorder, Ledger())
        pricer = Simulated(
            system=system,
            library=library_of(system, self.nccl),
            order=order(self.placement, system, 0),
            closed=situation.pricer(system),
            kind=kind_of(plan),
            beside=_beside(situation, recorder.asked),
            known=self.known,
        )
        ledger = Ledger(keep=True)
        priced = _evaluated(situation, pricer, ledger)
        played = pricer.exchanges.values()
        network = Network(
            step=float(priced.step[0]),
            closed=float(closed.step[0]),
            exchanges=tuple(sorted(played, key=lambda each: -priced.parts[each.kind][0])),
            beside=tuple(dict.fromkeys(each.kind for each in pricer.beside)),
            routing=pricer.scenario.routing,
            queue_pairs=pricer.scenario.queue_pairs,
            spread=self._spread(situation, pricer, priced),
        )
        return SimulatedStep(priced, ledger, network)

    def _spread(self, situation: Situation, pricer: Simulated, first: Evaluation) -> Spread | None:
        """Return the range over seeds; routes by target draw nothing, so that one seed is all."""
        if self.seeds == 1:
            return None
        drawn = pricer.scenario.routing != "static"
        every = [first]
        for seed in range(1, self.seeds if drawn else 1):
            # Exchanges of its own: those that are told are the first seed's.
            again = replace(pricer, seed=seed, exchanges={})
            every.append(_evaluated(situation, again, Ledger()))
        steps = Range.of([float(one.step[0]) for one in every])
        network = Range.of([_communication(one) for one in every])
        return Spread(
            self.seeds,
            (steps.low, steps.median, steps.high),
            (network.low, network.median, network.high),
        )


def _communication(priced: Evaluation) -> float:
    """Return the seconds of a step that its communication takes beyond what hides it."""
    return sum(float(priced.parts[kind][0]) for kind in get_args(Kind))


def kind_of(plan: Plan) -> Callable[[Collective, int, int], Kind]:
    """Return which part of the step an operation of ``plan`` belongs to.

    Ranks are numbered tp, cp, dp, pp from the inside out.
    """

    def kind(collective: Collective, ranks: int, stride: int) -> Kind:
        if collective == "alltoall":
            return "ep"
        if collective == "sendrecv":
            return "pp"
        if stride == 1 and plan.tp > 1 and ranks == plan.tp:
            return "tp"
        if collective == "all_gather" and stride == plan.tp and ranks == plan.cp and plan.dp > 1:
            return "cp"
        ends = plan.tp * plan.cp * plan.dp * max(plan.pp - 1, 1)
        return "other" if ranks == 2 and stride == ends and plan.pp > 1 else "dp"

    return kind


@dataclass(slots=True)
class _Recorder:
    """A pricer that notes what it is asked."""

    pricer: Pricer
    kind: Callable[[Collective, int, int], Kind]
    asked: list[Asked] = field(default_factory=list)

    def price(self, demand: Demand) -> Price:
        """Return the price, and remember the operation."""
        size, ranks, stride = np.broadcast_arrays(demand.size, demand.ranks, demand.stride)
        for moved, many, apart in zip(size.flat, ranks.flat, stride.flat, strict=True):
            if many > 1 and moved > 0:
                kind = self.kind(demand.collective, int(many), int(apart))
                self.asked.append(
                    Asked(kind, demand.collective, int(many), int(apart), round(float(moved)))
                )
        return self.pricer.price(demand)


def _evaluated(situation: Situation, pricer: Pricer, ledger: Ledger) -> Evaluation:
    return evaluate(
        situation.workload,
        situation.system,
        [situation.plan],
        profile=situation.profile,
        pricer=pricer,
        ledger=ledger,
    )


def _beside(situation: Situation, asked: list[Asked]) -> tuple[Asked, ...]:
    """Return what is on the network while gradients are reduced, with the bytes of one pass."""
    plan = situation.plan
    if "dp" not in situation.hidden:
        return ()
    layers = 1 if plan.zero == 3 else -(-situation.workload.depth // plan.pp)
    inside = situation.system.tiers[0].chips if situation.system.tiers else 1
    largest: dict[tuple[Kind, Collective, int, int], Asked] = {}
    for each in asked:
        if each.kind not in PASSES or (each.kind == "tp" and plan.tp <= inside):
            continue
        key = (each.kind, each.collective, each.ranks, each.stride)
        if key not in largest or largest[key].size < each.size:
            largest[key] = each
    return tuple(
        replace(each, size=each.size * PASSES[each.kind] * (1 if each.kind == "pp" else layers))
        for each in largest.values()
    )
