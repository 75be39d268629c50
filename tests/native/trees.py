"""Pipelined trees over hashed fabrics, as one variable and as every single message."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from artery.native.gates import by_dependencies
from artery.native.pipelines import Pipelines
from artery.native.work import Links, Longs, Transfers, Work
from tests.native.pipelines import Fabric, hashed

SLOTS = 8
"""Segments that a rank holds for the next one: NCCL_STEPS of NCCL's device code."""


@dataclass(frozen=True, slots=True)
class Trees:
    """Binary trees, rank i under rank (i - 1) // 2 of each order, up and down again."""

    orders: tuple[Longs, ...]
    start: Longs
    link: np.ndarray

    @property
    def edges(self) -> int:
        """Edges of one tree, one way."""
        return self.orders[0].size - 1


def trees(net: Fabric, orders: tuple[Longs, ...], seed: int) -> Trees:
    """Return the trees with their hashed paths."""
    child = np.arange(1, orders[0].size)
    up = [(order[child], order[(child - 1) // 2]) for order in orders]
    ends = [pair for low, high in up for pair in ((low, high), (high, low))]
    source, target = (np.concatenate(side) for side in zip(*ends, strict=True))
    return Trees(orders, *hashed(net, source, target, seed))


def tree_pipelines(all_: Trees, amount: int, segment: int) -> Pipelines:
    """Return one pipe for each tree, of ``amount`` bytes."""
    count, edges = len(all_.orders), all_.edges
    parent = np.arange(edges) // 2 - 1
    waves = np.arange(2 * count + 1) * edges
    toward = np.where(parent < 0, -1, parent + waves[:-1, None]).ravel()
    nothing, bytes_ = np.zeros(count, np.int64), np.full(count, amount)
    pipe = np.arange(count + 1) * 2
    cut = np.full(count, segment)
    return Pipelines(all_.start, all_.link, waves, pipe, nothing, bytes_, bytes_, cut, toward)


@dataclass(slots=True)
class _Messages:
    path: list[int] = field(default_factory=list)
    after: list[list[tuple[int, int]]] = field(default_factory=list)

    def add(self, path: int, after: list[tuple[int, int]]) -> int:
        self.path.append(path)
        self.after.append(after)
        return len(self.path) - 1


def tree_messages(links: Links, all_: Trees, segments: int, segment: int) -> Work:
    """Return every message: passed on when here, while the next rank has a slot free."""
    messages, ranks = _Messages(), all_.edges + 1
    for tree in range(len(all_.orders)):
        first = 2 * tree * all_.edges - 1
        up = np.zeros((ranks, segments), np.int64)
        down = np.zeros((ranks, segments), np.int64)
        below = [[c for c in (2 * i + 1, 2 * i + 2) if c < ranks] for i in range(ranks)]
        for k in range(segments):
            for i in range(ranks - 1, 0, -1):
                after = [(int(up[c, k]), 1) for c in below[i]]
                after += [(int(up[i, k - 1]), 0)] if k else []
                up[i, k] = messages.add(first + i, after)
        for k in range(segments):
            for i in range(1, ranks):
                over = (i - 1) // 2
                after = [(int(down[over, k]), 1)] if over else []
                after += [] if over else [(int(up[c, k]), 1) for c in below[0]]
                after += [(int(down[i, k - 1]), 0)] if k else []
                down[i, k] = messages.add(first + all_.edges + i, after)
        for k in range(SLOTS, segments):
            for i in range(1, ranks):
                over = (i - 1) // 2
                freed = up[over, k - SLOTS] if over else down[1, k - SLOTS]
                messages.after[up[i, k]].append((int(freed), 0))
                messages.after[down[i, k]] += [(int(down[c, k - SLOTS]), 0) for c in below[i]]
    flat = [one for after in messages.after for one in after]
    start = np.cumsum([0, *(len(after) for after in messages.after)])
    count = len(messages.path)
    gates = by_dependencies(
        start,
        np.array([before for before, _ in flat], np.int32),
        np.array([kind for _, kind in flat]),
        np.zeros(count, np.int64),
    )
    path = np.array(messages.path, np.int32)
    return Work(links, Transfers(np.full(count, segment), path, all_.start, all_.link), gates)
