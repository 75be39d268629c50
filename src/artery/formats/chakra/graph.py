"""Chakra traces of all ranks joined into one graph of tasks.

Within a rank, computation of one device runs in the order of the trace, as kernels on a stream do,
and so do the collectives of one process group. The n-th collective of a group is the same one on
all of its ranks; the members of a group are the ranks that name it, or all where it has no name.
"""

from __future__ import annotations

import heapq
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from artery.core.graph import Operation, TaskGraph
from artery.core.pricing import Collective
from artery.errors import InputError, Problems
from artery.formats.chakra.nodes import ChakraNode, problem

_PICOSECONDS: Final = 1_000_000
"""In a microsecond."""

KNOWN: Final[Mapping[str, Collective]] = {
    "ALL_REDUCE": "all_reduce",
    "REDUCE": "reduce",
    "ALL_GATHER": "all_gather",
    "BROADCAST": "broadcast",
    "ALL_TO_ALL": "alltoall",
    "REDUCE_SCATTER": "reduce_scatter",
    "REDUCE_SCATTER_BLOCK": "reduce_scatter",
    "BARRIER": "all_reduce",
}
"""What is played for a collective; a barrier is an all-reduce of one byte."""

Ranks = Sequence[tuple[str, tuple[ChakraNode, ...]]]
"""File and nodes of every rank."""


def job_graph(ranks: Ranks) -> TaskGraph:
    """Return one graph of the traces of all ranks.

    ``comm_size`` is what a rank gives (as in ASTRA-sim's system layer): an all-gather over n
    ranks moves n times as much by nccl-tests' convention. Raises ``InputError`` for cycles, for
    messages without a partner and for ranks that do not agree on a collective.
    """
    problems = Problems()
    places = [_ordered(path, nodes) for path, nodes in ranks]
    tasks = [(rank, node) for rank, nodes in enumerate(places) for node in nodes]
    at = {(rank, node.number): task for task, (rank, node) in enumerate(tasks)}
    partner = _partners(ranks, tasks, problems)
    operations = _operations(ranks, tasks, problems)
    problems.raise_if_any()
    edges = sorted(
        {
            *((task, at[rank, one]) for task, (rank, node) in enumerate(tasks)
              for one in node.after),
            *_in_turn(tasks),
        }
    )  # fmt: skip
    pairs = np.array(edges, np.int64).reshape(-1, 2)
    computes = np.array([node.kind not in _TALKING for _, node in tasks], np.bool_)
    micros = np.array([node.micros for _, node in tasks], np.int64)
    count = len(tasks)
    return TaskGraph(
        ranks=len(ranks),
        rank=np.array([rank for rank, _ in tasks], np.int64),
        sends=np.array([node.kind == "send" for _, node in tasks], np.bool_),
        partner=np.array(partner, np.int64),
        size=np.array([node.size if node.kind in _ENDS else 0 for _, node in tasks], np.int64),
        delay=np.where(computes, micros * _PICOSECONDS, 0),
        start=np.searchsorted(pairs[:, 0], np.arange(count + 1)).astype(np.int64),
        after=pairs[:, 1].copy(),
        begun=np.zeros(len(pairs), np.bool_),
        operations=tuple(operations),
        names=tuple(node.name for _, node in tasks),
    )


_ENDS: Final = ("send", "receive")
_TALKING: Final = (*_ENDS, "collective")


def _ordered(path: str, nodes: tuple[ChakraNode, ...]) -> list[ChakraNode]:
    """Return the nodes, each after those that it waits for, else in the order of the file."""
    place = {node.number: index for index, node in enumerate(nodes)}
    missing = [len(node.after) for node in nodes]
    follows = defaultdict[int, list[int]](list)
    for index, node in enumerate(nodes):
        for one in node.after:
            follows[place[one]].append(index)
    ready = [index for index, count in enumerate(missing) if not count]
    heapq.heapify(ready)
    found = []
    while ready:
        index = heapq.heappop(ready)
        found.append(nodes[index])
        for later in follows[index]:
            missing[later] -= 1
            if not missing[later]:
                heapq.heappush(ready, later)
    if len(found) < len(nodes):
        stuck = next(nodes[index] for index, count in enumerate(missing) if count)
        rule = "nodes wait for each other in a circle"
        raise InputError(problem(path, f"node {stuck.number} ({stuck.name})", rule, "no circles"))
    return found


