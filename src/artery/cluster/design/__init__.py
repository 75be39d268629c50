"""Networks for a number of chips: how many switches and links each kind of design needs.

Every design is a number of equal, separate trees of switches. In a tree, a *group* of nodes
shares its leaves; a leaf keeps ``down : up`` of its ports as the taper says; the spines above
take an equal number of links from every leaf, so their number divides a leaf's up-links; cores
join the pods likewise. Where a few more up-links need fewer switches, they are cabled. Counts
follow from the ports of one switch (the folded Clos network of Al-Fares et al., SIGCOMM 2008:
``k**3 / 4`` hosts on three tiers of ``k`` ports).

``tor``
    All cards of a node on one leaf (top of rack).
``rail``
    Card ``r`` of every node of a group on the group's leaf ``r``; spines join all leaves.
``rail-only``
    As many separate trees as rails (NVIDIA's and DeepSeek's multi-plane fat tree, and Wang et
    al., "Rail-only", 2023): to another rail, data first crosses the links inside the node.
``dual-plane``
    ``rail``, with every port split over separate trees (Alibaba HPN, SIGCOMM 2024): switches
    have more, slower ports, and a lost leaf or link slows a chip but cuts none off.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, isqrt
from typing import Final, Literal, get_args

Kind = Literal["tor", "rail", "rail-only", "dual-plane"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
FULL: Final = Fraction(1)


@dataclass(frozen=True, slots=True)
class Demand:
    """What is asked for.

    ``rails`` cards per node, one per chip; switches of ``radix`` ports of ``port`` B/s per
    direction, one of which serves one card; ``tapers`` are ``down / up`` of the leaves and of
    the tier above them; ``planes`` is how many trees a dual-plane design splits a port over.
    """

    chips: int
    rails: int
    radix: int
    port: float
    tapers: tuple[Fraction, ...] = (FULL,)
    planes: int = 2

    @property
    def nodes(self) -> int:
        """Nodes, the last perhaps part-filled."""
        return ceil(self.chips / self.rails)

    def taper(self, tier: int) -> Fraction:
        """The taper above ``tier`` (0: the leaves); what is not said is that of no taper."""
        return self.tapers[tier] if tier < len(self.tapers) else FULL


@dataclass(frozen=True, slots=True)
class TierCount:
    """The switches of one tier in all trees, and the ports of one that are used."""

    name: str
    switches: int
    down: int
    up: int


@dataclass(frozen=True, slots=True)
class Design:
    """One network. ``trees`` equal and separate ones, over ``planes`` ports of every card.

    ``radix`` ports of ``rate`` B/s per switch. ``groups`` of up to ``group_nodes`` nodes each
    share ``group_leaves`` leaves in a tree; ``pods`` is the number of spine groups in a tree.
    ``links`` counts cables by tier: card to leaf, leaf to spine, spine to core. ``reach`` is the
    largest number of chips that this kind can join with these switches and tiers.
    """

    kind: Kind
    chips: int
    nodes: int
    rails: int
    trees: int
    planes: int
    radix: int
    rate: float
    groups: int
    group_nodes: int
    group_leaves: int
    pods: int
    tiers: tuple[TierCount, ...]
    links: tuple[int, ...]
    reach: int

    @property
    def name(self) -> str:
        """``rail-2``: the kind and the number of tiers."""
        return f"{self.kind}-{len(self.tiers)}"

    @property
    def switches(self) -> int:
        """All switches."""
        return sum(tier.switches for tier in self.tiers)

    @property
    def addresses(self) -> int:
        """Ports of cards and switches of one tree, which InfiniBand makes a subnet."""
        return (self.links[0] + self.switches) // self.trees

    @property
    def pod_groups(self) -> int:
        """Groups under one set of spines, the last set perhaps with fewer."""
        return ceil(self.groups / self.pods)

    @property
    def core_sets(self) -> tuple[int, int]:
        """Cores that one spine of every pod is cabled to, and how many spines share a set."""
        spines = self.tiers[1].switches // (self.trees * self.pods)
        return _sets(spines, self.tiers[1].up, self.pods, self.radix)

    @property
    def hops(self) -> tuple[int, int]:
        """Fewest and most switches between two cards of a tree."""
        return 1, 2 * len(self.tiers) - 1

    @property
    def bisection_fraction(self) -> float:
        """Of what half of the cards can send, the share that the other half of nodes receives."""
        ratios = [tier.up / tier.down for tier in self.tiers[:-1]]
        if self.groups == 1:
            ratios = ratios[1:]
        return min(1.0, *ratios, 1.0)

    @property
    def bisection(self) -> float:
        """B/s per direction between two halves of the nodes."""
        return self.bisection_fraction * self.nodes * self.rails * self.planes * self.rate / 2


@dataclass(frozen=True, slots=True)
class Rejected:
    """A design that cannot be, or need not, and the most chips that it could join.

    ``too_many`` chips for it; ``needless``, since a tier less does; ``too_few_ports`` on a switch
    (or one tier, which joins no rails); ``one_rail``, with which rails are top-of-rack leaves.
    """

    kind: Kind
    tiers: int
    reason: Literal["too_many", "needless", "too_few_ports", "one_rail"]
    reach: int


def designs(demand: Demand) -> tuple[tuple[Design, ...], tuple[Rejected, ...]]:
    """Return every design that joins the chips, best first, and those that are out, with reasons.

    Best is fewest switches, then fewest tiers, then fewest links; among equals every card
    reaches every other, and on the same rail across one switch.
    """
    found: list[Design] = []
    out: list[Rejected] = []
    for kind in KINDS:
        for tiers in (1, 2, 3):
            built = design(demand, kind, tiers)
            if isinstance(built, Design):
                found.append(built)
            else:
                out.append(built)
    order: dict[str, int] = {"rail": 0, "tor": 1, "dual-plane": 2, "rail-only": 3}
    found.sort(key=lambda one: (one.switches, len(one.tiers), sum(one.links), order[one.kind]))
    return tuple(found), tuple(out)


def design(demand: Demand, kind: Kind, tiers: int) -> Design | Rejected:
    """Return the design of that kind with 1, 2 or 3 tiers, or why it is out."""
    shape = _Shape.of(demand, kind)
    reach = shape.reach(tiers)
    if kind in ("rail", "rail-only") and demand.rails == 1:
        return Rejected(kind, tiers, "one_rail", reach)
    if reach == 0:
        return Rejected(kind, tiers, "too_few_ports", 0)
    if demand.chips > reach:
        return Rejected(kind, tiers, "too_many", reach)
    if tiers > 1 and demand.chips <= shape.reach(tiers - 1):
        return Rejected(kind, tiers, "needless", reach)
    counted = _counted(demand, shape, tiers)
    return Design(
        kind=kind,
        chips=demand.chips,
        nodes=demand.nodes,
        rails=demand.rails,
        trees=shape.trees,
        planes=shape.planes,
        radix=shape.radix,
        rate=demand.port / shape.planes,
        groups=counted.groups,
        group_nodes=counted.group_nodes,
        group_leaves=shape.leaves,
        pods=counted.pods,
        tiers=counted.tiers,
        links=(demand.nodes * demand.rails * shape.planes, *counted.up_links),
        reach=reach,
    )


@dataclass(frozen=True, slots=True)
class _Shape:
    """One tree: ``cards`` of a node on one leaf, ``leaves`` in a group, ``radix`` ports each."""

    demand: Demand
    cards: int
    leaves: int
    trees: int
    planes: int
    radix: int

    @classmethod
    def of(cls, demand: Demand, kind: Kind) -> _Shape:
        rails = demand.rails
        planes = demand.planes if kind == "dual-plane" else 1
        cards, leaves = (rails, 1) if kind == "tor" else (1, rails)
        if kind == "rail-only":
            return cls(demand, 1, 1, rails, 1, demand.radix)
        return cls(demand, cards, leaves, planes, planes, demand.radix * planes)

    def down(self, tier: int, tiers: int) -> int:
        """Ports of a switch for what is below it: all at the top, else the taper's share."""
        if tier + 1 == tiers:
            return self.radix
        taper = self.demand.taper(tier)
        return int(self.radix * taper / (1 + taper))

    def nodes(self, tiers: int) -> int:
        """Nodes that fit into one group."""
        return self.down(0, tiers) // self.cards

    def pod(self, tiers: int) -> int:
        """Groups that fit under one set of spines."""
        return self.down(1, tiers) // self.leaves

    def reach(self, tiers: int) -> int:
        """Return the most chips; with one tier, rails are only joined inside the nodes.

        A single tier of rail leaves is the rail-only design, so the others begin at two tiers
        where there are several leaves in a group.
        """
        if tiers == 1:
            return self.nodes(1) * self.demand.rails if self.leaves == 1 else 0
        if tiers == 2:
            return self.nodes(2) * self.pod(2) * self.demand.rails
        return self.nodes(3) * self.pod(3) * self.radix * self.demand.rails


