"""``simulate``: plays collectives on a system under a scenario, and says what came out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from artery.cluster.routing import Network
from artery.core.system import System
from artery.errors import InputError, Problem
from artery.native.coupled import Steady, coupled
from artery.native.fluid import fluid
from artery.native.messages import Buffers, Transport, messages
from artery.native.work import PICOSECONDS, Links, Played, Work
from artery.simulator.adding import Adders, Adding, adding_pipes
from artery.simulator.buffers import buffers, control_of
from artery.simulator.choice import (
    BETWEEN,
    BROKEN,
    ERROR,
    TREES,
    Chosen,
    again,
    choose,
    sliced,
)
from artery.simulator.fold import Alike
from artery.simulator.pipes import Coupled, coupled_pipes
from artery.simulator.placed import Ints, Placed, check
from artery.simulator.routes import Ends, Routes
from artery.simulator.sampled import loads
from artery.simulator.scenario import Scenario
from artery.simulator.transport import transport_of
from artery.simulator.wires import Wires, wired
from artery.simulator.work import MOST_TIMES, Explicit, explicit

Floats = NDArray[np.float64]

MOST_SECONDS: Final = 1e6
"""Bytes over the slowest link up to which a run is played: eleven days; the engines' clocks hold
nine times as much."""


@dataclass(frozen=True, slots=True, eq=False)
class Messages:
    """Every message: job, step, ends, bytes; when it left and arrived, ps.

    ``source`` and ``target`` are chips; -1 is a switch. ``opened`` is when it could start.
    """

    job: NDArray[np.int32]
    step: NDArray[np.int32]
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    size: Ints
    opened: Ints
    sent: Ints
    delivered: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Simulation:
    """What came out of one run.

    ``seconds`` until the last byte of all jobs, ``jobs`` of each job from its start; ``finish`` of
    every rank by job, empty where the engine does not know it. ``carried`` bytes per directed link
    of ``network``. ``chosen`` names the engine; ``events`` counts what it did; ``unfinished`` are
    messages, or pipes, that never arrived. ``pairs`` are the chips that sent, with their
    ``routed`` paths; ``messages`` are kept where there are few. ``replay`` gives the seconds at
    other rates of the links, paths as they were. ``idle`` says how long full buffers kept each
    link from sending what waited for it, ps (``None``: buffers were taken as endless). ``alike``
    are nodes of which the paths of one are there for all. ``between`` are the seconds of the first
    job in 5 and 95 of a hundred draws where its work was sampled. ``adding`` is who adds longest,
    where adding takes time. ``piped`` are the least seconds of the first job in a pipeline, where
    its messages wait for whole slices (else 0).
    """

    seconds: float
    jobs: tuple[float, ...]
    finish: tuple[Floats, ...]
    carried: Ints
    network: Network
    chosen: Chosen
    events: int
    unfinished: int
    pairs: Ends
    routed: Routes
    messages: Messages | None
    replay: Callable[[Ints], float]
    idle: Ints | None = None
    alike: Alike | None = None
    between: tuple[float, float] | None = None
    piped: float = 0.0
    adding: Adding | None = None


def simulate(system: System, jobs: tuple[Placed, ...], scenario: Scenario) -> Simulation:
    """Return what happens when ``jobs`` run at once on ``system`` under ``scenario``.

    The network only: what a communication library takes to start is added by who asks. Raises
    ``InputError`` for jobs that do not fit the system, chips that failures cut off, and works
    that no engine can play.
    """
    check(jobs, system.chips)
    wires = wired(system, scenario)
    if not wires.network.whole:
        jobs = tuple(_laid_anew(job, wires.network) for job in jobs)
    chosen = choose(jobs, scenario, control_of(system, jobs, scenario))
    check_time(jobs, wires)
    if chosen.engine == "sampled":
        return _sampled(system, wires, jobs[0], scenario, chosen)
    if chosen.engine == "coupled":
        piped = _coupled(system, wires, jobs, scenario, chosen)
        better = again(jobs, scenario, piped.chosen)
        return piped if better is None else _explicit(system, wires, jobs, scenario, better)
    found = _explicit(system, wires, jobs, scenario, chosen)
    if chosen.engine != "messages" or scenario.failing or not sliced(jobs):
        return found
    piped = _coupled(system, wires, jobs, scenario, replace(chosen, error=ERROR["coupled"]))
    return _waiting(found, piped)


def _waiting(found: Simulation, piped: Simulation) -> Simulation:
    """Return the run with an error that tells how much faster the same is in a pipeline.

    Messages of trees and of switches that add wait, step by step, for whole slices; no library
    waits so, whatever else these engines differ in.
    """
    one, other = found.jobs[0], piped.jobs[0]
    error = found.chosen.error
    if one <= 0 or other >= one * (1 - error):
        return found
    least = other * (1 - piped.chosen.error)
    return replace(
        found,
        chosen=replace(found.chosen, error=1 - least / one),
        piped=least,
    )


def _laid_anew(job: Placed, left: Network) -> Placed:
    """Return the job on what is left: trees of switches avoid links that are down."""
    if job.again is None:
        return job
    return replace(job.again(left), size=job.size, release=job.release, job=job.job)


def check_time(jobs: tuple[Placed, ...], wires: Wires) -> None:
    """Refuse what may take longer than picoseconds count in 64 bits, by the slowest link."""
    rate = wires.network.rate[wires.network.rate > 0]
    total = float(sum(job.total for job in jobs))
    seconds = total / float(rate.min()) if len(rate) else 0.0
    if seconds > MOST_SECONDS:
        raise InputError(
            Problem(
                field="size",
                found=f"{total:,.0f} B over links of {float(rate.min()):,.0f} B/s",
                rule=f"a run of at most {MOST_SECONDS:,.0f} s over its slowest link is played",
                fix="a smaller size, or links that are less slow",
            )
        )


def _coupled(
    system: System, wires: Wires, jobs: tuple[Placed, ...], scenario: Scenario, chosen: Chosen
) -> Simulation:
    """Play the jobs' pipes as one variable each."""
    pipes = coupled_pipes(system, wires, jobs, scenario)
    links, adders = wires.links, Adders.of(wires.network, scenario)
    if adders is not None:
        links, pipes = adding_pipes(adders, links, pipes, jobs)
    steady = coupled(links, pipes.pipelines)
    carried = steady.bytes[: len(wires.network.rate)]
    late = _latest(jobs, scenario)
    times = _ends(steady, pipes, late)
    releases = _releases(jobs)
    return Simulation(
        seconds=max((one + two for one, two in zip(releases, times, strict=True)), default=0.0),
        jobs=times,
        finish=tuple(np.zeros(0) for _ in times),
        carried=carried if pipes.alike is None else pipes.alike.everywhere(carried),
        network=wires.network,
        chosen=replace(chosen, error=_error(scenario, chosen, wires, pipes, steady)),
        events=steady.flowed.played.events,
        unfinished=int(np.count_nonzero(steady.time < 0)),
        pairs=pipes.pairs,
        routed=pipes.routed,
        messages=None,
        replay=partial(_replayed, links, pipes, late),
        alike=pipes.alike,
        adding=_adding(wires, scenario, steady.bytes),
    )


