"""From schedules to transfers: the explicit form that the message and fluid engines play."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from artery.collective.schedules.sizes import messages
from artery.core.system import System
from artery.native.gates import by_steps, joined
from artery.native.work import PICOSECONDS, Gates, Transfers, Work
from artery.simulator.placed import Ints, Placed
from artery.simulator.routes import Ends, Routes, ends, routes
from artery.simulator.scenario import Scenario
from artery.simulator.wires import Wires

Small = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Explicit:
    """The work; for every transfer the job and step; the distinct pairs with their paths.

    ``last`` is the first gate of each job's last row, which opens as each rank is done.
    """

    work: Work
    job: Small
    step: Small
    rank: Small
    peer: Small
    pairs: Ends
    routed: Routes
    last: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Flat:
    """All messages of one job in the order that its gates want."""

    source: Small
    target: Small
    size: Ints
    step: Small
    gates: Gates


def transfers_of(job: Placed) -> int:
    """Return how many messages the job sends at most, without building them all."""
    steps = job.schedule.steps
    if not steps:
        return 0
    if steps == 1 and job.schedule.collective == "alltoall":
        return job.schedule.ranks * (job.schedule.ranks - 1)
    seen = {0, steps // 2, steps - 1}
    most = max(len(job.schedule.step(k).source) for k in seen)
    return most * steps


def explicit(
    system: System, wires: Wires, jobs: tuple[Placed, ...], scenario: Scenario
) -> Explicit:
    """Return the transfers of all ``jobs`` over the paths that the scenario's policy gives."""
    flats = [_flat(job, scenario) for job in jobs]
    found = [
        ends(wires.network, job, one.source, one.target)
        for job, one in zip(jobs, flats, strict=True)
    ]
    step = np.concatenate([one.step for one in flats])
    pairs, entropy, which = _distinct(found, step, system.chips, scenario.queue_pairs)
    routed = routes(system, wires.network, pairs, scenario, entropy)
    size = np.concatenate([one.size for one in flats])
    several = np.diff(routed.first)
    other = None
    start, link = routed.start, routed.link
    if wires.left is not None:
        single = replace(scenario, routing="ecmp")
        ways = routes(system, wires.left, pairs, single, entropy)
        other = (ways.first[which] + len(start) - 1).astype(np.int32)
        start = np.concatenate([start, ways.start[1:] + len(link)])
        link = np.concatenate([link, ways.link])
    moved = Transfers(
        size,
        routed.first[which].astype(np.int32),
        start,
        link,
        spread=several[which].astype(np.int32) if (several > 1).any() else None,
        other=other,
    )
    gates = flats[0].gates if len(flats) == 1 else joined([one.gates for one in flats])
    rows = np.cumsum([len(one.gates.count) for one in flats])
    actors = [job.schedule.ranks + job.schedule.switches for job in jobs]
    return Explicit(
        work=Work(wires.links, moved, gates),
        job=np.repeat(np.arange(len(jobs), dtype=np.int32), [len(one.size) for one in flats]),
        step=step,
        rank=np.concatenate([one.source for one in flats]),
        peer=np.concatenate([one.target for one in flats]),
        pairs=pairs,
        routed=routed,
        last=tuple(int(end) - many for end, many in zip(rows, actors, strict=True)),
    )


def _flat(job: Placed, scenario: Scenario) -> _Flat:
    steps = [messages(job.schedule, k, job.size) for k in range(job.schedule.steps)]
    none = np.zeros(0, dtype=np.int32)
    source = np.concatenate([none, *(step.source.astype(np.int32) for step in steps)])
    target = np.concatenate([none, *(step.target.astype(np.int32) for step in steps)])
    size = np.concatenate([none.astype(np.int64), *(step.size for step in steps)])
    step = np.repeat(np.arange(len(steps), dtype=np.int32), [len(step.source) for step in steps])
    actors = job.schedule.ranks + job.schedule.switches
    gates, order = by_steps(source, target, step, actors)
    gates = _delayed(gates, job, scenario)
    return _Flat(source[order], target[order], size[order], step[order], gates)


def _delayed(gates: Gates, job: Placed, scenario: Scenario) -> Gates:
    """Gates with the job's start and that of late ranks."""
    if not job.release and not scenario.late:
        return gates
    delay: Ints = np.zeros(len(gates.count), dtype=np.int64)
    delay[: job.schedule.ranks] += job.release
    for chip, seconds in scenario.late.items():
        delay[np.flatnonzero(job.chips == chip)] += round(seconds * PICOSECONDS)
    return replace(gates, delay=delay)


def _distinct(
    found: list[Ends], step: Small, chips: int, queue_pairs: int
) -> tuple[Ends, Ints | None, Ints]:
    """Return the distinct pairs (with their queue pair), and which of them each transfer is."""
    source = np.concatenate([one.source for one in found])
    target = np.concatenate([one.target for one in found])
    if len(found) == 1 and found[0].cut is None and not step.any():
        # The messages of one step have pairs of their own.
        return found[0], None, np.arange(len(source))
    key = source * chips + target
    cuts = any(one.cut is not None for one in found)
    if cuts:
        none = [np.zeros(len(one.source), np.int8) if one.cut is None else one.cut for one in found]
        key = key * 3 + np.concatenate(none)
    if queue_pairs > 1:
        key = key * queue_pairs + step % queue_pairs
    unique, which = np.unique(key, return_inverse=True)
    entropy = None
    if queue_pairs > 1:
        unique, entropy = np.divmod(unique, queue_pairs)
    cut = None
    if cuts:
        unique, cut = unique // 3, (unique % 3).astype(np.int8)
    return Ends(unique // chips, unique % chips, cut), entropy, which