@dataclass(frozen=True, slots=True)
class _Counted:
    groups: int
    group_nodes: int
    pods: int
    tiers: tuple[TierCount, ...]
    up_links: tuple[int, ...]


def _counted(demand: Demand, shape: _Shape, tiers: int) -> _Counted:
    """Return the switches and the links above the cards, in all trees."""
    groups = ceil(demand.nodes / shape.nodes(tiers))
    nodes = ceil(demand.nodes / groups)
    leaves, down = groups * shape.leaves, nodes * shape.cards
    trees = shape.trees
    if tiers == 1:
        return _Counted(groups, nodes, 1, (TierCount("leaf", leaves * trees, down, 0),), ())
    pods = ceil(groups / shape.pod(tiers))
    below = ceil(groups / pods) * shape.leaves
    spines, up = _fewest(
        range(ceil(down / demand.taper(0)), shape.radix - down + 1),
        lambda up: _divisor(up, Fraction(below * up, shape.down(1, tiers))),
    )
    spine_down, spine_up = below * up // spines, 0
    counted = [TierCount("leaf", leaves * trees, down, up)]
    links = [leaves * up * trees]
    if tiers == 3:
        cores, spine_up = _fewest(
            range(ceil(spine_down / demand.taper(1)), shape.radix - spine_down + 1),
            lambda up: _cores(spines, up, pods, shape.radix)[0],
        )
        core_down = _cores(spines, spine_up, pods, shape.radix)[1]
    counted.append(TierCount("spine", pods * spines * trees, spine_down, spine_up))
    if tiers == 3:
        counted.append(TierCount("core", cores * trees, core_down, 0))
        links.append(pods * spines * spine_up * trees)
    return _Counted(groups, nodes, pods, tuple(counted), tuple(links))