def _adding(wires: Wires, scenario: Scenario, carried: Ints) -> Adding | None:
    adders = Adders.of(wires.network, scenario)
    return None if adders is None else adders.busiest(carried)


def _sampled(
    system: System, wires: Wires, job: Placed, scenario: Scenario, chosen: Chosen
) -> Simulation:
    """Take the busiest link of an all-to-all by a sample of its messages."""
    found = loads(system, wires, job, scenario)
    message = job.total / job.schedule.ranks
    late = _latest((job,), scenario)[0]

    def replayed(rate: Ints) -> float:
        return found.seconds(message, rate)[1] + late

    least, usual, most = (one + late for one in found.seconds(message, wires.network.rate))
    none = np.zeros(0, dtype=np.int64)
    return Simulation(
        seconds=job.release / PICOSECONDS + usual,
        jobs=(usual,),
        finish=(np.zeros(0),),
        carried=found.carried(message),
        network=wires.network,
        chosen=chosen,
        events=found.paths,
        unfinished=0,
        pairs=Ends(none, none),
        routed=Routes(none[:0], np.zeros(1, dtype=np.int64), none.astype(np.int32)),
        messages=None,
        replay=replayed,
        between=(least, most),
    )


def _error(
    scenario: Scenario, chosen: Chosen, wires: Wires, pipes: Coupled, steady: Steady
) -> float:
    """Return how far off the coupled form may be where its suite found it worse than elsewhere."""
    if _between(steady):
        return BROKEN if scenario.failed or scenario.failed_switches else BETWEEN
    trees = int(np.count_nonzero(pipes.pipelines.depth == 0))
    found = max(TREES, chosen.error) if trees > 1 else chosen.error
    return max(BETWEEN, found) if _meet(wires, pipes, steady) else found


