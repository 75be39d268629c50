"""The proof of a cause: the fault played on the network, held against what was measured.

The price of a collective says what a cause would give; playing it, link by link, is a second
opinion that knows nothing of that price: which flows meet on the links that are left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log, sqrt
from statistics import mean
from typing import TYPE_CHECKING, Final

from artery.answers.diagnose.worlds import change
from artery.collective.algorithms import ALGORITHMS
from artery.core.pricing import Collective
from artery.diagnoser.case import Curve
from artery.diagnoser.played import Play
from artery.diagnoser.rules import World
from artery.diagnoser.weigh import Explanation
from artery.errors import ArteryError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from artery.answers.diagnose.fabric import Fabric
    from artery.answers.diagnose.system import Stand
    from artery.answers.expect.pricing import Setting
    from artery.cluster.network import Network
    from artery.simulator.scenario import Routing

LANDS: Final = 0.15
"""Assumed: share of what was measured by which the play may be off; the engines are off by up to
12 %."""

BOUND: Final = 0.9
"""Assumed: from nine tenths of the largest size's bandwidth on, a size that was played is bound by
bandwidth; below, start-up times have a part, which a fault of the links does not change."""

PLAYABLE: Final = frozenset({"network", "above_leaf", "node", "algorithm", "in_switch"})
"""Worlds that can be played: shares of links, and another algorithm. Staging through memory and
sockets are priced only."""

SIZES: Final = 3
_FROM: Final = 64 * 2**20
"""Bytes. Assumed: from here on the network rules, and start-up no longer."""

MOST_MESSAGES: Final = 40_000
"""Messages up to which a proof is played without being asked for: about a second each."""

ROUTING: Final[dict[str, tuple[Routing, int]]] = {
    "infiniband": ("adaptive", 1),
    "omni-path": ("adaptive", 1),
    "efa": ("spray", 1),
}
"""How packets choose where cables are missing: adaptive routing takes what is left (from NDR on by
default), EFA sprays; Ethernet hashes, over four connections a pair."""


@dataclass(frozen=True, slots=True)
class Played:
    """One size in bytes; bus bandwidths in B/s: measured, without the fault, and with it.

    ``algorithm`` is the one that was played with the fault: the one that was priced.
    """

    size: int
    measured: float
    whole: float
    faulty: float
    algorithm: str

    @property
    def off(self) -> float:
        """By which share of what was measured the play is off."""
        return abs(self.faulty / self.measured - 1)


@dataclass(frozen=True, slots=True)
class Proof:
    """The fault of the likeliest cause, played.

    ``what`` says which cables were cut, if a file names them; otherwise ``world`` is what was
    changed. ``lands`` says whether every size that is bound by bandwidth comes out as it was
    measured. ``mapped`` says that every rank was put on the leaf on which its host is.
    """

    cause: str
    what: str
    world: World
    points: tuple[Played, ...]
    engine: str
    routing: str
    lands: bool
    mapped: bool

    @property
    def algorithm(self) -> str:
        """The algorithm at the largest size."""
        return self.points[-1].algorithm

    @property
    def counted(self) -> tuple[Played, ...]:
        """The sizes that are bound by bandwidth, the largest among them."""
        return bound(self.points)

    @property
    def farthest(self) -> Played:
        """The one of the sizes that count which is farthest off."""
        return max(self.counted, key=lambda one: one.off)

    @property
    def play(self) -> Play:
        """What the causes are weighed by."""
        left = sqrt(mean(log(one.measured / one.faulty) ** 2 for one in self.counted))
        return Play(self.farthest.faulty, left, self.lands, self.farthest.size)


def bound(points: Sequence[Played]) -> tuple[Played, ...]:
    """Return those of the ``points``, sizes rising, at which bandwidth rules with the fault."""
    least = BOUND * points[-1].faulty
    return tuple(one for one in points if one.faulty >= least)


def proof_of(
    cause: str,
    explained: Explanation,
    judged: tuple[Curve, Collective],
    stand: Stand,
    fabric: Fabric | None,
) -> Proof | None:
    """Return the proof that a cause makes the curve of that collective which was ``judged``.

    Its world is played by the algorithm by which it was ``explained``. ``None`` where it cannot be
    played.
    """
    curve, world = judged[0], explained.world
    if stand.setting is None or world is None or not set(world) <= PLAYABLE:
        return None
    try:
        pair = _mapped(world, curve, stand, fabric)
        mapped = pair is not None
        if pair is None:
            pair = _changed(stand.setting, world)
        priced = change(stand.setting, world)
        if pair is None or priced is None:
            return None
        algorithm = explained.algorithm or "auto"
        # One that the fault pins is not what the library would take without it.
        way = _Way(priced, algorithm, "auto" if "algorithm" in world else algorithm)
        points = _points(way, judged, pair)
        return None if points is None else _proof(cause, world, points, fabric if mapped else None)
    except ArteryError:
        return None


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """A setting, the chip of each rank, the links that are down, and what is left of the others.

    ``left`` are shares of the links inside nodes, of the network, and of those between switches.
    """

    setting: Setting
    chips: NDArray[np.int64]
    failed: tuple[int, ...] = ()
    left: tuple[float, float, float] = (1.0, 1.0, 1.0)


def _changed(setting: Setting, world: World) -> tuple[_Side, _Side] | None:
    import numpy as np

    other = change(setting, world)
    if other is None:
        return None
    nodes = setting.system.nodes
    each, rest = divmod(setting.ranks, nodes)
    if rest:
        return None
    rank = np.arange(setting.ranks, dtype=np.int64)
    chips = rank // each * setting.system.chips_per_node + rank % each
    left = tuple(_share(world, name) for name in ("node", "network", "above_leaf"))
    return _Side(setting, chips), _Side(other, chips, left=(left[0], left[1], left[2]))


def _share(world: World, name: str) -> float:
    value = world.get(name, 1.0)
    return float(value) if isinstance(value, (int, float)) else 1.0


def _mapped(
    world: World, curve: Curve, stand: Stand, fabric: Fabric | None
) -> tuple[_Side, _Side] | None:
    """Return the sides with every host on its own leaf, the missing cables of the file cut."""
    import numpy as np

    from artery.answers.diagnose.system import on_leaves
    from artery.cluster.routing import network

    ranks, hosts = curve.ranks, curve.hosts
    if fabric is None or "above_leaf" not in world or not ranks or not hosts or ranks % len(hosts):
        return None
    if any(host not in fabric.hosts for host in hosts):
        return None
    setting = on_leaves(stand, len(fabric.leaves) * fabric.nodes)
    if setting is None:
        return None
    each, whole = ranks // len(hosts), setting.system.chips_per_node
    taken = [0] * len(fabric.leaves)
    chips: list[int] = []
    for host in hosts:
        leaf = fabric.hosts[host]
        node = leaf * fabric.nodes + taken[leaf]
        taken[leaf] += 1
        chips += range(node * whole, node * whole + each)
    failed = _cut(network(setting.system), fabric)
    if failed is None:
        return None
    order = np.array(chips, dtype=np.int64)
    return _Side(setting, order), _Side(setting, order, failed)


def _cut(network: Network, fabric: Fabric) -> tuple[int, ...] | None:
    """Return the numbers of the links to cut: as large a share of every leaf's as it lost."""
    import numpy as np

    first: dict[str, int] = {}
    below = 0
    for group in network.groups:
        first[group.name] = below
        below += group.count
    if "leaf" not in first or "spine" not in first:
        return None
    edges = network.edges()
    failed: list[int] = []
    for place, leaf in enumerate(fabric.leaves):
        if not leaf.lost:
            continue
        own = edges.source == first["leaf"] + place
        up = np.flatnonzero(own & (edges.target >= first["spine"]))
        many = round(len(up) * leaf.lost / leaf.meant)
        spread = np.linspace(0, len(up), many, endpoint=False).astype(np.int64)
        failed += up[np.unique(spread)].tolist()
    return tuple(failed)


