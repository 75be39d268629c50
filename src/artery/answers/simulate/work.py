"""``simulate --work``: traces of a whole job (Chakra, GOAL) played on a system's network."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, cast

import numpy as np
from numpy.typing import NDArray

from artery.answers.simulate.work_files import graph_of
from artery.answers.simulate.work_result import RankTime, Stretch, WorkAnswer
from artery.core.arrays import Ints
from artery.errors import InputError, Problem, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from artery.answers.simulate.request import Request
    from artery.collective.library import Library
    from artery.collective.overheads import Overheads
    from artery.core.graph import Operation, TaskGraph
    from artery.core.system import System
    from artery.simulator.placed import Placed
    from artery.simulator.scenario import EngineName, Scenario
    from artery.simulator.tasks import TasksPlayed


PICOSECONDS: Final = 1e12

APART: Final = (
    *("matrix", "background", "slow", "fail_at", "seeds", "algorithm", "size"),
    *("reduce_rate", "offload"),
)
"""What a collective may be asked with, and a work may not."""


def simulate_work(
    file: str, request: Request, tell: Callable[[str], None] = lambda _: None
) -> WorkAnswer:
    """Return what happens when the work in ``file`` runs under ``request``.

    ``file`` is a Chakra trace, a folder of them (one a rank), or a GOAL text; of a single Chakra
    trace every chip runs a copy. ``request`` names the system, the routing, placement, failures,
    engine and seed; its collective is not looked at. Raises ``InputError`` and ``UsageError``.
    """
    from artery.answers.libraries import library_of
    from artery.answers.simulate.asked import failures, order, routing_of, transport_of
    from artery.answers.simulate.down import down
    from artery.answers.simulate.transport import over
    from artery.answers.systems import system_of
    from artery.cluster.routing import network
    from artery.simulator.scenario import Scenario, protocol
    from artery.simulator.tasks import play_tasks

    _check(request)
    system = system_of(request.on, request.overrides)
    tell("reading")
    graph, form, replicated = graph_of(file, system.chips)
    if graph.ranks > system.chips:
        raise InputError(
            Problem(
                field="work",
                found=f"{graph.ranks:,} ranks",
                rule=f"{system.name} has {system.chips:,} chips, one for each rank",
                fix=f"--on with :{graph.ranks} at its end",
            )
        )
    chips = order(request.placement, system, request.seed)[: graph.ranks]
    own = transport_of(system)
    transport = own if request.transport is None else request.transport
    protocol(transport)
    routing = routing_of(request.routing, transport)
    request = replace(request, routing=routing)
    system = system if transport == own else over(system, transport)
    library = library_of(system, request.nccl)
    scenario = Scenario(
        routing=routing,
        transport=transport,
        queue_pairs=request.queue_pairs,
        failed=failures(request.fail_links, network(system))
        if request.fail_links is not None
        else 0.0,
        failed_switches=request.fail_switches,
        store_and_forward=request.store_and_forward,
        engine=cast("EngineName", request.engine),
        seed=request.seed,
    )
    scenario = _shared(system, library, graph, scenario)
    tell(f"playing {len(graph.rank):,} tasks of {graph.ranks:,} ranks")
    played = play_tasks(system, graph, chips, scenario, _layer(system, library))
    answer = _told(request, system, (file, form, replicated), graph, played)
    return replace(answer, down=down(system, scenario))


def _check(request: Request) -> None:
    """Refuse what a work cannot be asked with."""
    usual = type(request)(collective=request.collective, on=request.on)
    for name in APART:
        if getattr(request, name) != getattr(usual, name):
            raise UsageError(f"--{name.replace('_', '-')} is for a collective, not for --work")
    if request.engine in ("coupled", "sampled"):
        raise UsageError(
            f"the {request.engine} engine plays collectives alone; use messages or fluid"
        )
    if request.flow_control not in ("auto", "none"):
        raise UsageError("--work is played with endless buffers; leave --flow-control out")


def _layer(
    system: System, library: Library
) -> Callable[[Operation, Ints], tuple[tuple[Placed, ...], float]]:
    """Return what lays a collective: rings, grouped messages, or what else there is."""
    from artery.simulator.shapes import shaped

    known: dict[tuple[object, ...], tuple[tuple[Placed, ...], float]] = {}

    def lay(operation: Operation, chips: Ints) -> tuple[tuple[Placed, ...], float]:
        key = (operation.collective, operation.size, chips.tobytes())
        if key not in known:
            name = _algorithm(operation)
            channels = shaped(system, operation.collective, name, operation.size, chips)
            known[key] = (channels, _added(system, library, operation).startup)
        return known[key]

    return lay


def _algorithm(operation: Operation) -> str:
    """Return the algorithm: a ring where there is one, else messages at once."""
    from artery.simulator.shapes import algorithms

    able = algorithms(operation.collective)
    return next((one for one in ("ring", "grouped") if one in able), able[0])


def _added(system: System, library: Library, operation: Operation) -> Overheads:
    from artery.collective.overheads import Played, overheads

    asked = Played(
        _algorithm(operation), operation.collective, operation.size, len(operation.ranks)
    )
    return overheads(system, library, asked)


def _shared(system: System, library: Library, graph: TaskGraph, scenario: Scenario) -> Scenario:
    """Return the scenario with the shares of links that the largest collective reaches."""
    from artery.answers.simulate.played import under
    from artery.answers.simulate.transport import share_sent

    sent = share_sent(system, library)
    if not graph.operations:
        return replace(scenario, outside=sent)
    largest = max(graph.operations, key=lambda one: one.size * len(one.ranks))
    added = _added(system, library, largest)
    return under(scenario, added, sent)


def _told(
    request: Request,
    system: System,
    source: tuple[str, str, bool],
    graph: TaskGraph,
    played: TasksPlayed,
) -> WorkAnswer:
    file, form, replicated = source
    done = np.zeros(graph.ranks)
    np.maximum.at(done, graph.rank, played.done / PICOSECONDS)
    busy = _busy(graph, played)
    computes = (graph.partner < 0) & ~_collective(graph)
    return WorkAnswer(
        system=system,
        request={**request.document(), "work": file},
        file=file,
        form=form,
        ranks=graph.ranks,
        tasks=len(graph.rank),
        collectives=len(graph.operations),
        messages=int(graph.sends.sum()),
        seconds=float(done.max(initial=0.0)),
        times=tuple(RankTime(rank, float(end), float(busy[rank])) for rank, end in enumerate(done)),
        critical=_critical(graph, played),
        engine=played.chosen.engine,
        error=played.chosen.error,
        events=played.events,
        links=_hottest(played, request.links),
        replicated=replicated,
        timeless=int((computes & (graph.delay == 0)).sum()) if form == "chakra" else 0,
    )


def _collective(graph: TaskGraph) -> NDArray[np.bool_]:
    """Return which tasks take part in a collective."""
    found = np.zeros(len(graph.rank), dtype=bool)
    for operation in graph.operations:
        found[list(operation.tasks)] = True
    return found


def _busy(graph: TaskGraph, played: TasksPlayed) -> NDArray[np.float64]:
    """Return how long each rank computes, what overlaps counted once."""
    busy = np.zeros(graph.ranks)
    until = np.zeros(graph.ranks)
    computes = np.flatnonzero(graph.delay > 0)
    order = computes[np.argsort(played.begin[computes], kind="stable")]
    for task in order.tolist():
        rank = int(graph.rank[task])
        end = played.done[task]
        busy[rank] += max(0.0, float(end - max(until[rank], played.begin[task])))
        until[rank] = max(until[rank], end)
    return np.asarray(busy / PICOSECONDS)


def _critical(graph: TaskGraph, played: TasksPlayed) -> tuple[Stretch, ...]:
    """Return the path that decides when the last task is done, backwards from it."""
    if not len(graph.rank):
        return ()
    part_of = {task: one for one in graph.operations for task in one.tasks}
    begin, done = played.begin, played.done
    task = int(np.argmax(done))
    until = int(done[task])
    found: list[Stretch] = []
    while True:
        start, kind = task, "compute"
        if task in part_of:
            operation = part_of[task]
            kind = operation.collective
            start = max(operation.tasks, key=lambda one: int(begin[one]))
        elif graph.partner[task] >= 0:
            kind = "message"
            other = int(graph.partner[task])
            if not graph.sends[task] and begin[other] > begin[task]:
                start = other
        if until > begin[start]:
            name = graph.names[start] if graph.names else ""
            seconds = (until - int(begin[start])) / PICOSECONDS
            found.append(Stretch(int(graph.rank[start]), kind, name, seconds))
        until = int(begin[start])
        before = range(int(graph.start[start]), int(graph.start[start + 1]))
        ends = {
            place: int((begin if graph.begun[place] else done)[graph.after[place]])
            for place in before
        }
        if not ends or not until:
            return tuple(reversed(found))
        task = int(graph.after[max(ends, key=ends.__getitem__)])


def _hottest(played: TasksPlayed, count: int) -> tuple[tuple[str, float], ...]:
    """Return the links that send longest, with the share of the whole time."""
    from artery.simulator.loads import vertex

    whole = int(played.done.max(initial=0)) / PICOSECONDS
    busy = played.carried / np.maximum(played.network.rate, 1)
    many = min(count, int(np.count_nonzero(busy)))
    if not many or not whole:
        return ()
    order = np.lexsort((np.arange(len(busy)), -busy))[:many]
    ends, groups = played.network.edges(), played.network.groups
    return tuple(
        (
            f"{vertex(groups, int(ends.source[link]))} -> {vertex(groups, int(ends.target[link]))}",
            float(busy[link] / whole),
        )
        for link in order.tolist()
    )
