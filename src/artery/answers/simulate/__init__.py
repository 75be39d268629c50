"""``simulate``: a collective played on a system's network, link by link."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from artery.answers.numbers import own_numbers
from artery.answers.simulate.request import Request
from artery.answers.telling import Heard, nobody
from artery.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from artery.answers.simulate.played import Laid, Outcome, Question
    from artery.answers.simulate.result import SimulateAnswer, Tried
    from artery.simulator.seeds import Range


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
    fits: Laid | None = None,
    timed: bool = False,
    **options: Any,  # noqa: ANN401 - the fields of Request, each typed there
) -> SimulateAnswer:
    """Return what :func:`simulate` returns; ``tell`` is told what is being done.

    ``laid`` is told what is played before it is, of ``best`` afterwards; ``fits`` is told of all
    that ``best`` may be, and may refuse them, before any is played. Where every message must be
    ``timed``, what cannot be is refused before it is played.
    """
    from artery.answers.simulate.played import refuse_unfit
    from artery.answers.simulate.question import question_of

    known = {field.name for field in fields(Request)} - {"collective", "on"}
    for name in options:
        if name not in known:
            raise UnknownNameError("option of simulate", name, sorted(known))
    request = Request(collective=collective, on=on, **options)
    request.check()
    tell("laying the network out")
    question = question_of(request)
    question = replace(question, scenario=replace(question.scenario, timed=timed))
    if request.algorithm == "best" and fits is not None:
        tell("laying the algorithms out")
        refuse_unfit(question, fits)
    return _answer(replace(request, routing=question.scenario.routing), question, tell, laid)


def twins() -> str | None:
    """Return why the loops run in Python, ``None`` where they are compiled."""
    from artery.native import core

    found = core()
    return found.detail if found.library is None else None


def _answer(request: Request, question: Question, tell: Heard, laid: Laid | None) -> SimulateAnswer:
    """Play what was asked."""
    from artery.answers.simulate.played import fastest, play
    from artery.answers.simulate.told import told

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
    return told(request, question, outcome, spread, tried=tried, replaced=replaced)


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
