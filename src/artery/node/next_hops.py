"""Where to go next inside a domain: shortest ways on its cables, for arrays of pairs at once.

A way takes the fewest cables, among these the widest, and passes other chips only where there is
no way round them. Where several are left, the caller picks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from artery.core.arrays import Ints
from artery.node.pcie_tree import STAGED
from artery.node.scale_up import ScaleUp

Pick = Callable[[Ints], Ints]
"""From the number of choices of each pair to the one that is taken."""

UNREACHED = -1


@dataclass(frozen=True, slots=True)
class NextHops:
    """The arcs that lead on, by (passes chips, target, vertex).

    Arc ``k`` is cable ``k`` from its first end to its second, arc ``cables + k`` the way back.
    ``head`` is the vertex where an arc ends. The choices for table row ``r`` are
    ``arcs[first[r] : first[r] + count[r]]``. ``waypoint`` is, by source vertex, the host memory (or
    host, if its memory is no limit) through which staged transfers go, -1 if there is none.
    """

    vertices: int
    head: Ints
    first: Ints
    count: Ints
    arcs: Ints
    far: NDArray[np.bool_]
    waypoint: Ints

    def walk(self, source: Ints, target: Ints, pick: Pick) -> list[Ints]:
        """Return the arcs of each way as columns, -1 where a way is at its end.

        Raises :class:`ValueError` if a pair is not joined.
        """
        stop = self.waypoint[source]
        if (stop < 0).all():
            return self._straight(source, target, pick)
        direct = self._straight(source, target, pick)
        visited = np.zeros(len(source), dtype=bool)
        for column in direct:
            visited |= (column >= 0) & (self.head[column] == stop)
        straight = visited | (sum((column >= 0).astype(np.int64) for column in direct) < 2)
        here = np.where(straight, target, stop)
        return [
            *self._straight(source, here, pick),
            *self._straight(here, target, pick),
        ]

    def _straight(self, source: Ints, target: Ints, pick: Pick) -> list[Ints]:
        """Return the arcs of the shortest ways."""
        table = target * self.vertices
        table += self.far[table + source] * self.vertices**2
        vertex = source
        columns: list[Ints] = []
        while (moving := vertex != target).any():
            row = table + vertex
            count = self.count[row]
            if (moving & (count == 0)).any() or len(columns) > self.vertices:
                raise ValueError("two vertices of the domain are not joined")
            arc = self.arcs[self.first[row] + pick(np.maximum(count, 1))]
            columns.append(np.where(moving, arc, -1))
            vertex = np.where(moving, self.head[arc], vertex)
        return columns


def next_hops(domain: ScaleUp) -> NextHops:
    """Return the tables of a domain; hosts are passed by force where transfers are staged."""
    cables = np.array(domain.cables, dtype=np.int64).reshape(-1, 3)
    tail = np.concatenate([cables[:, 0], cables[:, 1]])
    head = np.concatenate([cables[:, 1], cables[:, 0]])
    rate = np.array([link.bandwidth * link.efficiency for link in domain.links])
    width = np.tile(rate[cables[:, 2]], 2) if len(cables) else np.zeros(0)
    vertices = domain.chips + sum(group.count for group in domain.groups)
    chip = np.arange(vertices) < domain.chips
    distance, first, count, arcs = _table(tail, head, width, ~chip)
    far = (distance == UNREACHED).ravel()
    if far.any():
        _, more, counts, others = _table(tail, head, width, np.ones(vertices, dtype=bool))
        first = np.concatenate([first, more + len(arcs)])
        count, arcs = np.concatenate([count, counts]), np.concatenate([arcs, others])
    # A row without choices points at arc 0, which is looked up but never taken.
    arcs = np.append(arcs, 0)
    return NextHops(vertices, head, first, count, arcs, far, _waypoints(domain, distance))


def _table(
    tail: Ints, head: Ints, width: NDArray[np.float64], passable: NDArray[np.bool_]
) -> tuple[Ints, Ints, Ints, Ints]:
    """Return distance (target, vertex), then first, count and arcs of the widest shortest ways."""
    vertices = len(passable)
    target = np.arange(vertices)[:, None]
    distance = np.where(np.eye(vertices, dtype=bool), 0, UNREACHED)
    widest = np.where(np.eye(vertices, dtype=bool), np.inf, 0.0)
    enters = passable[head][None, :] | (head[None, :] == target)
    level = 0
    while True:
        where, arc = np.nonzero(enters & (distance[:, head] == level))
        new = np.isin(distance[where, tail[arc]], (UNREACHED,))
        where, arc = where[new], arc[new]
        if not len(where):
            break
        level += 1
        distance[where, tail[arc]] = level
        through = np.minimum(width[arc], widest[where, head[arc]])
        np.maximum.at(widest, (where, tail[arc]), through)
    # By cable, not by arc: the first choice then keeps to the first dimension of a mesh.
    order = np.lexsort((np.arange(len(tail)) % max(len(tail) // 2, 1), tail))
    closer = distance[:, head[order]] == distance[:, tail[order]] - 1
    through = np.minimum(width[order][None, :], widest[:, head[order]])
    best = through >= widest[:, tail[order]]
    known = distance[:, head[order]] != UNREACHED
    where, arc = np.nonzero(enters[:, order] & closer & best & known)
    count = np.bincount(where * vertices + tail[order][arc], minlength=vertices**2)
    first = np.concatenate([[0], np.cumsum(count)[:-1]])
    return distance, first.astype(np.int64), count.astype(np.int64), order[arc]


def _waypoints(domain: ScaleUp, distance: Ints) -> Ints:
    """Return the nearest host memory, else host, of every vertex where transfers are staged."""
    none = np.full(distance.shape[1], -1, dtype=np.int64)
    if all(tier.link.kind != STAGED for tier in domain.tiers):
        return none
    places: dict[str, list[int]] = {}
    first = domain.chips
    for group in domain.groups:
        places.setdefault(group.kind, []).extend(range(first, first + group.count))
        first += group.count
    stops = places.get("memory") or places.get("host")
    if not stops:
        return none
    near = np.where(distance[stops] == UNREACHED, np.iinfo(np.int64).max, distance[stops])
    return np.asarray(np.array(stops, dtype=np.int64)[near.argmin(axis=0)])
