"""From schedules to transfers: the explicit form that the message and fluid engines play."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from artery.cluster.routing import Network, Paths, paths
from artery.collective.schedules.sizes import messages
from artery.core.system import System
from artery.errors import InputError, Problem
from artery.native.gates import by_steps, joined
from artery.native.work import Gates, Links, Longs, Transfers, Work
from artery.simulator.placed import Ints, Placed
from artery.simulator.scenario import POLICY, Scenario


@dataclass(frozen=True, slots=True, eq=False)
class Explicit:
    """The work, and for every transfer its job, its ranks and its step."""

    work: Work
    job: Ints
    source: Ints
    target: Ints
    step: Ints
    routed: Paths


@dataclass(frozen=True, slots=True, eq=False)
class _Flat:
    """All messages of one job, step after step."""

    source: Ints
    target: Ints
    size: Ints
    step: Ints


def transfers_of(job: Placed) -> int:
    """Return how many messages the job sends, without building them all."""
    steps = job.schedule.steps
    if not steps:
        return 0
    seen = {0, steps // 2, steps - 1}
    most = max(len(job.schedule.step(k).source) for k in seen)
    return most * steps


def explicit(
    system: System, network: Network, jobs: tuple[Placed, ...], scenario: Scenario
) -> Explicit:
    """Return the transfers of all ``jobs`` over the paths that the scenario's policy gives.

    Raises ``InputError`` for a schedule whose switches would have to be played as chips.
    """
    parts: list[tuple[_Flat, Gates]] = []
    for job in jobs:
        if job.schedule.switches:
            raise _in_network(job)
        flat = _flat(job)
        gates, order = by_steps(flat.source, flat.target, flat.step, job.schedule.ranks)
        gates = _delayed(gates, job, scenario)
        parts.append((_ordered(flat, order.astype(np.int64)), gates))
    flats = [flat for flat, _ in parts]
    routed = _routed(system, network, jobs, flats, scenario)
    every = np.concatenate([flat.size for flat in flats])
    links = Links(network.rate, network.latency)
    spread = None
    path = np.arange(len(every), dtype=np.int32)
    if scenario.routing == "spray":
        first = np.searchsorted(routed.pair, np.arange(len(every)))
        path = first.astype(np.int32)
        spread = np.bincount(routed.pair, minlength=len(every)).astype(np.int32)
    moved = Transfers(every, path, routed.start, routed.link, spread=spread)
    return Explicit(
        work=Work(links, moved, joined([gates for _, gates in parts])),
        job=np.repeat(np.arange(len(jobs)), [len(flat.size) for flat in flats]),
        source=np.concatenate([flat.source for flat in flats]),
        target=np.concatenate([flat.target for flat in flats]),
        step=np.concatenate([flat.step for flat in flats]),
        routed=routed,
    )


def _flat(job: Placed) -> _Flat:
    steps = [messages(job.schedule, k, job.size) for k in range(job.schedule.steps)]
    count = [len(step.source) for step in steps]
    empty = np.zeros(0, dtype=np.int64)
    return _Flat(
        np.concatenate([empty, *(step.source for step in steps)]),
        np.concatenate([empty, *(step.target for step in steps)]),
        np.concatenate([empty, *(step.size for step in steps)]),
        np.repeat(np.arange(len(steps)), count),
    )


def _ordered(flat: _Flat, order: Ints) -> _Flat:
    return _Flat(flat.source[order], flat.target[order], flat.size[order], flat.step[order])


def _delayed(gates: Gates, job: Placed, scenario: Scenario) -> Gates:
    """Gates with the job's start, and slow ranks' delay before each of their steps."""
    if not job.release and not scenario.slow:
        return gates
    ranks = job.schedule.ranks
    delay: Longs = np.zeros(len(gates.count), dtype=np.int64)
    delay[:ranks] += job.release
    return replace(gates, delay=delay)


def _routed(
    system: System,
    network: Network,
    jobs: tuple[Placed, ...],
    flats: list[_Flat],
    scenario: Scenario,
) -> Paths:
    source = np.concatenate([job.chips[f.source] for job, f in zip(jobs, flats, strict=True)])
    target = np.concatenate([job.chips[f.target] for job, f in zip(jobs, flats, strict=True)])
    entropy = None
    if scenario.queue_pairs > 1:
        entropy = np.concatenate([f.step % scenario.queue_pairs for f in flats])
    policy = POLICY[scenario.routing]
    return paths(system, network, source, target, entropy, policy=policy, seed=scenario.seed)


def _in_network(job: Placed) -> InputError:
    return InputError(
        Problem(
            field="algorithm",
            found=job.schedule.name,
            rule="its switches add and copy: it is played as coupled pipes, not message by message",
            fix="--engine coupled",
        )
    )
