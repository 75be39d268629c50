"""``simulate``: plays collectives on a system under a scenario, and says what came out."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from artery.cluster.routing import Network, network
from artery.core.system import System
from artery.native.coupled import coupled
from artery.native.fluid import fluid
from artery.native.messages import WHOLE, Transport, messages
from artery.native.work import PICOSECONDS, Links, Played
from artery.simulator.choice import Chosen, choose
from artery.simulator.pipes import Coupled, coupled_pipes
from artery.simulator.placed import Ints, Placed, check
from artery.simulator.scenario import Protocol, Scenario, protocol
from artery.simulator.work import Explicit, explicit

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Simulation:
    """What came out of one run.

    ``seconds`` until the last byte of all jobs, ``jobs`` of each job from its start; ``finish`` of
    every rank by job, where the engine knows it. ``carried`` bytes per directed link of
    ``network``. ``chosen`` names the engine; ``events`` counts what it did; ``unfinished`` are
    messages that never arrived. ``edges`` are the pairs of chips that sent, with their paths.
    """

    seconds: float
    jobs: tuple[float, ...]
    finish: tuple[Floats, ...]
    carried: Ints
    network: Network
    chosen: Chosen
    events: int
    unfinished: int
    edges: Edges


@dataclass(frozen=True, slots=True, eq=False)
class Edges:
    """Who sent to whom over which links: edge e crosses ``link[start[e]:start[e + 1]]``."""

    source: Ints
    target: Ints
    start: Ints
    link: NDArray[np.int32]


def simulate(system: System, jobs: tuple[Placed, ...], scenario: Scenario) -> Simulation:
    """Return what happens when ``jobs`` run at once on ``system`` under ``scenario``.

    Hardware only: the software latency of a communication library is added by who asks. Raises
    ``InputError`` for jobs that do not fit the system, chips that failures cut off, and works
    that no engine can play.
    """
    check(jobs, system.chips)
    known = protocol(scenario.transport)
    wires = network(system)
    if scenario.failed:
        wires = wires.fail(scenario.failed, scenario.seed)
    wires = _slowed(wires, known)
    chosen = choose(jobs, scenario)
    if chosen.engine == "coupled":
        return _coupled(system, wires, jobs, scenario, chosen)
    return _explicit(system, wires, jobs, scenario, chosen)


def _slowed(wires: Network, known: Protocol) -> Network:
    """The network at the rates that the transport reaches."""
    if known.efficiency == 1.0:
        return wires
    return replace(wires, rate=(wires.rate * known.efficiency).astype(np.int64))


def _coupled(
    system: System, wires: Network, jobs: tuple[Placed, ...], scenario: Scenario, chosen: Chosen
) -> Simulation:
    """Play the jobs' pipes as one variable each; phases follow one another."""
    pipes = coupled_pipes(system, wires, jobs, scenario)
    steady = coupled(Links(wires.rate, wires.latency), pipes.pipelines)
    times = []
    for number in range(len(jobs)):
        mine = pipes.job == number
        phases = np.unique(pipes.phase[mine])
        longest = [steady.time[mine & (pipes.phase == p)].max(initial=0) for p in phases]
        times.append(sum(int(one) for one in longest) / PICOSECONDS)
    ends = [job.release / PICOSECONDS + time for job, time in zip(jobs, times, strict=True)]
    return Simulation(
        seconds=max(ends, default=0.0),
        jobs=tuple(times),
        finish=tuple(np.zeros(0) for _ in jobs),
        carried=steady.bytes,
        network=wires,
        chosen=chosen,
        events=steady.flowed.played.events,
        unfinished=int(np.count_nonzero(steady.time < 0)),
        edges=_pipe_edges(pipes),
    )


def _pipe_edges(pipes: Coupled) -> Edges:
    return Edges(pipes.source, pipes.target, pipes.pipelines.start, pipes.pipelines.link)


def _explicit(
    system: System, wires: Network, jobs: tuple[Placed, ...], scenario: Scenario, chosen: Chosen
) -> Simulation:
    """Play every message."""
    whole = explicit(system, wires, jobs, scenario)
    played = _play(whole, scenario, chosen)
    finish = _finish(whole, jobs, played)
    times = [
        float(ranks.max(initial=0.0)) - job.release / PICOSECONDS
        for ranks, job in zip(finish, jobs, strict=True)
    ]
    routed = whole.work.transfers
    chips = [np.stack([job.chips]) for job in jobs]
    source = np.concatenate([c[0][whole.source[whole.job == i]] for i, c in enumerate(chips)])
    target = np.concatenate([c[0][whole.target[whole.job == i]] for i, c in enumerate(chips)])
    return Simulation(
        seconds=played.makespan / PICOSECONDS,
        jobs=tuple(times),
        finish=finish,
        carried=played.bytes,
        network=wires,
        chosen=chosen,
        events=played.events,
        unfinished=played.unfinished,
        edges=Edges(source, target, routed.start, routed.link),
    )


def _play(whole: Explicit, scenario: Scenario, chosen: Chosen) -> Played:
    if chosen.engine == "fluid":
        return fluid(whole.work).played
    known = protocol(scenario.transport)
    packet = WHOLE if scenario.store_and_forward else 0
    return messages(whole.work, Transport(known.segment, known.window, packet), times=False)


def _finish(whole: Explicit, jobs: tuple[Placed, ...], played: Played) -> tuple[Floats, ...]:
    """When each rank of each job is done, in seconds: the last row of its gates."""
    found = []
    end = 0
    for job in jobs:
        ranks = job.schedule.ranks
        end += (_steps(whole, jobs, job) + 1) * ranks
        found.append(played.opened[end - ranks : end] / PICOSECONDS)
    return tuple(found)


def _steps(whole: Explicit, jobs: tuple[Placed, ...], job: Placed) -> int:
    mine = whole.step[whole.job == jobs.index(job)]
    return int(mine.max()) + 1 if len(mine) else 0
