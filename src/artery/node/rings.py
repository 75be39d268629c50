"""How fast rings go round over the chips ``0 … g-1`` of a domain, on its real wiring.

Two questions, two answers. Over shared wiring (PCIe) NCCL and its kin run one ring in rank order:
:func:`rings_in_order` routes each of its hops and divides each cable by the hops that it carries.
Over point-to-point links several rings run side by side on links of their own:
:func:`disjoint_rings` finds how many fit at most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import count, pairwise
from typing import Final

from artery.core.link import Link
from artery.node.full_rings import Cycle, full_rings, full_ways
from artery.node.paths import Paths
from artery.node.scale_up import Layout, ScaleUp

EXACT, SEARCHED, STEPS = 8, 16, 20_000
"""Chips up to which the most cycles are found, chips up to which some are looked for, and steps of
that search. Assumed: nodes of point-to-point links have at most eight chips."""

PACKED: Final = 200
"""Packings tried at most: some hundredths of a second. DGX-1, the most irregular node of the
catalog, needs five."""


@dataclass(frozen=True, slots=True)
class Staging:
    """Transfers go through host memory of ``memory`` B/s (``None``: not the bottleneck)."""

    memory: float | None


def narrowest_in_ring(layout: Layout) -> Link:
    """Return the class of the cable that bounds the ring over all chips in rank order."""
    paths = Paths(layout)
    order = [*range(layout.chips), 0]
    load = Counter(cable for hop in pairwise(order) for cable in pairwise(paths.between(*hop)))
    one, other = min(load, key=lambda cable: paths.bandwidth(*cable) / load[cable])
    return next(
        layout.links[index] for near, far, index in layout.cables if {near, far} == {one, other}
    )


def rings_in_order(
    layout: Layout,
    staging: Staging | None = None,
    *,
    efficiency: float | None = None,
    only: str | None = None,
) -> tuple[float, ...]:
    """Return, at index ``g``, the B/s per direction of the ring 0 → 1 → … → g-1 → 0.

    Each hop takes the shortest way, through other chips only if there is no other; the rate is
    the least, over all cables and directions, of bandwidth / hops carried. With ``staging`` a hop
    between chips without a cable of their own passes a host and loads the host memory twice.
    Index 0 and 1 are 0: there is no ring. ``efficiency`` and ``only`` are those of
    :class:`artery.node.paths.Paths`.
    """
    paths = Paths(layout, via_host=staging is not None, efficiency=efficiency, only=only)
    memory = None if staging is None else staging.memory
    rates = [0.0, 0.0]
    load: Counter[tuple[int, int]] = Counter()
    staged = 0
    for last in range(1, layout.chips):
        step, back = paths.between(last - 1, last), paths.between(last, 0)
        load.update(pairwise(step))
        staged += len(step) > 2
        ring = load + Counter(pairwise(back))
        slowest = min(paths.bandwidth(*cable) / hops for cable, hops in ring.items())
        crossings = 2 * (staged + (len(back) > 2))
        if memory is not None and crossings:
            slowest = min(slowest, memory / crossings)
        rates.append(slowest)
    return tuple(rates)


def disjoint_rings(links: Mapping[tuple[int, int], int], group: int) -> int:
    """Return how many rings over the chips 0 … group-1 run at once, one link each per hop.

    ``links`` maps a pair of chips (lower first) to its number of links. A cycle through all
    chips gives two rings, one each way round, for a link carries both directions; two chips
    form a ring on every link between them.
    """
    if group < 2:
        return 0
    if group == 2:
        return links.get((0, 1), 0)
    return 2 * len(disjoint_cycles(links, group))


def disjoint_cycles(links: Mapping[tuple[int, int], int], group: int) -> tuple[Cycle, ...]:
    """Return cycles through the chips 0 … group-1 (3 or more) that use no link twice.

    As many as there can be, up to eight chips: all cycles are listed (2,520 at most) and packed by
    branch and bound, with a limit that wirings of real nodes do not come near. For more chips one
    cycle is searched after the other, with a limit.
    """
    inside = tuple(sorted((pair, n) for pair, n in links.items() if max(pair) < group))
    return _packed_cycles(inside, group) if group <= EXACT else _found_cycles(dict(inside), group)


@cache
def _packed_cycles(links: tuple[tuple[tuple[int, int], int], ...], group: int) -> tuple[Cycle, ...]:
    """Return the largest number of Hamiltonian cycles that use no link twice."""
    free = dict(links)
    cycles = list(_cycles(free, group))
    bound = sum(free.values()) // group
    best: list[Cycle] = []
    tried = 0

    def pack(first: int, found: list[Cycle]) -> None:
        nonlocal best, tried
        tried += 1
        if len(found) > len(best):
            best = found
        for index in range(first, len(cycles)):
            if len(found) + sum(free.values()) // group <= len(best) or len(best) == bound:
                return
            if tried > PACKED:
                return
            edges = edges_of(cycles[index])
            if any(free[edge] == 0 for edge in edges):
                continue
            for edge in edges:
                free[edge] -= 1
            pack(index, [*found, cycles[index]])
            for edge in edges:
                free[edge] += 1

    pack(0, [])
    return tuple(best)


def _found_cycles(free: dict[tuple[int, int], int], group: int) -> tuple[Cycle, ...]:
    """Return cycles found one after the other, until none is found within the limit."""
    found: list[Cycle] = []
    while (cycle := next(_cycles(free, group, STEPS), None)) is not None:
        found.append(cycle)
        for edge in edges_of(cycle):
            free[edge] -= 1
            if not free[edge]:
                del free[edge]
    return tuple(found)


def edges_of(cycle: Cycle) -> list[tuple[int, int]]:
    """Return the links of a cycle, lower chip first."""
    return [(min(hop), max(hop)) for hop in pairwise([*cycle, cycle[0]])]


def _cycles(
    links: Mapping[tuple[int, int], int], group: int, limit: int | None = None
) -> Iterator[Cycle]:
    """Yield every Hamiltonian cycle over 0 … group-1 (3 or more), each once.

    Chips with few neighbours come first; the search ends after ``limit`` steps, if given.
    """
    near: dict[int, list[int]] = {chip: [] for chip in range(group)}
    for one, other in links:
        near[one].append(other)
        near[other].append(one)
    for others in near.values():
        others.sort(key=lambda other: (len(near[other]), other))
    path = [0]
    ahead = [iter(near[0])]
    for _ in count() if limit is None else range(limit):
        if not ahead:
            return
        chip = next(ahead[-1], -1)
        if chip < 0:
            ahead.pop()
            path.pop()
        elif chip not in path:
            path.append(chip)
            ahead.append(iter(near[chip] if len(path) < group else ()))
            # One direction is enough: keep the cycle whose second chip is below its last.
            if len(path) == group and 0 in near[chip] and path[1] < chip:
                yield tuple(path)


def direct_links(domain: Layout | ScaleUp) -> tuple[dict[tuple[int, int], int], float]:
    """Return the links between pairs of chips (lower first), and the B/s of one.

    A cable counts as many links as the thinnest one goes into it whole.
    """
    total: Counter[tuple[int, int]] = Counter()
    bandwidth: dict[tuple[int, int], float] = {}
    for one, other, index in domain.cables:
        if max(one, other) < domain.chips:
            pair = (min(one, other), max(one, other))
            bandwidth[pair] = bandwidth.get(pair, 0.0) + domain.links[index].bandwidth
    lane = min(bandwidth.values(), default=0.0)
    for pair, rate in bandwidth.items():
        total[pair] = int(rate / lane * (1 + 1e-9))
    return dict(total), lane


def rings_on_links(domain: Layout) -> tuple[float, ...]:
    """Return, at index ``g``, the B/s of all rings over chips 0 … g-1 on links of their own.

    0 where direct links close no ring, or there are too many chips to search.
    """
    links, lane = direct_links(domain)
    rates = [0.0, 0.0, links.get((0, 1), 0) * lane]
    for group in range(3, domain.chips + 1):
        rings = _side_by_side(links, group)
        load = Counter(hop for ring in rings for hop in pairwise((*ring, ring[0])))
        shared = (hops / links[min(hop), max(hop)] for hop, hops in load.items())
        rates.append(len(rings) * lane / max(1.0, max(shared, default=1.0)))
    return tuple(rates[: domain.chips + 1])


def domain_rings(domain: ScaleUp, group: int) -> tuple[Cycle, ...]:
    """Return the rings over chips 0 … group-1 that a library would run side by side.

    Those on direct links of their own; where there are none, one in rank order.
    """
    return rings_among(domain, tuple(range(group))) or (tuple(range(group)),)


def rings_among(domain: ScaleUp, chips: tuple[int, ...]) -> tuple[Cycle, ...]:
    """Return the rings over some ``chips`` on direct links of their own, none if there are none.

    Numbers in a ring are places in ``chips``.
    """
    links, _ = direct_links(domain)
    place = {chip: number for number, chip in enumerate(chips)}
    inside = {
        (min(place[a], place[b]), max(place[a], place[b])): many
        for (a, b), many in links.items()
        if a in place and b in place
    }
    return _side_by_side(inside, len(chips))


def through_all(rings: tuple[Cycle, ...]) -> tuple[Cycle, ...]:
    """Return the ways through a domain whose ``rings`` use a link from each chip to every other.

    Each link lies in one way each way, and each chip is one's first and one's last. None where
    the rings use fewer links, or the number of chips is odd.
    """
    size = len(rings[0]) if rings else 0
    hops = {hop for ring in rings for hop in pairwise((*ring, ring[0]))}
    full = size > 2 and size % 2 == 0 and len(hops) == size * (size - 1)
    return full_ways(size) if full else ()


def _side_by_side(links: Mapping[tuple[int, int], int], group: int) -> tuple[Cycle, ...]:
    """Return rings over chips 0 … group-1 that load their links alike, if there are any.

    Over chips that are all joined alike, those that use every link; else both ways round every
    cycle that has links of its own.
    """
    if not 3 <= group <= SEARCHED:
        return ()
    inside = {pair: count for pair, count in links.items() if max(pair) < group}
    if len(inside) == group * (group - 1) // 2 and len(set(inside.values())) == 1:
        every = full_rings(group) * inside[0, 1]
        if every:
            return every
    found = disjoint_cycles(inside, group)
    return (*found, *((cycle[0], *reversed(cycle[1:])) for cycle in found))
