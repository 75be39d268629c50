"""From schedules to transfers: the explicit form that the message and fluid engines play."""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from artery.collective.schedules.sizes import Messages, messages
from artery.core.arrays import Ints
from artery.core.system import System
from artery.native.gates import by_steps, joined
from artery.native.work import PICOSECONDS, Gates, Transfers, Whole, Work
from artery.simulator.adding import Adders, adding_transfers
from artery.simulator.coupled.pipes import SLICE
from artery.simulator.explicit.slices import Flow, flow, pieces, sizes, sliced, slices_of, slots_of
from artery.simulator.network.routes import Ends, Routes, by_queue, ends, routes
from artery.simulator.network.wires import Wires
from artery.simulator.placed import Placed
from artery.simulator.scenario import Scenario

Small = NDArray[np.int32]

MOST_TIMES = 200_000
"""Messages up to which the time of each is kept, for the timeline."""

MANY = 200_000
"""Messages from which whole steps are compared, not single pairs: sorting millions takes long."""


@dataclass(frozen=True, slots=True, eq=False)
class Explicit:
    """The work; for every transfer the job and step; the distinct pairs with their paths.

    Of more than ``MOST_TIMES`` transfers it is not kept which each is: ``job``, ``step``, ``rank``
    and ``peer`` are then empty. ``last`` is the first gate of each job's last row, which opens as
    each rank is done.
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
    adds: NDArray[np.bool_]


def transfers_of(job: Placed) -> int:
    """Return how many messages the job sends at most, without building them all."""
    steps = job.schedule.steps
    if not steps:
        return 0
    if sliced(job):
        return slices_of(job)
    if job.schedule.collective == "alltoall":
        # A rank sends a peer in one step all blocks for it, or that go by way of it, at once.
        return job.schedule.ranks * min(round(job.schedule.wire), job.schedule.ports * steps)
    seen = {0, steps // 2, steps - 1}
    most = max(len(job.schedule.step(k).source) for k in seen)
    return most * steps


def blocks_of(job: Placed) -> int:
    """Return the blocks that an all-to-all moves by way of other ranks, each move counted.

    0 where every block goes straight to its target, and for other collectives.
    """
    ranks, moved = job.schedule.ranks, job.schedule.ranks * round(job.schedule.wire)
    passed_on = job.schedule.collective == "alltoall" and moved > ranks * (ranks - 1)
    return moved if passed_on else 0


def explicit(
    system: System, wires: Wires, jobs: tuple[Placed, ...], scenario: Scenario
) -> Explicit:
    """Return the transfers of all ``jobs`` over the paths that the scenario's policy gives."""
    flats = _flats(jobs, scenario)
    many = sum(len(one.size) for one in flats)
    which: Whole
    split = _split(flats, scenario)
    turns = 1 if split else scenario.queue_pairs
    if many >= MANY and scenario.routing in ("ecmp", "static"):
        pairs, entropy, which = _by_step(wires, jobs, flats, turns)
    else:
        pairs, entropy, which = _distinct(wires, jobs, flats, turns)
    told = [(one.step, one.source, one.target) for one in flats] if many <= MOST_TIMES else []
    sent = [(one.size, one.gates) for one in flats]
    adds = np.concatenate([one.adds for one in flats])
    del flats  # of millions of messages their ends are half a hundred megabytes
    if split:
        routed = by_queue(system, wires.network, pairs, scenario, scenario.queue_pairs)
    else:
        routed = routes(system, wires.network, pairs, scenario, entropy)
    path = which if len(routed.start) == len(pairs.source) + 1 else routed.first[which]
    several = routed.first[1:] - routed.first[:-1]
    other = None
    start, link = routed.start, routed.link
    if wires.left is not None:
        single = replace(scenario, routing="ecmp")
        ways = routes(system, wires.left, pairs, single, entropy)
        other = (ways.first[which] + len(start) - 1).astype(np.int32)
        start = np.concatenate([start, ways.start[1:] + len(link)])
        link = np.concatenate([link, ways.link])
    moved = Transfers(
        sent[0][0] if len(sent) == 1 else np.concatenate([size for size, _ in sent]),
        path.astype(np.int32, copy=False),
        start,
        link,
        spread=several[which].astype(np.int32) if (several > 1).any() else None,
        other=other,
    )
    adders = Adders.of(wires.network, scenario)
    if adders is not None:
        moved = adding_transfers(adders, moved, pairs, routed, adds)
    gates = sent[0][1] if len(sent) == 1 else joined([one for _, one in sent])
    rows = np.cumsum([len(one.count) for _, one in sent])
    actors = [job.schedule.ranks + job.schedule.switches for job in jobs]
    none = np.zeros(0, dtype=np.int32)
    return Explicit(
        work=Work(wires.links if adders is None else adders.links(wires.links), moved, gates),
        job=np.repeat(np.arange(len(told), dtype=np.int32), [len(one) for one, _, _ in told]),
        step=np.concatenate([none, *(one for one, _, _ in told)]),
        rank=np.concatenate([none, *(one for _, one, _ in told)]),
        peer=np.concatenate([none, *(one for _, _, one in told)]),
        pairs=pairs,
        routed=routed,
        last=tuple(int(end) - many for end, many in zip(rows, actors, strict=True)),
    )


def _split(flats: list[_Flat], scenario: Scenario) -> bool:
    """Return whether every message is cut over all queue pairs, and not sent over one in turn.

    A library hands slices to its queue pairs in turn (NCCL_IB_QPS_PER_CONNECTION): a message that
    has one for each goes over all of them at once.
    """
    queues = scenario.queue_pairs
    if queues == 1 or scenario.routing not in ("ecmp", "static"):
        return False
    return all((one.size >= queues * SLICE).all() for one in flats)