def _cores(spines: int, up: int, pods: int, radix: int) -> tuple[int, int]:
    """Return the cores of a tree, and the ports of one that are used.

    The ``i``-th spine of every pod goes to set ``i`` of cores, with equally many links to each;
    sets share their cores while ports are left.
    """
    in_set, shared = _sets(spines, up, pods, radix)
    return ceil(spines / shared) * in_set, shared * pods * up // in_set


def _sets(spines: int, up: int, pods: int, radix: int) -> tuple[int, int]:
    """Return the cores in a set, and how many spines of a pod share one."""
    in_set = _divisor(up, Fraction(pods * up, radix))
    return in_set, min(spines, radix // (pods * up // in_set))


def _fewest(choices: range, switches: Callable[[int], int]) -> tuple[int, int]:
    """Return the fewest switches above, and the fewest up-links of a switch that give them.

    A few links more than the taper asks for may need fewer switches: 31 go evenly to 1 or 31 of
    them, 32 also to 16. Twice as many never do: their next power of two is among the choices.
    """
    least = choices.start
    tried = range(least, min(choices.stop, 2 * least + 1))
    return min((switches(up), up) for up in tried)


def _divisor(number: int, least: Fraction) -> int:
    """Return the smallest divisor of ``number`` that is at least ``least``."""
    small = [one for one in range(1, isqrt(number) + 1) if number % one == 0]
    divisors = (*small, *(number // one for one in reversed(small)))
    return next(one for one in divisors if one >= least)
