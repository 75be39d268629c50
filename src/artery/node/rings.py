"""How fast rings go round over the chips ``0 … g-1`` of a domain, on its real wiring.

Two questions, two answers. Over shared wiring (PCIe) NCCL and its kin run one ring in rank order:
:func:`ring_in_order` routes each of its hops and divides each cable by the hops that it carries.
Over point-to-point links several rings run side by side on links of their own:
:func:`disjoint_rings` finds how many fit at most.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from artery.node.scale_up import Layout


@dataclass(frozen=True, slots=True)
class Staging:
    """Transfers go through host memory of ``memory`` B/s (``None``: not the bottleneck)."""

    memory: float | None


def ring_in_order(layout: Layout, group: int, staging: Staging | None = None) -> float:
    """Return the B/s per direction of the ring 0 → 1 → … → group-1 → 0; 0 for ``group`` < 2.

    Each hop takes the shortest way that passes no other chip; the rate is the least, over all
    cables and directions, of bandwidth / hops carried. With ``staging`` a hop between chips
    without a cable of their own passes a host and loads the host memory twice.
    """
    if group < 2:
        return 0.0
    graph = _neighbours(layout)
    hosts = _hosts(layout)
    load: Counter[tuple[int, int]] = Counter()
    staged = 0
    for source in range(group):
        path = _shortest(graph, source, (source + 1) % group, layout.chips)
        if staging is not None and len(path) > 2:
            staged += 1
            if not hosts.intersection(path):
                path = _through_host(graph, path, hosts, layout.chips)
        load.update(pairwise(path))
    rates = [graph[one][other] / hops for (one, other), hops in load.items()]
    if staged and staging is not None and staging.memory is not None:
        rates.append(staging.memory / (2 * staged))
    return min(rates)


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
    cycles = [tuple(Counter(cycle).items()) for cycle in _cycles(free, group)]
    bound = sum(free.values()) // group

    def pack(first: int, found: int, best: int) -> int:
        best = max(best, found)
        if found + sum(free.values()) // group <= best:
            return best
        for index in range(first, len(cycles)):
            cycle = cycles[index]
            if any(free[edge] < need for edge, need in cycle):
                continue
            for edge, need in cycle:
                free[edge] -= need
            best = pack(index, found + 1, best)
            for edge, need in cycle:
                free[edge] += need
            if best == bound:
                return best
        return best

    return pack(0, 0, 0)


def _cycles(links: Mapping[tuple[int, int], int], group: int) -> Iterator[list[tuple[int, int]]]:
    """Yield every Hamiltonian cycle over 0 … group-1 as its edges, each once."""
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


Graph = dict[int, dict[int, float]]


def _neighbours(layout: Layout) -> Graph:
    """Return vertex → neighbour → bandwidth, parallel cables added up."""
    graph: Graph = {}
    for one, other, index in layout.cables:
        for near, far in ((one, other), (other, one)):
            row = graph.setdefault(near, {})
            row[far] = row.get(far, 0.0) + layout.links[index].bandwidth
    return graph


def _hosts(layout: Layout) -> set[int]:
    """Return the vertices that have host memory."""
    first = layout.chips
    hosts: set[int] = set()
    for group in layout.groups:
        if group.kind == "host":
            hosts.update(range(first, first + group.count))
        first += group.count
    return hosts


def _shortest(graph: Graph, source: int, target: int, chips: int) -> list[int]:
    """Return the vertices of a shortest path that passes no chip on its way."""
    before = {source: source}
    queue = deque([source])
    while queue:
        vertex = queue.popleft()
        for near in graph.get(vertex, {}):
            if near in before or (near < chips and near != target):
                continue
            before[near] = vertex
            if near == target:
                return _back(before, source, target)
            queue.append(near)
    raise ValueError(f"no way from vertex {source} to vertex {target}")


def _back(before: Mapping[int, int], source: int, target: int) -> list[int]:
    path = [target]
    while path[-1] != source:
        path.append(before[path[-1]])
    return path[::-1]


def _through_host(graph: Graph, path: list[int], hosts: set[int], chips: int) -> list[int]:
    """Return the way up to the nearest host and down again, instead of ``path`` below it."""
    ways = [(_shortest(graph, path[0], host, chips), host) for host in hosts]
    up, host = min(ways, key=lambda way: len(way[0]))
    return up + _shortest(graph, host, path[-1], chips)[1:]