def _meet(wires: Wires, pipes: Coupled, steady: Steady) -> bool:
    """Whether pipes share a link between switches that sends most of the time.

    A link on which there is more than any one pipe brings there is shared.
    """
    cables = wires.network.between
    link = np.concatenate([cables, cables + wires.network.cables])
    if not len(link) or not len(steady.time):
        return False
    carried = steady.bytes[link]
    busy = carried * (PICOSECONDS / wires.network.rate[link])
    alone = int((pipes.pipelines.amount * steady.crossings).max())
    return bool(((busy > steady.time.max() / 2) & (carried > 1.01 * alone)).any())


def _between(steady: Steady) -> bool:
    """Whether the longest of several pipes fills for about as long as it flows."""
    if len(steady.time) < 2:
        return False
    last = int(steady.time.argmax())
    return bool(steady.flow[last] < 2 * steady.fill[last] < 4 * steady.flow[last])


def _replayed(links: Links, pipes: Coupled, late: list[float], rate: Ints) -> float:
    narrow = rate if pipes.alike is None else pipes.alike.narrowest(rate)
    narrow = np.concatenate([narrow, links.rate[len(narrow) :]])
    steady = coupled(replace(links, rate=narrow), pipes.pipelines)
    return max(_ends(steady, pipes, late), default=0.0)


def _releases(jobs: tuple[Placed, ...]) -> list[float]:
    """Return when each job starts, in seconds."""
    many = 1 + max((one.job for one in jobs), default=-1)
    found = [0.0] * many
    for one in jobs:
        found[one.job] = one.release / PICOSECONDS
    return found


def _latest(jobs: tuple[Placed, ...], scenario: Scenario) -> list[float]:
    """Return by how much the last rank of each job begins later: all wait for it."""
    found = [0.0] * len(_releases(jobs))
    for chip, seconds in scenario.late.items():
        for one in jobs:
            if (one.chips == chip).any():
                found[one.job] = max(found[one.job], seconds)
    return found


def _ends(steady: Steady, pipes: Coupled, late: list[float]) -> tuple[float, ...]:
    """Return the seconds of each job: the longest phase, filled through all the others.

    Slices take the phases one after the other, so that the phases overlap but for one slice.
    """
    found = []
    for number, more in enumerate(late):
        mine = pipes.job == number
        phases = np.unique(pipes.phase[mine])
        ends = [int(steady.time[mine & (pipes.phase == p)].max(initial=0)) for p in phases]
        fills = [int(steady.fill[mine & (pipes.phase == p)].max(initial=0)) for p in phases]
        last = int(np.argmax(ends)) if ends else 0
        others = sum(fill for place, fill in enumerate(fills) if place != last)
        found.append((max(ends, default=0) + others) / PICOSECONDS + more)
    return tuple(found)


