"""``simulate``: a collective played on a system's network, link by link."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Final, cast

from artery.answers.numbers import own_numbers
from artery.answers.simulate.request import DEFAULT_SIZE, Request
from artery.answers.telling import Heard, nobody
from artery.core.pricing import named
from artery.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from artery.answers.simulate.played import Laid, Outcome, Question
    from artery.answers.simulate.result import Note, SimulateAnswer, Tried
    from artery.simulator.scenario import EngineName, FlowControl
    from artery.simulator.seeds import Range

RELIEVED: Final = 3
"""Links of which it is tried what doubling them gains."""

MOST_FINISHES: Final = 4096
"""Ranks up to which the answer says when each is done."""


@own_numbers
def simulate(
    collective: str,
    on: str,
    **options: Any,  # noqa: ANN401 - the fields of Request, each typed there
) -> SimulateAnswer:
    """Return how long ``collective`` takes on system ``on`` when it is played on the network.

    ``options`` are the fields of :class:`artery.answers.simulate.request.Request`. Raises
    :class:`artery.errors.InputError` and :class:`artery.errors.UsageError`.
    """
    return watched(nobody, collective, on, **options)


def watched(
    tell: Heard,
    collective: str,
    on: str,
    *,
    laid: Laid | None = None,
    timed: bool = False,
    **options: Any,  # noqa: ANN401 - the fields of Request, each typed there
) -> SimulateAnswer:
    """Return what :func:`simulate` returns; ``tell`` is told what is being done.

    ``laid`` is told what is played before it is, of ``best`` afterwards. Where every message must
    be ``timed``, what cannot be is refused before it is played.
    """
    known = {field.name for field in fields(Request)} - {"collective", "on"}
    for name in options:
        if name not in known:
            raise UnknownNameError("option of simulate", name, sorted(known))
    request = Request(collective=collective, on=on, **options)
    request.check()
    tell("laying the network out")
    question = _question(request)
    question = replace(question, scenario=replace(question.scenario, timed=timed))
    return _answer(replace(request, routing=question.scenario.routing), question, tell, laid)


def twins() -> str | None:
    """Return why the loops run in Python, ``None`` where they are compiled."""
    from artery.native import core

    found = core()
    return found.detail if found.library is None else None


def _answer(request: Request, question: Question, tell: Heard, laid: Laid | None) -> SimulateAnswer:
    """Play what was asked."""
    from artery.answers.simulate.played import fastest, play

    tried: tuple[Tried, ...] = ()
    replaced = False
    if request.algorithm == "best":
        # What is fastest of all has no less to do with a file that it may not go into.
        free = replace(question, scenario=replace(question.scenario, timed=False))
        outcome, tried = fastest(free, tell)
        if laid is not None:
            laid(outcome.jobs, outcome.simulation.chosen.engine)
    else:
        name, replaced = _algorithm(question, request.algorithm)
        tell(f"playing {name}")
        outcome = play(question, name, laid)
    spread = _spread(question, outcome, request.seeds, tell)
    tell("looking at the links")
    return _told(request, question, (outcome, tried), spread, ["replaced"] if replaced else [])


def _algorithm(question: Question, asked: str) -> tuple[str, bool]:
    """Return the name of the algorithm to play, and whether another stands for it."""
    from artery.answers.simulate.played import chosen
    from artery.collective.spelling import spelled
    from artery.simulator.shapes import algorithms

    if asked == "auto":
        return chosen(question)
    able = algorithms(question.collective)
    name = spelled(asked, algorithms())
    if name is None:
        raise UnknownNameError("algorithm", asked, ("auto", "best", *able))
    if name not in able:
        listed = ", ".join(able)
        raise UsageError(f"{name} does not do {question.collective}; use auto, best or {listed}")
    question.offload.refuse(name)
    return name, False


def _question(request: Request) -> Question:
    """Return what is asked, everything read and checked."""
    from artery.answers.libraries import library_of
    from artery.answers.simulate import asked as read
    from artery.answers.simulate.offload import offload_of
    from artery.answers.simulate.played import Question, beside
    from artery.answers.simulate.transport import changed, over
    from artery.answers.systems import system_of
    from artery.cluster.routing import network
    from artery.simulator.scenario import Scenario, protocol

    collective = named(request.collective)
    system = system_of(request.on, request.overrides)
    chips = read.order(request.placement, system, request.seed)
    size = read.amount(DEFAULT_SIZE if request.size is None else request.size, "size")
    if request.matrix is not None and collective != "alltoall":
        raise UsageError(f"--matrix is what all-to-all sends; {collective} has one size")
    if request.matrix is not None and request.size is not None:
        raise UsageError(
            "--matrix says how much every rank sends to each, and --size would say it again; "
            "leave one of them out"
        )
    slow, late = read.slow_ranks(request.slow, chips)
    used, jobs = read.background(request.background, chips)
    own = read.transport_of(system)
    transport = request.transport or own
    protocol(transport)
    routing = read.routing_of(request.routing, transport)
    library = library_of(system, request.nccl)
    asked = system if transport == own else over(system, transport)
    offload = offload_of(request.offload)
    card = offload.card.adding if offload.card is not None else None
    scenario = Scenario(
        routing=routing,
        transport=transport,
        queue_pairs=request.queue_pairs,
        failed=read.failures(request.fail_links, network(system)) if request.fail_links else 0.0,
        failed_switches=request.fail_switches,
        failing=read.moment(request.fail_at, "fail-at"),
        slow=slow,
        late=late,
        background=used,
        store_and_forward=request.store_and_forward,
        flow_control=cast("FlowControl", request.flow_control),
        adding=read.adding(request.reduce_rate, system),
        card_adding=card or 0.0,
        engine=cast("EngineName", request.engine),
        seed=request.seed,
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
            spread=routing == "spray",
            adding=request.algorithm in ("best", "collnet") or request.offload == "switch",
        ),
    )


def _told(
    request: Request,
    question: Question,
    played: tuple[Outcome, tuple[Tried, ...]],
    spread: Range,
    notes: list[Note],
) -> SimulateAnswer:
    """Return the answer: the run, its range, its links, and the closed form beside it."""
    import numpy as np

    from artery.answers.simulate.apart import apart
    from artery.answers.simulate.down import down
    from artery.answers.simulate.played import compared
    from artery.answers.simulate.result import Other, SimulateAnswer
    from artery.collective import bus_factor
    from artery.simulator.loads import held_up, hottest, relief

    outcome, tried = played
    run, startup = outcome.simulation, outcome.added.startup
    closed = compared(question, outcome.algorithm)
    why = apart(question, outcome, closed)
    ranks = len(question.chips)
    seconds = outcome.seconds if ranks > 1 else 0.0
    relieved = RELIEVED if request.links else 0
    return SimulateAnswer(
        collective=question.collective,
        system=question.system,
        ranks=ranks,
        size=question.total,
        request=request.document(),
        algorithm=outcome.algorithm,
        protocol=outcome.added.protocol,
        library=question.library.title,
        version=question.library.version,
        network=outcome.network,
        startup=startup,
        steps=max(one.schedule.steps for one in outcome.jobs if not one.job),
        busbw=question.total / seconds * float(bus_factor(question.collective, np.array(ranks)))
        if seconds
        else 0.0,
        low=spread.low + startup,
        median=spread.median + startup,
        high=spread.high + startup,
        seeds=spread.seeds,
        whole=spread.whole,
        engine=run.chosen.engine,
        why=run.chosen.why,
        error=run.chosen.error,
        control=run.chosen.control,
        flows=run.chosen.count,
        events=run.events,
        finish=_finish(question, outcome),
        links=hottest(run, request.links, relieved=relieved),
        reliefs=relief(run) if relieved else (),
        held=held_up(run),
        offload=question.offload,
        adding=run.adding,
        closed=closed,
        down=down(question.system, question.scenario),
        others=tuple(
            Other(text, one) for text, one in zip(_jobs(request), run.jobs[1:], strict=True)
        ),
        tried=tried,
        notes=(
            *notes,
            *_undrawn(request, spread),
            *_notes(question, outcome, ranks),
            *([why] if why else []),
        ),
        warnings=question.system.warnings,
        simulation=run,
        jobs=outcome.jobs,
    )


def _undrawn(request: Request, spread: Range) -> Iterator[Note]:
    """Yield that the seeds asked for would all have drawn the same."""
    if spread.seeds < request.seeds:
        yield "undrawn"


def _jobs(request: Request) -> list[str]:
    """Return what was said of the other jobs."""
    return [text for text in request.background if ":" in text]


def _spread(question: Question, outcome: Outcome, seeds: int, tell: Heard) -> Range:
    """Return the range over the seeds, or the engine's error band where they draw nothing."""
    from artery.simulator.seeds import Range, drawn, over_seeds

    seconds, error = outcome.network, outcome.simulation.chosen.error
    least = outcome.added.least
    if seeds > 1 and not drawn(question.system, outcome.simulation, outcome.scenario, seeds):
        seeds = 1
    if seeds == 1 and outcome.simulation.between is not None:
        return Range(1, outcome.simulation.between[0], seconds, outcome.simulation.between[1])
    if seeds == 1 and outcome.simulation.piped:
        return Range(1, max(outcome.simulation.piped, least), seconds, seconds)
    if seeds == 1:
        return Range(1, seconds * (1 - error), seconds, seconds * (1 + error))
    found = [seconds]
    for more in over_seeds(question.system, outcome.jobs, outcome.scenario, seeds):
        found.append(max(more, least))
        tell(f"{len(found):,} of {seeds:,} seeds played")
    return Range.of(found)


