"""The pricer that simulates: every group of a plan plays at once, on the chips that it has.

Algorithm and protocol are those that the library would choose; its start-up, its share of the
links, the cost of its steps and the time until a chain or tree is full are the closed form's. The
rest is that of the network, on which only bytes take time, played (:mod:`artery.simulator.groups`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from artery.answers.plan.contention import Exchange, Fought, Kind
from artery.answers.telling import tell
from artery.cluster.dragonfly import Dragonfly
from artery.cluster.torus import Torus
from artery.cluster.wiring import Assembly
from artery.collective.algorithms import ALGORITHMS
from artery.collective.closed_form import ClosedForm
from artery.collective.menu import Adds
from artery.collective.overheads import Overheads, Played, overheads
from artery.collective.placement import Placement, listed, packed
from artery.core.pricing import Collective, Demand, Price, Pricer
from artery.errors import InputError, UsageError
from artery.simulator.groups import Shared, distinct, groups, laid
from artery.simulator.loads import hottest
from artery.simulator.scenario import Routing, Scenario
from artery.simulator.seeds import drawn
from artery.simulator.simulate import simulate
from artery.simulator.simulation import Simulation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from artery.collective.library import Library
    from artery.core.system import System
    from artery.simulator.placed import Placed

    Ints = NDArray[np.int64]

ROUTING: Final[Mapping[str, tuple[Routing, int]]] = {
    "infiniband": ("static", 1),
    "omni-path": ("static", 1),
    "efa": ("spray", 1),
}
"""How a network routes by the kind of its links: a subnet manager by target (d-mod-k, Zahavi et
al., 2010), EFA by spraying (SRD); any other hashes."""

LONGER: Final[tuple[Routing, int]] = ("adaptive", 1)
"""A dragonfly needs longer ways where direct cables are crowded (UGAL, Kim et al., 2008)."""

HASHED: Final[tuple[Routing, int]] = ("ecmp", 4)
"""Four paths a pair: two channels a card with two connections each, assumed (Meta's RoCE training
network scales queue pairs for this, SIGCOMM 2024)."""

CROSSERS: Final = 100_000
"""Pairs that cross the hottest link, all of them."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One operation: what, over which groups, and for which part of the step."""

    kind: Kind
    collective: Collective
    ranks: int
    stride: int
    size: int

    @property
    def demand(self) -> Demand:
        """The operation as a pricer is asked for it."""
        return Demand(
            self.collective,
            np.array([float(self.size)]),
            np.array([self.ranks]),
            np.array([self.stride]),
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Group:
    """All groups of one operation: the chips of each, and which are played."""

    asked: Asked
    algorithm: str
    rows: Ints
    which: Ints
    jobs: tuple[Placed, ...]


@dataclass(slots=True)
class Simulated:
    """Prices communication on ``system`` by playing it, rank r on chip ``order[r]``.

    ``kind`` says for which part of the step an operation is. Operations of data parallelism are
    played while those in ``beside`` are on the network too. ``closed`` is what it is held
    against, ``adds`` who may add. Each operation is played once; ``exchanges`` are all that were.
    ``seed`` draws hashes; whether so many ``seeds`` would draw anything else is remembered.
    """

    system: System
    library: Library
    order: Ints
    closed: Pricer
    kind: Callable[[Collective, int, int], Kind]
    beside: tuple[Asked, ...] = ()
    adds: Adds = "auto"
    seed: int = 0
    seeds: int = 1
    known: dict[tuple[object, ...], Exchange] = field(default_factory=dict)
    exchanges: dict[Asked, Exchange] = field(default_factory=dict)

    def price(self, demand: Demand) -> Price:
        """Return the price of each operation; the tier is that of the closed form."""
        size, ranks, stride = np.broadcast_arrays(demand.size, demand.ranks, demand.stride)
        tier = self.closed.price(demand).tier
        seconds = np.zeros(size.shape)
        for place in np.ndindex(size.shape):
            many, apart, moved = int(ranks[place]), int(stride[place]), round(float(size[place]))
            if many > 1 and moved > 0:
                kind = self.kind(demand.collective, many, apart)
                asked = Asked(kind, demand.collective, many, apart, moved)
                seconds[place] = self.exchange(asked).seconds
        return Price(seconds, tier)

    @property
    def placement(self) -> Placement:
        """The real order as the closed form takes it."""
        in_order = bool((self.order == np.arange(len(self.order))).all())
        return packed(self.system.chips) if in_order else listed(self.order)

    @property
    def scenario(self) -> Scenario:
        """How packets find their way on this network."""
        link = self.system.tiers[-1].link.kind if self.system.tiers else ""
        structure = self.system.router.structure
        if isinstance(structure, Torus):
            return Scenario(routing="static", engine="coupled", seed=self.seed)
        longer = isinstance(structure, Assembly) and isinstance(structure.fabric, Dragonfly)
        routing, pairs = LONGER if longer else ROUTING.get(link, HASHED)
        return Scenario(routing=routing, queue_pairs=pairs, engine="coupled", seed=self.seed)

    def exchange(self, asked: Asked) -> Exchange:
        """Return what playing ``asked`` shows; what was played before is remembered."""
        beside = self.beside if asked.kind == "dp" else ()
        key = (asked, beside, self.seed)
        if key not in self.known:
            self.known[key] = self._exchange(asked, beside)
        self.exchanges[asked] = self.known[key]
        return self.known[key]

    def _exchange(self, asked: Asked, beside: tuple[Asked, ...]) -> Exchange:
        closed = float(self.closed.price(asked.demand).seconds[0])
        try:
            tell(f"laying {asked.collective} of {asked.ranks:,} ranks out")
            group = self._group(asked, 0)
            added = self._added(asked, group.algorithm)
            alone = self._play((group,), added)
            others = self._others(beside, len(group.which))
            both = self._play((group, *others), added) if others else alone
        except (InputError, UsageError) as error:
            return _unplayed(asked, closed, _reason(error))
        times = np.maximum(both.jobs[: len(group.which)], added.passing)
        bare = np.maximum(alone.jobs[: len(group.which)], added.passing)
        steps = added.startup + added.latency + added.filling
        worst = int(np.argmax(times))
        row = int(group.which[worst])
        rank_of = np.argsort(self.order)
        return Exchange(
            kind=asked.kind,
            collective=asked.collective,
            algorithm=ALGORITHMS[group.algorithm].title,
            groups=len(group.rows),
            ranks=group.rows.shape[1],
            stride=asked.stride,
            size=float(asked.size),
            seconds=float(times[worst]) + steps,
            alone=float(bare.max()) + steps,
            median=float(np.median(times)) + steps,
            startup=steps,
            closed=closed,
            group=row,
            slowest=tuple(rank_of[group.rows[row]].tolist()),
            link=_fought(both, (group, *others)),
            drawn=self.seeds > 1 and drawn(self.system, both, self.scenario, self.seeds),
        )

    def _others(self, beside: tuple[Asked, ...], first: int) -> tuple[_Group, ...]:
        found = []
        for asked in beside:
            try:
                group = self._group(asked, first)
            except (InputError, UsageError):
                continue
            first += len(group.which)
            found.append(group)
        return tuple(found)

    def _group(self, asked: Asked, first: int) -> _Group:
        """Return the groups laid out; the jobs are numbered from ``first``."""
        stages = len(self.order) // asked.stride
        ranks = stages if asked.collective == "sendrecv" else asked.ranks
        rows = groups(self.order, ranks, asked.stride)
        which = distinct(self.system, rows)
        name = self._algorithm(asked)
        shared = Shared(asked.collective, name, asked.size)
        return _Group(asked, name, rows, which, laid(self.system, shared, rows[which], first))

    def _algorithm(self, asked: Asked) -> str:
        """Return what the library would choose on this placement."""
        pricer = ClosedForm(self.system, self.library, placement=self.placement, adds=self.adds)
        title = pricer.quote(asked.demand).algorithm[0]
        return next(name for name, each in ALGORITHMS.items() if each.title == title)

    def _added(self, asked: Asked, algorithm: str) -> Overheads:
        played = Played(algorithm, asked.collective, asked.size, asked.ranks, asked.stride,
                        concurrent=True)  # fmt: skip
        return overheads(self.system, self.library, played, self.placement)

    def _play(self, found: tuple[_Group, ...], added: Overheads) -> Simulation:
        first = found[0]
        asked, many = first.asked, sum(len(one.which) for one in found[1:])
        beside = f" beside {many:,} others" if many else ""
        tell(f"playing {asked.collective}: {len(first.which):,} groups of {asked.ranks:,}{beside}")
        scenario = replace(
            self.scenario, inside=added.inside, outside=added.outside, beside=added.payload,
            latency=False,
        )  # fmt: skip
        jobs = tuple(job for group in found for job in group.jobs)
        return simulate(self.system, jobs, scenario)


def _reason(error: InputError | UsageError) -> str:
    """Return what stands in the way, without the fix of another question."""
    if isinstance(error, InputError):
        return "; ".join(f"{each.found}: {each.rule}" for each in error.problems)
    return str(error)


def _unplayed(asked: Asked, closed: float, why: str) -> Exchange:
    return Exchange(
        kind=asked.kind, collective=asked.collective, algorithm="", groups=0, ranks=asked.ranks,
        stride=asked.stride, size=float(asked.size), seconds=closed, alone=closed, median=closed,
        startup=0.0, closed=closed, group=0, slowest=(), link=None, refused=why,
    )  # fmt: skip


def _fought(simulation: Simulation, found: tuple[_Group, ...]) -> Fought | None:
    """Return the hottest link, and how many groups of each kind cross it."""
    links = hottest(simulation, 1, CROSSERS)
    if not links:
        return None
    pairs = np.array(links[0].pairs, dtype=np.int64).reshape(-1, 2)
    crossing: dict[Kind, int] = {}
    for group in found:
        number = np.full(int(max(group.rows.max(), pairs.max(initial=0))) + 1, -1)
        number[group.rows] = np.arange(len(group.rows))[:, None]
        one, other = number[pairs[:, 0]], number[pairs[:, 1]]
        many = len(np.unique(one[(one == other) & (one >= 0)]))
        kind = group.asked.kind
        if many:
            crossing[kind] = max(crossing.get(kind, 0), many)
    link = links[0]
    return Fought(link.name, link.kind, link.load, tuple(crossing.items()))
