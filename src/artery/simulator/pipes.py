"""From a schedule's pipes to coupled variables: the form in which size costs nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from artery.core.schedule import Pipe
from artery.core.system import System
from artery.native.coupled import Pipelines
from artery.simulator.placed import Ints, Placed
from artery.simulator.routes import Ends, Routes, ends, routes, spread
from artery.simulator.scenario import Scenario
from artery.simulator.wires import Wires

SLICE = 524_288
"""Bytes that a tree passes on as one: NCCL's Simple protocol slices its buffers so (assumed)."""

MOST_SPLIT = 65_536
MOST_RINGS = 256
"""Edges and rings of one pipe up to which each ring is a variable of its own; beyond, all go at one
rate and fill in their mean time."""

WAYS = 8
"""Paths over which a coupled pipe sprays each edge: half of those of messages, assumed enough."""


@dataclass(frozen=True, slots=True, eq=False)
class Coupled:
    """The pipelines, and for every pipe its job and phase; edges as pairs of chips."""

    pipelines: Pipelines
    job: Ints
    phase: Ints
    pairs: Ends
    routed: Routes


def playable(job: Placed) -> bool:
    """Whether the job has a pipelined form."""
    return bool(job.schedule.pipes) and isinstance(job.size, int)


def coupled_pipes(
    system: System, wires: Wires, jobs: tuple[Placed, ...], scenario: Scenario
) -> Coupled:
    """Return all pipes of ``jobs`` over the paths that the scenario's policy gives.

    An edge that takes several paths at once is as many edges with a part of the bytes each.
    """
    found = [
        (number, ring)
        for number, job in enumerate(jobs)
        for pipe in job.schedule.pipes
        for ring in _rings(pipe)
    ]
    pairs = _pairs(wires, jobs, found)
    ways = WAYS if scenario.routing == "spray" else max(scenario.queue_pairs, 1)
    routed = _routed(system, wires, pairs, scenario, ways)
    waves = [wave * ways for _, pipe in found for wave in _waves(pipe)]
    first = np.cumsum([0, *(len(_waves(pipe)) for _, pipe in found)])
    amounts = [_way(_amount(pipe, jobs[n]), ways) for n, pipe in found]
    segments = [
        min(_segment(pipe, _amount(pipe, jobs[n])), amount)
        for (n, pipe), amount in zip(found, amounts, strict=True)
    ]
    behind = [
        segment if pipe.kind == "ring" else amount
        for (_, pipe), amount, segment in zip(found, amounts, segments, strict=True)
    ]
    return Coupled(
        pipelines=Pipelines(
            start=routed.start,
            link=routed.link,
            wave=np.cumsum([0, *waves]),
            pipe=first,
            depth=np.array([p.depth if p.kind == "ring" else 0 for _, p in found], dtype=np.int64),
            amount=np.array(amounts, dtype=np.int64),
            behind=np.array(behind, dtype=np.int64),
            segment=np.array(segments, dtype=np.int64),
            toward=_toward(found, ways),
            release=np.array([jobs[number].release for number, _ in found], dtype=np.int64),
        ),
        job=np.array([jobs[number].job for number, _ in found], dtype=np.int64),
        phase=np.array([pipe.phase for _, pipe in found], dtype=np.int64),
        pairs=pairs,
        routed=routed,
    )


def _rings(pipe: Pipe) -> list[Pipe]:
    """Return each of the disjoint rings of a pipe as one of its own, if they are few."""
    if pipe.kind != "ring" or len(pipe.source) > MOST_SPLIT:
        return [pipe]
    after = np.arange(1 + int(pipe.source.max()))
    after[pipe.source] = pipe.target
    name = np.arange(len(after))
    # The least rank of each ring, looking twice as far ahead each time.
    for _ in range(len(after).bit_length()):
        name, after = np.minimum(name, name[after]), after[after]
    ring = name[pipe.source]
    first, size = np.unique(ring, return_counts=True)
    if not 1 < len(first) <= MOST_RINGS:
        return [pipe]
    order = np.argsort(ring, kind="stable")
    parts = np.split(order, np.cumsum(size)[:-1])
    return [replace(pipe, source=pipe.source[one], target=pipe.target[one]) for one in parts]


