"""One schedule on several channels: copies of it whose ranks are turned inside each node.

Copy c puts rank i of a node where rank i + c of it is, so that each leaves a node by another card
(NCCL turns the chains of its channels in the same way, ``src/graph/connect.cc``).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from artery.core.schedule import Pipe, Schedule, Step

Ints = NDArray[np.int64]


def on_channels(schedule: Schedule, channels: int, per_node: int) -> Schedule:
    """Return ``schedule`` done by ``channels`` turned copies on an equal share of the buffer each.

    For schedules whose chunks belong to no rank: all-reduce, broadcast and reduce from root 0.
    """
    if channels < 2 or schedule.ranks < 2:
        return schedule
    turned = [_turned(schedule.ranks, per_node, c * per_node // channels) for c in range(channels)]

    def step(k: int) -> Step:
        one = schedule.step(k)
        return Step(
            np.concatenate([turn[one.source] for turn in turned]),
            np.concatenate([turn[one.target] for turn in turned]),
            np.concatenate([one.first + c * schedule.chunks for c in range(channels)]),
            np.tile(one.count, channels),
            np.tile(one.reduce, channels),
        )

    pipes = [
        replace(_moved(pipe, turn), weight=pipe.weight / channels)
        for turn in turned
        for pipe in schedule.pipes
    ]
    return replace(
        schedule,
        chunks=schedule.chunks * channels,
        step=step,
        pipes=tuple(pipes),
        wire=schedule.wire * channels,
        ports=schedule.ports * channels,
    )


def _turned(ranks: int, per_node: int, by: int) -> Ints:
    """Return the ranks, each node's turned by some places; a part-filled node by as many."""
    rank = np.arange(ranks)
    node, place = np.divmod(rank, per_node)
    members = np.minimum(per_node, ranks - node * per_node)
    return np.asarray(node * per_node + (place + by) % members)


def _moved(pipe: Pipe, turn: Ints) -> Pipe:
    return replace(pipe, source=turn[pipe.source], target=turn[pipe.target])
