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
from itertools import pairwise

from artery.node.paths import Paths
from artery.node.scale_up import Layout


@dataclass(frozen=True, slots=True)
class Staging:
    """Transfers go through host memory of ``memory`` B/s (``None``: not the bottleneck)."""

    memory: float | None


def rings_in_order(layout: Layout, staging: Staging | None = None) -> tuple[float, ...]:
    """Return, at index ``g``, the B/s per direction of the ring 0 → 1 → … → g-1 → 0.

    Each hop takes the shortest way, through other chips only if there is no other; the rate is
    the least, over all cables and directions, of bandwidth / hops carried. With ``staging`` a hop
    between chips without a cable of their own passes a host and loads the host memory twice.
    Index 0 and 1 are 0: there is no ring.
    """
    paths = Paths(layout, via_host=staging is not None)
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
    form a ring on every link between them. Exact: all cycles are listed (2,520 at most for
    eight chips) and packed by branch and bound.
    """
    if group < 2:
        return 0
    inside = tuple(sorted((pair, n) for pair, n in links.items() if max(pair) < group))
    if group == 2:
        return sum(n for _, n in inside)
    return 2 * _packed_cycles(inside, group)


@cache
def _packed_cycles(links: tuple[tuple[tuple[int, int], int], ...], group: int) -> int:
    """Return the largest number of Hamiltonian cycles that use no link twice."""
    free = dict(links)
    cycles = list(_cycles(free, group))
    bound = sum(free.values()) // group

    def pack(first: int, found: int, best: int) -> int:
        best = max(best, found)
        if found + sum(free.values()) // group <= best:
            return best
        for index in range(first, len(cycles)):
            cycle = cycles[index]
            if any(free[edge] == 0 for edge in cycle):
                continue
            for edge in cycle:
                free[edge] -= 1
            best = pack(index, found + 1, best)
            for edge in cycle:
                free[edge] += 1
            if best == bound:
                return best
        return best

    return pack(0, 0, 0)


def _cycles(links: Mapping[tuple[int, int], int], group: int) -> Iterator[list[tuple[int, int]]]:
    """Yield every Hamiltonian cycle over 0 … group-1 (3 or more) as its edges, each once."""
    near: dict[int, list[int]] = {chip: [] for chip in range(group)}
    for one, other in links:
        near[one].append(other)
        near[other].append(one)

    def walk(path: list[int]) -> Iterator[list[int]]:
        if len(path) == group:
            # One direction is enough: keep the cycle whose second chip is below its last.
            if 0 in near[path[-1]] and path[1] < path[-1]:
                yield [*path, 0]
            return
        for chip in near[path[-1]]:
            if chip not in path:
                yield from walk([*path, chip])

    for closed in walk([0]):
        yield [(min(hop), max(hop)) for hop in pairwise(closed)]