def _explicit(
    system: System, wires: Wires, jobs: tuple[Placed, ...], scenario: Scenario, chosen: Chosen
) -> Simulation:
    """Play every message."""
    whole = explicit(system, wires, jobs, scenario)
    few = len(whole.work.transfers.size) <= MOST_TIMES
    transport = transport_of(system, scenario, chosen)
    links = len(wires.network.rate)
    every = len(whole.work.links.rate)
    room = buffers(wires.network, scenario, chosen.control, chosen.segment, every)
    played = _play(whole.work, transport, chosen, room, times=few)
    finish = _finish(whole, jobs, played)
    times = tuple(
        float(ranks.max(initial=0.0)) - release
        for ranks, release in zip(finish, _releases(jobs), strict=True)
    )
    return Simulation(
        seconds=max((float(ranks.max(initial=0.0)) for ranks in finish), default=0.0),
        jobs=times,
        finish=finish,
        carried=played.bytes[:links],
        network=wires.network,
        chosen=chosen,
        events=played.events,
        unfinished=played.unfinished,
        pairs=whole.pairs,
        routed=whole.routed,
        messages=_kept(whole, jobs, played) if few else None,
        replay=partial(_again, whole.work, transport, chosen, room),
        idle=None if played.idle is None else played.idle[:links],
        adding=_adding(wires, scenario, played.bytes),
    )


def _finish(whole: Explicit, jobs: tuple[Placed, ...], played: Played) -> tuple[Floats, ...]:
    """Return when each rank of each job is done, in seconds: the last of its channels.

    Ranks are those of the job's first channel: the others are matched by their chips.
    """
    found: dict[int, Floats] = {}
    chips: dict[int, Ints] = {}
    for last, one in zip(whole.last, jobs, strict=True):
        done = played.opened[last : last + one.schedule.ranks] / PICOSECONDS
        if one.job not in found:
            found[one.job], chips[one.job] = done, one.chips
            continue
        place = np.argsort(chips[one.job])[np.argsort(np.argsort(one.chips))]
        np.maximum.at(found[one.job], place, done)
    return tuple(found[job] for job in sorted(found))


def _play(
    work: Work, transport: Transport, chosen: Chosen, room: Buffers | None, *, times: bool
) -> Played:
    if chosen.engine == "fluid":
        return fluid(work).played
    return messages(work, transport, room, times=times)


def _again(
    work: Work, transport: Transport, chosen: Chosen, room: Buffers | None, rate: Ints
) -> float:
    links = replace(work.links, rate=np.concatenate([rate, work.links.rate[len(rate) :]]))
    found = _play(work._replace(links=links), transport, chosen, room, times=False)
    return found.makespan / PICOSECONDS


def _kept(whole: Explicit, jobs: tuple[Placed, ...], played: Played) -> Messages | None:
    if played.sent is None or played.delivered is None:
        return None
    gates = whole.work.gates
    gate = np.repeat(np.arange(len(gates.count)), np.diff(gates.first))
    return Messages(
        job=np.array([one.job for one in jobs], dtype=np.int32)[whole.job],
        step=whole.step,
        source=_chips(whole, jobs, whole.rank),
        target=_chips(whole, jobs, whole.peer),
        size=whole.work.transfers.size,
        opened=played.opened[gate],
        sent=played.sent,
        delivered=played.delivered,
    )


def _chips(
    whole: Explicit, jobs: tuple[Placed, ...], ranks: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Return the chips of ranks, -1 for switches."""
    parts = []
    for number, one in enumerate(jobs):
        mine = ranks[whole.job == number]
        none = np.full(one.schedule.switches, -1, dtype=np.int64)
        parts.append(np.concatenate([one.chips, none])[mine].astype(np.int32))
    return np.concatenate(parts)
