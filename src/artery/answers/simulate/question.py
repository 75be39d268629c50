"""What ``simulate`` is asked: a request read and checked, over the system and network it names."""

from __future__ import annotations

from typing import cast

from artery.answers.libraries import library_of
from artery.answers.simulate import asked as read
from artery.answers.simulate.offload import Offload, offload_of
from artery.answers.simulate.played import Question, beside
from artery.answers.simulate.request import DEFAULT_SIZE, Request
from artery.answers.simulate.transport import changed, over
from artery.answers.systems import system_of
from artery.cluster.routing import network
from artery.core.arrays import Ints
from artery.core.pricing import Collective, named
from artery.core.system import System
from artery.errors import UsageError
from artery.simulator.scenario import EngineName, FlowControl, Scenario, protocol


def question_of(request: Request) -> Question:
    """Return what is asked, everything read and checked."""
    collective = named(request.collective)
    system = system_of(request.on, request.overrides)
    chips = read.order(request.placement, system, request.seed)
    size = _size(request, collective)
    used, jobs = read.background(request.background, chips)
    own = read.transport_of(system)
    transport = own if request.transport is None else request.transport
    protocol(transport)
    library = library_of(system, request.nccl)
    asked = system if transport == own else over(system, transport)
    offload = offload_of(request.offload)
    scenario = _scenario(
        request, system, chips, transport=transport, background=used, offload=offload
    )
    return Question(
        system=asked,
        library=library,
        collective=collective,
        size=size if request.matrix is None else read.matrix(request.matrix, len(chips)),
        chips=chips,
        scenario=scenario,
        others=beside(system, [(named(name), size, where) for name, size, where in jobs]),
        offload=offload,
        transport=changed(
            (system, asked),
            library,
            (own, transport),
            spread=scenario.routing == "spray",
            adding=request.algorithm in ("best", "collnet") or request.offload == "switch",
        ),
    )


def _size(request: Request, collective: Collective) -> int:
    """Return the bytes of a rank's buffer where no matrix says more."""
    size = read.amount(DEFAULT_SIZE if request.size is None else request.size, "size")
    if request.matrix is not None and collective != "alltoall":
        raise UsageError(f"--matrix is what all-to-all sends; {collective} has one size")
    if request.matrix is not None and request.size is not None:
        raise UsageError(
            "--matrix says how much every rank sends to each, and --size would say it again; "
            "leave one of them out"
        )
    return size


def _scenario(
    request: Request,
    system: System,
    chips: Ints,
    *,
    transport: str,
    background: float,
    offload: Offload,
) -> Scenario:
    """Return the conditions that the collective is played under."""
    slow, late = read.slow_ranks(request.slow, chips)
    return Scenario(
        routing=read.routing_of(request.routing, transport),
        transport=transport,
        queue_pairs=request.queue_pairs,
        failed=read.failures(request.fail_links, network(system))
        if request.fail_links is not None
        else 0.0,
        failed_switches=request.fail_switches,
        failing=read.moment(request.fail_at, "fail-at"),
        slow=slow,
        late=late,
        background=background,
        store_and_forward=request.store_and_forward,
        flow_control=cast("FlowControl", request.flow_control),
        adding=read.adding(request.reduce_rate, system),
        card_adding=(offload.card.adding if offload.card is not None else None) or 0.0,
        engine=cast("EngineName", request.engine),
        seed=request.seed,
    )
