"""Shortest ways between the chips of a domain, over its cables."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from itertools import pairwise
from math import inf

from artery.node.scale_up import Layout


class NoWayError(ValueError):
    """Two chips of the domain are not joined; ``source`` and ``target`` are their numbers."""

    def __init__(self, source: int, target: int) -> None:
        super().__init__(f"no way from chip {source} to chip {target}")
        self.source = source
        self.target = target


class Paths:
    """Shortest paths in a layout.

    A path passes other chips only where there is no way round them. ``via_host`` leads every
    path longer than one cable through the nearest host, as staged transfers go. Bandwidths are
    those of the links, or as shares of the ``efficiency`` of one class of them: times that
    efficiency they are what every cable reaches. With an ``only``, cables of other classes than the
    one of that name are endlessly fast.
    """

    def __init__(
        self,
        layout: Layout,
        *,
        via_host: bool = False,
        efficiency: float | None = None,
        only: str | None = None,
    ) -> None:
        self._chips = layout.chips
        self._via_host = via_host
        self._hosts = layout.vertices("host")
        self._known: dict[tuple[int, int], list[int]] = {}
        self._near: dict[int, dict[int, float]] = {}
        for one, other, index in layout.cables:
            for near, far in ((one, other), (other, one)):
                row = self._near.setdefault(near, {})
                # Parallel cables between two vertices act as one of their total bandwidth.
                link = layout.links[index]
                share = 1.0 if efficiency is None else link.efficiency / efficiency
                if only not in (None, link.name):
                    share = inf
                row[far] = row.get(far, 0.0) + link.bandwidth * share

    def bandwidth(self, one: int, other: int) -> float:
        """Return the B/s per direction of the cables between two neighbours."""
        return self._near[one][other]

    def between(self, source: int, target: int) -> list[int]:
        """Return the vertices from chip ``source`` to chip ``target``, both included.

        Raises :class:`NoWayError` if they are not joined.
        """
        if (source, target) not in self._known:
            self._known[source, target] = self._found(source, target)
        return self._known[source, target]

    def _found(self, source: int, target: int) -> list[int]:
        path = self._shortest(source, target, past_chips=False)
        if path is None:
            path = self._shortest(source, target, past_chips=True)
        if path is None:
            raise NoWayError(source, target)
        if self._via_host and len(path) > 2 and not self._hosts.intersection(path):
            return self._through_host(source, target) or path
        return path

    def _through_host(self, source: int, target: int) -> list[int] | None:
        """Return the way up to the nearest host and down to the target."""
        ups = (self._shortest(source, host, past_chips=False) for host in sorted(self._hosts))
        up = min((way for way in ups if way is not None), key=len, default=None)
        down = None if up is None else self._shortest(up[-1], target, past_chips=False)
        return None if up is None or down is None else up + down[1:]

    def _shortest(self, source: int, target: int, *, past_chips: bool) -> list[int] | None:
        before = self._search(source, target, past_chips=past_chips)
        return _trace(before, source, target) if target in before else None

    def _search(self, source: int, target: int, *, past_chips: bool) -> dict[int, int]:
        """Return vertex → the one before it, searching breadth first until ``target`` is met."""
        before = {source: source}
        queue = deque([source])
        while queue:
            vertex = queue.popleft()
            for near in self._near.get(vertex, {}):
                if near in before:
                    continue
                before[near] = vertex
                if near == target:
                    return before
                if past_chips or near >= self._chips:
                    queue.append(near)
        return before


def exchanges(paths: Paths, chips: int) -> tuple[float, ...]:
    """Return, at index ``g``, the B/s that each of the chips 0 … g-1 sends, all to all alike.

    Each pair takes the shortest way; with ``load`` pairs over a cable in one direction the g-1
    transfers of a chip share ``(g-1) · bandwidth / load`` of it, and the least of all cables holds.
    Index 0 and 1 are 0: nothing is sent. Raises :class:`NoWayError` if two chips are not joined.
    """
    rates = [0.0, 0.0]
    load: Counter[tuple[int, int]] = Counter()
    for last in range(1, chips):
        for other in range(last):
            load.update(pairwise(paths.between(other, last)))
            load.update(pairwise(paths.between(last, other)))
        rates.append(last * min(paths.bandwidth(*hop) / pairs for hop, pairs in load.items()))
    return tuple(rates[: chips + 1])


def _trace(before: Mapping[int, int], source: int, target: int) -> list[int]:
    """Return the vertices from ``source`` to ``target``."""
    path = [target]
    while path[-1] != source:
        path.append(before[path[-1]])
    return path[::-1]