def _in_turn(tasks: list[tuple[int, ChakraNode]]) -> list[tuple[int, int]]:
    """Return which task waits for which because both need the same stream."""
    last: dict[tuple[int, str], int] = {}
    found = []
    for task, (rank, node) in enumerate(tasks):
        if node.kind in _ENDS:
            continue
        stream = f"group {node.group}" if node.kind == "collective" else f"host {node.host}"
        if (rank, stream) in last:
            found.append((task, last[rank, stream]))
        last[rank, stream] = task
    return found


def _partners(ranks: Ranks, tasks: list[tuple[int, ChakraNode]], problems: Problems) -> list[int]:
    """Return the receive of each send and the send of each receive, in the order of the traces."""
    partner = [-1] * len(tasks)
    waiting: dict[tuple[int, int, int], deque[int]] = defaultdict(deque)
    for task, (rank, node) in enumerate(tasks):
        if node.kind == "send":
            waiting[rank, node.target, node.tag].append(task)
    for task, (rank, node) in enumerate(tasks):
        if node.kind != "receive":
            continue
        queue = waiting[node.source, rank, node.tag]
        if not queue:
            rule = f"rank {node.source} sends rank {rank} nothing more with tag {node.tag}"
            found = f"node {node.number} ({node.name}), a receive"
            problems.add(problem(ranks[rank][0], found, rule, "the traces of all ranks"))
            continue
        send = queue.popleft()
        partner[task], partner[send] = send, task
    for (rank, target, tag), queue in waiting.items():
        if queue:
            node = tasks[queue[0]][1]
            rule = f"rank {target} does not receive it from rank {rank} with tag {tag}"
            found = f"node {node.number} ({node.name}), a send"
            problems.add(problem(ranks[rank][0], found, rule, "the traces of all ranks"))
    return partner


def _operations(
    ranks: Ranks, tasks: list[tuple[int, ChakraNode]], problems: Problems
) -> list[Operation]:
    """Return the collectives, those of a group matched by their number on each rank."""
    groups: dict[str, dict[int, list[int]]] = {}
    for task, (rank, node) in enumerate(tasks):
        if node.kind == "collective":
            groups.setdefault(node.group, {}).setdefault(rank, []).append(task)
    found = []
    everybody = groups.get("", {})
    if everybody:
        groups[""] = {rank: everybody.get(rank, []) for rank in range(len(ranks))}
    for name, by_rank in groups.items():
        many = {rank: len(own) for rank, own in by_rank.items()}
        most = max(many, key=many.__getitem__)
        least = min(many, key=many.__getitem__)
        if many[most] != many[least]:
            said = f'of group "{name}"' if name else "of all ranks"
            rule = f"rank {most} has {many[most]}: every rank takes part in each"
            what = f"{many[least]} collectives {said} on rank {least}"
            problems.add(problem(ranks[least][0], what, rule, "the whole traces"))
            continue
        for each in zip(*by_rank.values(), strict=True):
            operation = _operation(ranks, tasks, tuple(by_rank), each, problems)
            if operation is not None:
                found.append(operation)
    return found


def _operation(
    ranks: Ranks,
    tasks: list[tuple[int, ChakraNode]],
    members: tuple[int, ...],
    each: tuple[int, ...],
    problems: Problems,
) -> Operation | None:
    nodes = [tasks[task][1] for task in each]
    first = nodes[0]
    for rank, node in zip(members, nodes, strict=True):
        if (node.collective, node.size) != (first.collective, first.size):
            found = f"node {node.number} ({node.name}): {node.collective} of {node.size} B"
            rule = f"rank {members[0]} does {first.collective} of {first.size} B at its turn"
            problems.add(problem(ranks[rank][0], found, rule, "traces of one run"))
            return None
    kind = KNOWN.get(first.collective)
    if kind is None:
        found = f"node {first.number} ({first.name}): {first.collective}"
        listed = ", ".join(KNOWN)
        problems.add(problem(ranks[members[0]][0], found, f"played are {listed}", "one of them"))
        return None
    size = first.size * len(members) if kind == "all_gather" else first.size
    return Operation(kind, max(size, int(first.collective == "BARRIER")), members, each)
