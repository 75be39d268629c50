"""From a schedule's pipes to coupled variables: the form in which size costs nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from artery.cluster.routing import Network, paths
from artery.core.schedule import Pipe
from artery.core.system import System
from artery.native.coupled import Pipelines
from artery.simulator.placed import Ints, Placed
from artery.simulator.scenario import POLICY, Scenario

SLICE = 524_288
"""Bytes that a tree passes on as one: NCCL's Simple protocol slices its buffers so (assumed)."""


@dataclass(frozen=True, slots=True, eq=False)
class Coupled:
    """The pipelines, and for every pipe its job and phase; edges as pairs of chips."""

    pipelines: Pipelines
    job: Ints
    phase: Ints
    source: Ints
    target: Ints


def playable(job: Placed) -> bool:
    """Whether the job's pipes run between chips only, so that their paths are known."""
    return bool(job.schedule.pipes) and not job.schedule.switches


def coupled_pipes(
    system: System, network: Network, jobs: tuple[Placed, ...], scenario: Scenario
) -> Coupled:
    """Return all pipes of ``jobs`` over the paths that the scenario's policy gives."""
    found = [(number, pipe) for number, job in enumerate(jobs) for pipe in job.schedule.pipes]
    edges = [_edges(pipe) for _, pipe in found]
    source = np.concatenate([jobs[n].chips[e[0]] for (n, _), e in zip(found, edges, strict=True)])
    target = np.concatenate([jobs[n].chips[e[1]] for (n, _), e in zip(found, edges, strict=True)])
    policy = POLICY[scenario.routing]
    routed = paths(
        system, network, source, target, policy="hash" if policy == "spray" else policy,
        seed=scenario.seed,
    )  # fmt: skip
    waves = [wave for _, pipe in found for wave in _waves(pipe)]
    first = np.cumsum([0, *(len(_waves(pipe)) for _, pipe in found)])
    amounts = [_amount(pipe, jobs[number].size) for number, pipe in found]
    segments = [_segment(pipe, a) for (_, pipe), a in zip(found, amounts, strict=True)]
    return Coupled(
        pipelines=Pipelines(
            start=routed.start,
            link=routed.link,
            wave=np.cumsum([0, *waves]),
            pipe=first,
            depth=np.array([p.depth if p.kind == "ring" else 0 for _, p in found], dtype=np.int64),
            amount=np.array(amounts, dtype=np.int64),
            behind=np.array(
                [
                    s if p.kind == "ring" else a
                    for (_, p), a, s in zip(found, amounts, segments, strict=True)
                ],
                dtype=np.int64,
            ),
            segment=np.array(segments, dtype=np.int64),
            toward=np.concatenate(_toward(found)),
            release=np.array([jobs[number].release for number, _ in found], dtype=np.int64),
        ),
        job=np.array([number for number, _ in found], dtype=np.int64),
        phase=np.array([pipe.phase for _, pipe in found], dtype=np.int64),
        source=source,
        target=target,
    )


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


def _amount(pipe: Pipe, size: int) -> int:
    """Bytes that cross each edge."""
    return round(pipe.weight * pipe.volume * size)


def _segment(pipe: Pipe, amount: int) -> int:
    """Bytes passed on as one: a ring's chunk, a slice of a tree."""
    if pipe.kind == "ring":
        return max(amount // max(pipe.depth, 1), 1)
    return min(SLICE, max(amount, 1))


def _toward(found: list[tuple[int, Pipe]]) -> list[Ints]:
    """For every edge the next edge to the root of its tree; -1 at the root and round a ring."""
    parts: list[Ints] = []
    base = 0
    for _, pipe in found:
        for _ in _waves(pipe):
            if pipe.kind == "ring":
                parts.append(np.full(len(pipe.source), -1, dtype=np.int64))
            else:
                parts.append(_upward(pipe, base))
            base += len(pipe.source)
    return parts


def _upward(pipe: Pipe, base: int) -> Ints:
    """The edge of each edge's parent, numbered from ``base`` on."""
    ranks = int(max(pipe.source.max(), pipe.target.max())) + 1
    edge_of = np.full(ranks, -1, dtype=np.int64)
    edge_of[pipe.source] = np.arange(len(pipe.source)) + base
    return np.asarray(edge_of[pipe.target])
