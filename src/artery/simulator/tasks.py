"""A graph of tasks played: computation as delays, messages and collectives on the network.

Every task has two gates: it begins when all that it waits for is done, and it is done when its
computation has passed, its message has left or arrived, or its rank is through a collective.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from artery.cluster.routing import Network
from artery.collective.schedules.transfers import transfers
from artery.core.arrays import Ints
from artery.core.graph import Operation, TaskGraph
from artery.core.schedule import Schedule
from artery.core.system import System
from artery.errors import InputError, Problem
from artery.native.fluid import fluid
from artery.native.gates import listed
from artery.native.messages import messages
from artery.native.work import PICOSECONDS, Gates
from artery.simulator.choice import MOST_MESSAGES, Chosen, choose
from artery.simulator.explicit.transport import transport_of
from artery.simulator.explicit.work import Explicit, explicit, transfers_of
from artery.simulator.network.wires import wired
from artery.simulator.placed import Placed, check
from artery.simulator.scenario import Scenario
from artery.simulator.simulate import MOST_SECONDS, check_time

Lay = Callable[[Operation, Ints], tuple[tuple[Placed, ...], float]]
"""The channels of a collective over ranks on some chips, and the seconds that its start costs."""


@dataclass(frozen=True, slots=True, eq=False)
class TasksPlayed:
    """When each task began and was done, ps; bytes per link of ``network``; and the engine."""

    begin: Ints
    done: Ints
    network: Network
    carried: Ints
    chosen: Chosen
    events: int


@dataclass(frozen=True, slots=True, eq=False)
class _Laid:
    """Channels as jobs, and by job the tasks of its ranks: a send and a receive, or a collective's.

    ``tasks`` are in the order of the job's chips; ``late`` is when each task is done after its
    last gate, ps.
    """

    jobs: tuple[Placed, ...]
    tasks: tuple[Ints, ...]
    late: Ints


def play_tasks(
    system: System, graph: TaskGraph, chips: Ints, scenario: Scenario, lay: Lay
) -> TasksPlayed:
    """Return what happens when rank r of the graph runs on ``chips[r]``.

    Raises ``InputError`` for more ranks than chips, tasks that wait for each other across ranks,
    and works that are too large.
    """
    laid = _laid(graph, chips, lay)
    check(laid.jobs, system.chips)
    engine = "messages" if scenario.engine == "auto" else scenario.engine
    scenario = replace(scenario, engine=engine)
    _refuse_many(laid.jobs)
    _refuse_long(graph)
    chosen = choose(laid.jobs, scenario)
    wires = wired(system, scenario)
    check_time(laid.jobs, wires, scenario)
    if not laid.jobs:
        begin, done = _opened(_linked(_nothing(), graph, laid, ()), graph)
        return TasksPlayed(begin, done, wires.network, wires.network.rate * 0, chosen, 0)
    whole = explicit(system, wires, laid.jobs, scenario)
    gates = _linked(whole.work.gates, graph, laid, _rows(whole, laid.jobs))
    work = whole.work._replace(gates=gates)
    if chosen.engine == "fluid":
        played = fluid(work).played
    else:
        played = messages(work, transport_of(system, scenario, chosen), None, times=False)
    first = len(gates.count) - 2 * len(graph.rank)
    begin, done = played.opened[first::2], played.opened[first + 1 :: 2]
    _refuse_stuck(graph, begin, done)
    return TasksPlayed(begin, done, wires.network, played.bytes, chosen, played.events)


def _refuse_many(jobs: tuple[Placed, ...]) -> None:
    """Refuse more messages than are played one by one."""
    each = {id(job.schedule): transfers_of(job) for job in jobs}
    count = sum(each[id(job.schedule)] for job in jobs)
    if count > MOST_MESSAGES:
        raise InputError(
            Problem(
                field="work",
                found=f"{count:,} messages, those of the collectives included",
                rule=f"at most {MOST_MESSAGES:,} are played one by one",
                fix="fewer steps of the job, or the ranks of fewer groups",
            )
        )


def _refuse_long(graph: TaskGraph) -> None:
    """Refuse computation that might take longer than picoseconds count in 64 bits.

    No path of tasks takes longer than all of them one after the other.
    """
    seconds = float(graph.delay.sum(dtype=np.float64)) / PICOSECONDS
    if seconds > MOST_SECONDS:
        raise InputError(
            Problem(
                field="work",
                found=f"{seconds:,.0f} s of computation on all ranks together",
                rule=f"works of at most {MOST_SECONDS:,.0f} s are played",
                fix="fewer steps of the job",
            )
        )


def _laid(graph: TaskGraph, chips: Ints, lay: Lay) -> _Laid:
    """Return every collective and message as jobs of their own."""
    jobs: list[Placed] = []
    tasks: list[Ints] = []
    late = graph.delay.copy()
    for operation in graph.operations:
        where, own = chips[list(operation.ranks)], np.array(operation.tasks)
        if len(where) < 2 or not operation.size:
            continue
        channels, start = lay(operation, where)
        late[own] += round(start * PICOSECONDS)
        for channel in channels:
            order = np.argsort(where, kind="stable")
            place = order[np.searchsorted(where[order], channel.chips)]
            jobs.append(replace(channel, job=len(jobs)))
            tasks.append(own[place])
    for task in np.flatnonzero(graph.sends & (graph.size > 0)).tolist():
        other = int(graph.partner[task])
        ends = chips[[graph.rank[task], graph.rank[other]]]
        if ends[0] != ends[1]:
            jobs.append(Placed(_message(), int(graph.size[task]), ends, job=len(jobs)))
            tasks.append(np.array([task, other]))
    return _Laid(tuple(jobs), tuple(tasks), late)


@cache
def _message() -> Schedule:
    """Return a message from rank 0 to rank 1."""
    return Schedule("message", "sendrecv", 2, 2, 1, lambda _: transfers(0, 1, 0), 1.0)


def _rows(whole: Explicit, jobs: Sequence[Placed]) -> tuple[tuple[int, int], ...]:
    """Return the first gate of each job's first and last row."""
    found = []
    begin = 0
    for job, last in zip(jobs, whole.last, strict=True):
        found.append((begin, last))
        begin = last + job.schedule.ranks + job.schedule.switches
    return tuple(found)


