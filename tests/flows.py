"""Maximum flow over a system's edges, for tests of what a network can carry."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from artery.core.system import System

Residual = list[dict[int, float]]


def residual(system: System) -> Residual:
    """Capacity by vertex and neighbour, parallel cables added up."""
    edges = system.wiring()
    graph: Residual = [{} for _ in range(sum(group.count for group in system.groups))]
    ends = zip(edges.source.tolist(), edges.target.tolist(), edges.link.tolist(), strict=True)
    for source, target, link in ends:
        row = graph[source]
        row[target] = row.get(target, 0.0) + system.links[link].bandwidth
    return graph


def max_flow(system: System, sources: Iterable[int], sinks: Iterable[int]) -> float:
    """B/s that the chips ``sources`` together can send to the chips ``sinks`` (Edmonds-Karp)."""
    graph = residual(system)
    start, end = len(graph), len(graph) + 1
    graph += [dict.fromkeys(sources, float("inf")), {}]
    for sink in sinks:
        graph[sink][end] = float("inf")
    total = 0.0
    while (path := _augmenting(graph, start, end)) is not None:
        least = min(graph[one][other] for one, other in path)
        total += least
        for one, other in path:
            graph[one][other] -= least
            graph[other][one] = graph[other].get(one, 0.0) + least
    return total


def bisection(system: System) -> float:
    """B/s from the first half of the chips to the second."""
    half = system.chips // 2
    return max_flow(system, range(half), range(half, system.chips))


def reached(system: System, start: int = 0) -> set[int]:
    """Vertices that ``start`` is joined to."""
    graph = residual(system)
    seen = {start}
    queue = deque(seen)
    while queue:
        for near in graph[queue.popleft()]:
            if near not in seen:
                seen.add(near)
                queue.append(near)
    return seen


def _augmenting(graph: Residual, start: int, end: int) -> list[tuple[int, int]] | None:
    """Shortest path with capacity left, as edges."""
    before = {start: start}
    queue = deque([start])
    while queue and end not in before:
        vertex = queue.popleft()
        for near, capacity in graph[vertex].items():
            if capacity > 1e-3 and near not in before:
                before[near] = vertex
                queue.append(near)
    if end not in before:
        return None
    path = []
    while end != start:
        path.append((before[end], end))
        end = before[end]
    return path
