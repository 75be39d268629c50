"""Jobs message by message: run through the message or the fluid engine."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from artery.core.arrays import Floats, Ints
from artery.core.system import System
from artery.native.fluid import fluid
from artery.native.messages import Buffers, Transport, messages
from artery.native.work import PICOSECONDS, Played, Work
from artery.simulator.adding import busiest
from artery.simulator.choice import Chosen, untimed
from artery.simulator.explicit.transport import transport_of
from artery.simulator.explicit.work import MOST_TIMES, Explicit, explicit
from artery.simulator.network.buffers import buffers
from artery.simulator.network.wires import Wires
from artery.simulator.placed import Placed, releases
from artery.simulator.scenario import Scenario
from artery.simulator.simulation import Messages, Simulation


def run_explicit(
    system: System, wires: Wires, jobs: tuple[Placed, ...], scenario: Scenario, chosen: Chosen
) -> Simulation:
    """Return what comes out where every message is played."""
    whole = explicit(system, wires, jobs, scenario)
    many = len(whole.work.transfers.size)
    few = many <= MOST_TIMES
    if scenario.timed and not few:
        raise untimed(chosen.engine, many)
    transport = transport_of(system, scenario, chosen)
    links = len(wires.network.rate)
    every = len(whole.work.links.rate)
    room = buffers(wires.network, scenario, chosen.control, chosen.segment, every)
    played = _play(whole.work, transport, chosen, room, times=few)
    finish = _finish(whole, jobs, played)
    times = tuple(
        float(ranks.max(initial=0.0)) - release
        for ranks, release in zip(finish, releases(jobs), strict=True)
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
        adding=busiest(wires.network, scenario, played.bytes),
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
    found = _play(work._replace(links=work.links.at(rate)), transport, chosen, room, times=False)
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
