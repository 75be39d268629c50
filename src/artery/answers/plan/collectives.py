"""The collectives of a plan's step: which algorithm the library runs each by, and who adds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np

from artery.answers.plan.contention import Kind
from artery.collective.algorithms import ALGORITHMS
from artery.collective.closed_form import ClosedForm
from artery.collective.menu import Adds
from artery.core.plan import Plan
from artery.core.pricing import Collective, Demand, Price, Pricer
from artery.core.system import System
from artery.core.term import Term
from artery.errors import UnknownNameError, UsageError

Adder = Literal["chips", "node switches", "network switches"]

OFFLOADS: Final[tuple[Adds, ...]] = ("auto", "none", "switch")

_SUMS: Final = frozenset({"all_reduce", "reduce_scatter", "reduce"})


@dataclass(frozen=True, slots=True)
class Chosen:
    """One collective of a step: ``ranks`` members ``stride`` apart, ``size`` bytes (the largest).

    ``seconds`` is what one such operation takes by ``algorithm`` and ``protocol`` in closed form,
    before anything hides it. ``kind`` is the part of the step that it belongs to.
    """

    kind: Kind
    collective: Collective
    ranks: int
    stride: int
    size: float
    algorithm: str
    protocol: str
    seconds: float

    @property
    def adder(self) -> Adder | None:
        """Who adds, ``None`` where nothing is added."""
        if self.collective not in _SUMS:
            return None
        found = next(item for item in ALGORITHMS.values() if item.title == self.algorithm)
        if found.in_network:
            return "network switches"
        return "node switches" if found.by_switches else "chips"


@dataclass(frozen=True, slots=True)
class Listening:
    """A pricer that notes what it is asked."""

    pricer: Pricer
    heard: list[Demand] = field(default_factory=list)

    def price(self, demand: Demand) -> Price:
        """Return the price, and remember the operations."""
        self.heard.append(demand)
        return self.pricer.price(demand)

    def operations(self) -> Iterator[tuple[Collective, int, int, float]]:
        """Yield collective, ranks, stride and bytes of every operation that moves anything."""
        for demand in self.heard:
            size, ranks, stride = np.broadcast_arrays(demand.size, demand.ranks, demand.stride)
            for moved, many, apart in zip(size.flat, ranks.flat, stride.flat, strict=True):
                if many > 1 and moved > 0:
                    yield demand.collective, int(many), int(apart), float(moved)


def chosen_of(plan: Plan, heard: Listening) -> tuple[Chosen, ...]:
    """Return the collectives that were heard, each kind of group once, in the order of asking."""
    closed = heard.pricer
    if not isinstance(closed, ClosedForm):
        return ()
    largest: dict[tuple[Collective, int, int], float] = {}
    for collective, ranks, stride, size in heard.operations():
        key = collective, ranks, stride
        largest[key] = max(size, largest.get(key, 0.0))
    kind = kind_of(plan)
    found = []
    for (collective, ranks, stride), size in largest.items():
        demand = Demand(collective, np.array([size]), np.array([ranks]), np.array([stride]))
        quote = closed.quote(demand)
        where = kind(collective, ranks, stride), collective, ranks, stride, size
        found.append(Chosen(*where, quote.algorithm[0], quote.protocol[0], float(quote.seconds[0])))
    return tuple(found)


def chosen_terms(found: Sequence[Chosen]) -> dict[str, list[Term]]:
    """Return a term for each collective by the part of the step that it belongs to."""
    terms: dict[str, list[Term]] = {}
    for one in found:
        term = Term(
            name=f"{one.collective} over {one.ranks} by {one.stride}",
            unit="s",
            value=one.seconds,
            low=one.seconds,
            high=one.seconds,
            formula="the largest operation of its kind in a step, by the fastest algorithm that "
            "may be used: start + bytes/rate",
            inputs={
                "algorithm": one.algorithm,
                "protocol": one.protocol,
                "bytes": round(one.size),
                "ranks": one.ranks,
                "apart": one.stride,
                "added_by": one.adder or "nobody",
            },
            source="closed form of the algorithm, constants of the library",
        )
        terms.setdefault(one.kind, []).append(term)
    return terms


def plugin(found: Sequence[Chosen], adds: Adds) -> tuple[str, ...]:
    """Return what to say of a plan with sums in network switches, or without though asked for."""
    if all(one.adder != "network switches" for one in found):
        said = "no collective of this plan is faster summed in network switches: --offload switch "
        return (said + "changes nothing",) if adds == "switch" else ()
    return ("sums in network switches need NCCL's SHARP plugin and NCCL_COLLNET_ENABLE=1",)


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


def switches_add(system: System) -> bool:
    """Whether switches between nodes add, and the library can have them do so."""
    return system.library == "nccl" and any(tier.reduction == "sharp" for tier in system.tiers)


def adds(offload: str, system: System) -> Adds:
    """Return who may add in the collectives of a step on ``system``.

    ``auto`` as the library does by itself, ``none`` chips alone, ``switch`` also the switches
    between nodes (if there are several), where the library takes that to be faster. Raises
    ``UnknownNameError``, and ``UsageError`` for network cards, and for switches on a network whose
    switches do not add.
    """
    from artery.catalog import names

    if offload == "switch" and system.nodes > 1 and not switches_add(system):
        raise UsageError(
            f"no switch between the nodes of {system.name} adds; leave --offload out, or say so "
            "with --set fabric.reduction=sharp"
        )
    for known in OFFLOADS:
        if offload == known:
            return known
    if offload in names("nics"):
        raise UsageError(
            f"--offload {offload}: what a network card adds is played, not computed; ask artery "
            f"simulate for one collective, here {', '.join(OFFLOADS)}"
        )
    raise UnknownNameError("offload", offload, OFFLOADS)
