"""The answer of ``simulate``: the run, its range and links, the closed form, what is to be said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from artery.answers.simulate.apart import apart
from artery.answers.simulate.down import down
from artery.answers.simulate.played import Outcome, Question, compared
from artery.answers.simulate.request import Request
from artery.answers.simulate.result import Note, Other, SimulateAnswer, Tried
from artery.collective import bus_factor
from artery.simulator.choice import COARSE
from artery.simulator.loads import held_up, hottest, relief
from artery.simulator.network.buffers import control_of
from artery.simulator.scenario import protocol
from artery.simulator.seeds import Range
from artery.simulator.simulation import Simulation

RELIEVED: Final = 3
"""Links of which it is tried what doubling them gains."""

MOST_FINISHES: Final = 4096
"""Ranks up to which the answer says when each is done."""


def told(
    request: Request,
    question: Question,
    outcome: Outcome,
    spread: Range,
    *,
    tried: tuple[Tried, ...] = (),
    replaced: bool = False,
) -> SimulateAnswer:
    """Return the answer; ``replaced`` says that another algorithm stands for the one asked for."""
    run, startup = outcome.simulation, outcome.added.startup
    closed = compared(question, outcome.algorithm)
    why = apart(question, outcome, closed)
    relieved = RELIEVED if request.links else 0
    return SimulateAnswer(
        collective=question.collective,
        system=question.system,
        ranks=len(question.chips),
        size=question.total,
        request=request.document(),
        algorithm=outcome.algorithm,
        protocol=outcome.added.protocol,
        library=question.library.title,
        version=question.library.version,
        network=outcome.network,
        startup=startup,
        steps=max(one.schedule.steps for one in outcome.jobs if not one.job),
        busbw=_busbw(question, outcome.seconds),
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
        others=_others(request, run),
        tried=tried,
        notes=(
            *_drawn(request, spread, replaced=replaced),
            *_placed(request, question),
            *_notes(question, outcome),
            *([why] if why else []),
        ),
        warnings=question.system.warnings,
        simulation=run,
        jobs=outcome.jobs,
    )


def _busbw(question: Question, seconds: float) -> float:
    """Return the bus bandwidth as nccl-tests counts it; a rank alone has none."""
    ranks = len(question.chips)
    if ranks == 1 or not seconds:
        return 0.0
    return question.total / seconds * float(bus_factor(question.collective, np.array(ranks)))


def _others(request: Request, run: Simulation) -> tuple[Other, ...]:
    """Return when the other jobs were done, each by what was said of it."""
    said = [text for text in request.background if ":" in text]
    return tuple(Other(text, one) for text, one in zip(said, run.jobs[1:], strict=True))


def _drawn(request: Request, spread: Range, *, replaced: bool) -> Iterator[Note]:
    """Yield that another algorithm was played, and that all seeds would have drawn the same."""
    if replaced:
        yield "replaced"
    if spread.seeds < request.seeds:
        yield "undrawn"


def _placed(request: Request, question: Question) -> Iterator[Note]:
    """Yield that another placement than packed was asked for and puts every rank as packed does."""
    if request.placement != "packed" and (np.diff(question.chips) == 1).all():
        yield "as_packed"


def _finish(question: Question, outcome: Outcome) -> tuple[float, ...]:
    """Return when each rank is done, in the order of ranks."""
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


def _notes(question: Question, outcome: Outcome) -> list[Note]:
    """Return what has to be said about the run."""
    run = outcome.simulation
    notes: list[Note] = []
    if len(question.chips) == 1:
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