@dataclass(frozen=True, slots=True, eq=False)
class _Way:
    """The setting as it was priced, and the algorithm by which: ``auto`` chooses by size.

    ``usual`` is the one without the fault.
    """

    priced: Setting
    algorithm: str
    usual: str

    def at(self, collective: Collective, size: int) -> str:
        """Return the algorithm that was priced at that size."""
        if self.algorithm != "auto":
            return self.algorithm
        title = self.priced.quote(collective, [size], "auto").algorithm[0]
        return next(key for key, item in ALGORITHMS.items() if item.title == title)


def _points(
    way: _Way, judged: tuple[Curve, Collective], pair: tuple[_Side, _Side]
) -> tuple[tuple[Played, ...], _Run] | None:
    """Return the sizes played; ``None`` where there is too much to play."""
    curve, collective = judged
    points = []
    last: _Run | None = None
    for size, measured in _sizes(curve):
        algorithm = way.at(collective, size)
        whole = _busbw(pair[0], collective, size, way.usual)
        last = _busbw(pair[1], collective, size, algorithm)
        if whole is None or last is None:
            return None
        points.append(Played(size, measured, whole.busbw, last.busbw, algorithm))
    return None if last is None else (tuple(points), last)


def _proof(
    cause: str, world: World, played: tuple[tuple[Played, ...], _Run], fabric: Fabric | None
) -> Proof:
    points, run = played
    lost = [one for one in fabric.leaves if one.lost] if fabric is not None else []
    what = ", ".join(f"{one.name} without {one.lost} of its {one.meant} uplinks" for one in lost)
    lands = all(one.off <= LANDS for one in bound(points))
    return Proof(cause, what, world, points, run.engine, run.routing, lands, fabric is not None)


