"""One plan's step with its communication simulated: which operations, beside which others."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, get_args

from artery.answers.libraries import library_of
from artery.answers.plan.collectives import Listening, kind_of
from artery.answers.plan.contention import Exchange, Kind, Network, Spread
from artery.answers.plan.simulated import Asked, Simulated
from artery.answers.simulate.asked import order
from artery.collective.menu import Adds
from artery.core.pricing import Collective, Pricer
from artery.simulator.seeds import Range
from artery.step.evaluate import Evaluation, evaluate
from artery.step.ledger import Ledger

if TYPE_CHECKING:
    from artery.answers.plan.levers import Situation

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
    adds: Adds = "auto"
    known: dict[tuple[object, ...], Exchange] = field(default_factory=dict)

    def step(self, situation: Situation) -> SimulatedStep:
        """Return the plan priced by simulation, its terms, and what the network showed.

        While gradients are reduced, which happens
        behind a backward pass if the framework overlaps them, that pass's expert, context and
        pipeline traffic (and tensor-parallel traffic that leaves a domain) is on the network too.
        Other operations wait for each other and are played by themselves.
        """
        plan, system = situation.plan, situation.system
        heard = Listening(situation.pricer(system))
        closed = _evaluated(situation, heard, Ledger())
        kind = kind_of(plan)
        asked = [
            Asked(kind(collective, ranks, stride), collective, ranks, stride, round(size))
            for collective, ranks, stride, size in heard.operations()
        ]
        pricer = Simulated(
            system=system,
            library=library_of(system, self.nccl),
            order=order(self.placement, system, 0),
            closed=situation.pricer(system),
            kind=kind,
            beside=_beside(situation, asked),
            adds=self.adds,
            known=self.known,
            seeds=self.seeds,
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
        """Return the range over seeds; where none draws another path, one seed is all."""
        if self.seeds == 1:
            return None
        drawn = any(each.drawn for each in pricer.exchanges.values())
        every = [first]
        for seed in range(1, self.seeds if drawn else 1):
            # Exchanges of its own: those that are told are the first seed's.
            again = replace(pricer, seed=seed, seeds=1, exchanges={})
            every.append(_evaluated(situation, again, Ledger()))
        times = [float(one.step[0]) for one in every], [_communication(one) for one in every]
        whole = any(Range.of(one).whole for one in times)
        steps, network = (Range.of(one, whole=whole) for one in times)
        return Spread(
            len(every),
            (steps.low, steps.median, steps.high),
            (network.low, network.median, network.high),
            whole=whole,
        )


def _communication(priced: Evaluation) -> float:
    """Return the seconds of a step that its communication takes beyond what hides it."""
    return sum(float(priced.parts[kind][0]) for kind in get_args(Kind))


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