def _finish(question: Question, outcome: Outcome) -> tuple[float, ...]:
    """Return when each rank is done, in the order of ranks."""
    import numpy as np

    done = outcome.simulation.finish[0]
    if not len(done) or len(done) > MOST_FINISHES:
        return ()
    at = np.zeros(question.system.chips)
    at[outcome.jobs[0].chips] = np.maximum(done, outcome.added.least) + outcome.added.startup
    return tuple(at[question.chips].tolist())


def _transport_notes(question: Question, outcome: Outcome) -> Iterator[Note]:
    """Yield what another transport than the system's changes, and what EFA's own does."""
    if question.transport is not None:
        yield question.transport
    if outcome.scenario.transport == "efa" and outcome.scenario.routing == "spray":
        yield "srd"


def _notes(question: Question, outcome: Outcome, ranks: int) -> list[Note]:
    """Return what has to be said about the run."""
    from artery.simulator.buffers import control_of
    from artery.simulator.choice import COARSE
    from artery.simulator.scenario import protocol

    run = outcome.simulation
    notes: list[Note] = []
    if ranks == 1:
        notes.append("alone")
    notes += _transport_notes(question, outcome)
    if outcome.algorithm == "collnet":
        notes.append("plugin")
    cut = run.chosen.segment != protocol(outcome.scenario.transport).segment
    if run.chosen.engine == "messages" and cut and run.chosen.error >= COARSE:
        notes.append("coarse")
    if run.piped:
        notes.append("slices_failing" if outcome.scenario.failing else "slices")
    if run.jobs[0] < outcome.added.least:
        notes.append("passing")
    if run.replayed:
        notes.append("rounds")
    if run.unfinished:
        notes.append("unfinished")
    if question.offload.card is not None:
        notes.append("card")
    wanted = control_of(question.system, outcome.jobs, outcome.scenario)
    if run.chosen.control == "none" != wanted:
        notes.append("endless")
    return [*notes, *_share_notes(outcome)]


def _share_notes(outcome: Outcome) -> Iterator[Note]:
    """Yield where shares of the links between switches, failed or taken, change nothing."""
    run, asked = outcome.simulation, outcome.scenario
    between = run.network.between
    if not (asked.background > 0 or (isinstance(asked.failed, float) and asked.failed > 0)):
        return
    if not len(between):
        yield "one_tier"
    elif not run.carried[[*between, *(between + run.network.cables)]].any():
        yield "uncrossed"