def _flats(jobs: tuple[Placed, ...], scenario: Scenario) -> list[_Flat]:
    """Return the messages of each job; channels often have one schedule in common."""
    known: dict[tuple[int, int, int], Flow] = {}
    found = []
    for job, many in zip(jobs, pieces(jobs), strict=True):
        if not sliced(job):
            found.append(_flat(job, scenario))
            continue
        slots = slots_of(job)
        name = id(job.schedule), many, slots
        if name not in known:
            known[name] = flow(job.schedule, many, slots)
        one = known[name]
        gates = _delayed(one.gates, job, scenario)
        size = sizes(job, one, many)
        found.append(_Flat(one.source, one.target, size, one.step, gates, one.adds))
    return found


def _flat(job: Placed, scenario: Scenario) -> _Flat:
    steps = [_small(messages(job.schedule, k, job.size)) for k in range(job.schedule.steps)]
    none = np.zeros(0, dtype=np.int32)
    source = np.concatenate([none, *(one for one, _, _, _ in steps)])
    target = np.concatenate([none, *(one for _, one, _, _ in steps)])
    size = np.concatenate([none.astype(np.int64), *(one for _, _, one, _ in steps)])
    adds = np.concatenate([none.astype(np.bool_), *(one for _, _, _, one in steps)])
    step = np.repeat(np.arange(len(steps), dtype=np.int32), [len(one[0]) for one in steps])
    del steps
    actors = job.schedule.ranks + job.schedule.switches
    gates, order = by_steps(source, target, step, actors)
    gates = _delayed(gates, job, scenario)
    if (order[1:] > order[:-1]).all():
        return _Flat(source, target, size, step, gates, adds)
    return _Flat(source[order], target[order], size[order], step[order], gates, adds[order])


def _small(step: Messages) -> tuple[Small, Small, Ints, NDArray[np.bool_]]:
    """Return the arrays of one step's messages, ranks in 32 bits: there are millions."""
    ends = step.source.astype(np.int32), step.target.astype(np.int32)
    return *ends, step.size, step.reduce


def _delayed(gates: Gates, job: Placed, scenario: Scenario) -> Gates:
    """Gates with the job's start and that of late ranks."""
    if not job.release and not scenario.late:
        return gates
    delay: Ints = np.zeros(len(gates.count), dtype=np.int64)
    delay[: job.schedule.ranks] += job.release
    for chip, seconds in scenario.late.items():
        delay[np.flatnonzero(job.chips == chip)] += round(seconds * PICOSECONDS)
    return replace(gates, delay=delay)


def _by_step(
    wires: Wires, jobs: tuple[Placed, ...], flats: list[_Flat], queue_pairs: int
) -> tuple[Ends, Ints | None, Small]:
    """Return the pairs of steps that differ, and which of them each transfer is.

    The same as ``_distinct`` but for pairs that are in two steps which differ: these come twice.
    """
    known: dict[tuple[int, int, bytes], int] = {}
    parts: list[Ends] = []
    turns: list[int] = []
    which: list[Small] = []
    count = 0
    for number, (job, flat) in enumerate(zip(jobs, flats, strict=True)):
        cuts = [0, *(np.flatnonzero(np.diff(flat.step)) + 1).tolist(), len(flat.step)]
        for first, last in pairwise(cuts):
            source, target = flat.source[first:last], flat.target[first:last]
            turn = int(flat.step[first]) % queue_pairs if last > first else 0
            name = (number, turn, blake2b(source.tobytes() + target.tobytes()).digest())
            if name not in known:
                known[name] = count
                parts.append(_narrow(ends(wires.network, job, source, target)))
                turns.append(turn)
                count += last - first
            which.append(np.arange(known[name], known[name] + last - first, dtype=np.int32))
    cut = None
    if any(pairs.cut is not None for pairs in parts):
        cut = np.concatenate([_cuts(pairs) for pairs in parts])
    source_ = np.concatenate([pairs.source for pairs in parts])
    target_ = np.concatenate([pairs.target for pairs in parts])
    entropy = np.repeat(turns, [len(pairs.source) for pairs in parts]) if queue_pairs > 1 else None
    return Ends(source_, target_, cut), entropy, np.concatenate(which)


def _narrow(pairs: Ends) -> Ends:
    """Return the pairs in 32 bits: there are millions."""
    return Ends(pairs.source.astype(np.int32), pairs.target.astype(np.int32), pairs.cut)


def _cuts(pairs: Ends) -> NDArray[np.int8]:
    """Return where the pairs are cut; 0 where they are not."""
    return np.zeros(len(pairs.source), np.int8) if pairs.cut is None else pairs.cut


def _distinct(
    wires: Wires, jobs: tuple[Placed, ...], flats: list[_Flat], queue_pairs: int
) -> tuple[Ends, Ints | None, Ints]:
    """Return the distinct pairs (with their queue pair), and which of them each transfer is."""
    chips = sum(group.count for group in wires.network.groups)
    step = np.concatenate([one.step for one in flats])
    found = [
        ends(wires.network, job, one.source, one.target)
        for job, one in zip(jobs, flats, strict=True)
    ]
    source = np.concatenate([one.source for one in found])
    target = np.concatenate([one.target for one in found])
    if len(found) == 1 and found[0].cut is None and not step.any():
        # The messages of one step have pairs of their own.
        return found[0], None, np.arange(len(source))
    key = source * chips + target
    cuts = any(one.cut is not None for one in found)
    if cuts:
        key = key * 3 + np.concatenate([_cuts(one) for one in found])
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