def _pairs(wires: Wires, jobs: tuple[Placed, ...], found: list[tuple[int, Pipe]]) -> Ends:
    parts = []
    for number, pipe in found:
        source, target = _edges(pipe)
        parts.append(ends(wires.network, jobs[number], source, target))
    cut = None
    if any(part.cut is not None for part in parts):
        none = [np.zeros(len(p.source), np.int8) if p.cut is None else p.cut for p in parts]
        cut = np.concatenate(none)
    return Ends(
        np.concatenate([part.source for part in parts]),
        np.concatenate([part.target for part in parts]),
        cut,
    )


def _routed(system: System, wires: Wires, pairs: Ends, scenario: Scenario, ways: int) -> Routes:
    """Return ``ways`` paths of every edge, one after the other."""
    if scenario.routing == "spray" or ways == 1:
        found = routes(system, wires.network, pairs, scenario)
        return found if ways == 1 else spread(found, ways)
    many = len(pairs.source)
    cut = None if pairs.cut is None else np.repeat(pairs.cut, ways)
    each = Ends(np.repeat(pairs.source, ways), np.repeat(pairs.target, ways), cut)
    found = routes(system, wires.network, each, scenario, np.tile(np.arange(ways), many))
    return Routes(np.arange(many + 1) * ways, found.start, found.link)


def _edges(pipe: Pipe) -> tuple[Ints, Ints]:
    """Edges of a pipe, those of a tree that is passed both ways twice: up, then down."""
    if not pipe.both_ways:
        return pipe.source, pipe.target
    return (
        np.concatenate([pipe.source, pipe.target]),
        np.concatenate([pipe.target, pipe.source]),
    )


def _waves(pipe: Pipe) -> list[int]:
    """Number of edges in each wave."""
    return [len(pipe.source)] * (2 if pipe.both_ways else 1)


def _amount(pipe: Pipe, job: Placed) -> int:
    """Bytes that cross each edge, at least one where there are any: a channel is never empty."""
    exact = pipe.weight * pipe.volume * job.total
    return max(round(exact), int(exact > 0))


def _way(amount: int, ways: int) -> int:
    """Bytes on each of the ways of an edge."""
    return max(round(amount / ways), int(amount > 0))


def _segment(pipe: Pipe, amount: int) -> int:
    """Bytes passed on as one: a ring's chunk, a slice of a tree."""
    if pipe.kind == "ring":
        return max(amount // max(pipe.depth, 1), 1)
    return min(SLICE, max(amount, 1))


def _toward(found: list[tuple[int, Pipe]], ways: int) -> Ints | None:
    """For every edge the next edge to the root of its tree; -1 at the root and round a ring."""
    if all(pipe.kind == "ring" for _, pipe in found):
        return None
    parts: list[Ints] = []
    base = 0
    for _, pipe in found:
        for _ in _waves(pipe):
            many = len(pipe.source)
            one = np.full(many, -1, dtype=np.int64) if pipe.kind == "ring" else _upward(pipe)
            copies = np.where(one[:, None] < 0, -1, base + one[:, None] * ways + np.arange(ways))
            parts.append(copies.ravel())
            base += many * ways
    return np.concatenate(parts)


def _upward(pipe: Pipe) -> Ints:
    """The edge of each edge's parent."""
    ranks = int(max(pipe.source.max(), pipe.target.max())) + 1
    edge_of = np.full(ranks, -1, dtype=np.int64)
    edge_of[pipe.source] = np.arange(len(pipe.source))
    if pipe.kind == "star":
        return np.full(len(pipe.source), -1, dtype=np.int64)
    return np.asarray(edge_of[pipe.target])