def _sizes(curve: Curve) -> Sequence[tuple[int, float]]:
    """Return up to three sizes, the largest among them, with what was measured."""
    large = [(one.size, one.busbw) for one in curve.points if one.size >= _FROM]
    large = large or [(curve.last.size, curve.last.busbw)]
    step = max(1, (len(large) - 1) // (SIZES - 1)) if len(large) > 1 else 1
    return large[::-1][::step][:SIZES][::-1]


@dataclass(frozen=True, slots=True)
class _Run:
    """One run: its bus bandwidth in B/s, and how it was played."""

    busbw: float
    engine: str
    routing: str


def _busbw(side: _Side, collective: Collective, size: int, algorithm: str) -> _Run | None:
    """Return one run; ``None`` where there is too much to play."""
    import numpy as np

    from artery.answers.simulate.asked import transport_of
    from artery.answers.simulate.played import Question, chosen, prepared
    from artery.collective import bus_factor
    from artery.simulator.choice import choose
    from artery.simulator.scenario import Scenario
    from artery.simulator.simulate import simulate

    setting = side.setting
    tier = setting.system.tiers[-1] if setting.system.tiers else None
    routing, pairs = ROUTING.get(tier.link.kind if tier else "", ("ecmp", 4))
    scenario = Scenario(
        routing=routing,
        transport=transport_of(setting.system),
        queue_pairs=pairs,
        failed=side.failed or 0.0,
    )
    question = Question(setting.system, setting.library, collective, size, side.chips, scenario)
    name = chosen(question)[0] if algorithm == "auto" else algorithm
    jobs, added, conditions = prepared(question, name)
    engine = choose(jobs, conditions)
    if engine.engine != "coupled" and engine.count > MOST_MESSAGES:
        return None
    inside, network, between = side.left
    conditions = replace(
        conditions,
        inside=conditions.inside * inside,
        outside=conditions.outside * network,
        background=1.0 - between,
    )
    run = simulate(setting.system, jobs, conditions)
    seconds = max(run.jobs[0], added.least) + added.startup
    factor = float(bus_factor(collective, np.array(len(side.chips))))
    return _Run(size / seconds * factor, run.chosen.engine, routing)