def _nothing() -> Gates:
    none, one = np.zeros(0, np.int32), np.zeros(1, np.int32)
    return Gates(none, one, one, none, none, none, np.zeros(0, np.int64))


def _linked(
    gates: Gates, graph: TaskGraph, laid: _Laid, rows: tuple[tuple[int, int], ...]
) -> Gates:
    """Return the gates with two more for every task, which open and follow those of the jobs."""
    gates = listed(gates)
    old, tasks = len(gates.count), len(graph.rank)
    begin, done = old + 2 * np.arange(tasks), old + 2 * np.arange(tasks) + 1
    waits = np.repeat(np.arange(tasks), np.diff(graph.start))
    before = np.where(graph.begun, begin[graph.after], done[graph.after])
    pairs = [(before, begin[waits]), (begin, done)]
    # A receive whose message costs nothing still waits for its send.
    receives = np.flatnonzero(~graph.sends & (graph.partner >= 0))
    pairs.append((begin[graph.partner[receives]], done[receives]))
    for own, (first, last), job in zip(laid.tasks, rows, laid.jobs, strict=True):
        actor = np.arange(len(own))
        starts = actor[:1] if job.schedule.name == "message" else actor
        pairs += [(begin[own[starts]], first + starts), (last + actor, done[own])]
    signal = np.concatenate([one for one, _ in pairs])
    follows = np.concatenate([other for _, other in pairs])
    total = old + 2 * tasks
    source = np.concatenate([np.repeat(np.arange(old), np.diff(gates.then_start)), signal])
    then = np.concatenate([gates.then, follows])
    order = np.argsort(source, kind="stable")
    count = np.concatenate([gates.count, np.zeros(2 * tasks, np.int32)])
    count = count + np.bincount(follows, minlength=total)
    delay = np.zeros(total, np.int64)
    if gates.delay is not None:
        delay[:old] = gates.delay
    delay[done] = laid.late
    return Gates(
        count.astype(np.int32),
        np.concatenate([gates.first, np.full(2 * tasks, gates.first[-1])]).astype(np.int32),
        np.concatenate([[0], np.cumsum(np.bincount(source, minlength=total))]).astype(np.int32),
        then[order].astype(np.int32),
        gates.sent,
        gates.delivered,
        delay,
    )


def _opened(gates: Gates, graph: TaskGraph) -> tuple[Ints, Ints]:
    """Return when tasks begin and are done if nothing is on the network."""
    from artery.native.gates import Opener

    opener = Opener(gates, lambda transfer, time: None)
    opener.open_roots()
    found = opener.closed()
    _refuse_stuck(graph, found[::2], found[1::2])
    return found[::2], found[1::2]


def _refuse_stuck(graph: TaskGraph, begin: Ints, done: Ints) -> None:
    stuck = np.flatnonzero((begin < 0) | (done < 0))
    if len(stuck):
        one = int(stuck[0])
        name = graph.names[one] if graph.names else f"task {one}"
        raise InputError(
            Problem(
                field="work",
                found=f"{name} of rank {int(graph.rank[one])} never ends",
                rule="ranks wait for each other (a deadlock): all do collectives in one order",
                fix="the traces of one run",
            )
        )
