"""How ``simulate`` plays: one algorithm with its library's overheads, or all to take the best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from artery.answers.simulate.offload import Offload
from artery.answers.simulate.result import Closed, Tried
from artery.answers.simulate.transport import Change, share_sent
from artery.collective import ClosedForm, Library
from artery.collective.algorithms import ALGORITHMS, serving
from artery.collective.menu import menu
from artery.collective.overheads import Overheads, overheads
from artery.collective.overheads import Played as Asked
from artery.collective.placement import Placement, listed, packed
from artery.core.arrays import Ints
from artery.core.pricing import Collective, Demand
from artery.core.system import System
from artery.errors import InputError, Problem, UnknownNameError, UsageError
from artery.simulator.choice import choose, refuse_untimed
from artery.simulator.coupled.pipes import PACKET
from artery.simulator.placed import Placed, buffer
from artery.simulator.scenario import Scenario
from artery.simulator.shapes import algorithms, shaped
from artery.simulator.simulate import simulate
from artery.simulator.simulation import Simulation

MOST_TRIED = 300_000
"""Messages up to which an algorithm is tried when the best is asked for: a second each."""


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """One collective of ``size`` bytes (or a matrix) over ranks on ``chips``, and the rest."""

    system: System
    library: Library
    collective: Collective
    size: int | Ints
    chips: Ints
    scenario: Scenario
    others: tuple[Placed, ...] = ()
    offload: Offload = field(default_factory=Offload)
    transport: Change | None = None

    @property
    def total(self) -> int:
        """Bytes of a rank's buffer."""
        return buffer(self.size)

    @property
    def placement(self) -> Placement:
        """The same chips as the closed form takes them."""
        in_order = (self.chips == np.arange(len(self.chips))).all()
        return packed(self.system.chips) if in_order else listed(self.chips)


Laid = Callable[[tuple[Placed, ...], str], None]
"""Who is told the jobs and the engine before they are played, and may refuse them."""


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """One algorithm played: its jobs, what came out, and what the library adds."""

    algorithm: str
    jobs: tuple[Placed, ...]
    simulation: Simulation
    added: Overheads
    scenario: Scenario

    @property
    def network(self) -> float:
        """Seconds on the network, or what chips take to pass bytes on where that is more."""
        return max(self.simulation.jobs[0], self.added.least)

    @property
    def seconds(self) -> float:
        """Network and start-up."""
        return self.network + self.added.startup


def chosen(question: Question) -> tuple[str, bool]:
    """Return the algorithm that the library would choose, and whether another stands for it."""
    allows = question.offload.allows
    quoted = closed(question, "auto")
    name = next(key for key, item in ALGORITHMS.items() if item.title == quoted[1])
    if question.offload.name == "switch" or not allows(name):
        name = _elsewhere(question)
    known = [one for one in algorithms(question.collective) if allows(one)]
    order = [name, *(one for one in ("ring", "grouped") if one in known), *known]
    for able in (_playable, _possible):
        found = next((one for one in order if one in known and able(question, one)), None)
        if found is not None:
            return found, found != name
    where = "" if question.offload.name == "auto" else f" with --offload {question.offload.name}"
    raise UsageError(f"no algorithm of {question.collective} can be played here{where}")


def _elsewhere(question: Question) -> str:
    """Return the fastest by the closed form that adds where it is asked to, empty if none does.

    Switches between nodes that add come before those that only add inside them.
    """
    every = "best" if question.offload.name == "switch" else "auto"
    able = menu(question.library, question.collective, every)
    priced: list[tuple[bool, float, str]] = []
    for one in filter(question.offload.allows, able):
        found = compared(question, one)
        if (
            found is not None
            and one in algorithms(question.collective)
            and _possible(question, one)
        ):
            priced.append((not ALGORITHMS[one].in_network, found.seconds, one))
    return min(priced)[2] if priced else ""


def _possible(question: Question, algorithm: str) -> bool:
    """Whether the algorithm exists on these ranks."""
    try:
        prepared(question, algorithm)
    except (InputError, UsageError):
        return False
    return True


def _playable(question: Question, algorithm: str) -> bool:
    """Whether the algorithm exists on these ranks and, of an all-to-all, an engine plays it.

    Another all-to-all moves the same bytes; nothing stands for a ring or a tree.
    """
    try:
        jobs, _, scenario = prepared(question, algorithm)
        if question.collective == "alltoall":
            choose(jobs, scenario)
    except (InputError, UsageError):
        return False
    return True


def closed(question: Question, algorithm: str) -> tuple[Closed, str]:
    """Return what the closed form says, and the title of its algorithm."""
    one = np.ones(1, dtype=np.int64)
    size = np.array([question.total], dtype=np.float64)
    pricer = ClosedForm(question.system, question.library, algorithm, placement=question.placement)
    quote = pricer.quote(
        Demand(
            question.collective,
            size,
            one * len(question.chips),
            one,
            concurrent=False,
        )
    )
    found = Closed(float(quote.seconds[0]), float(quote.low[0]), float(quote.high[0]))
    return found, quote.algorithm[0]


def compared(question: Question, algorithm: str) -> Closed | None:
    """Return the closed form of one algorithm, ``None`` where there is none."""
    if algorithm not in serving(question.collective) or len(question.chips) < 2:
        return None
    try:
        return closed(question, algorithm)[0]
    except UsageError:
        return None


def play(question: Question, algorithm: str, laid: Laid | None = None) -> Outcome:
    """Return what happens under one algorithm; ``laid`` is told before it does.

    Raises ``InputError`` and ``UsageError`` where it cannot be played on this system.
    """
    jobs, added, scenario = prepared(question, algorithm)
    if laid is not None:
        laid(jobs, choose(jobs, scenario).engine)
    found = simulate(question.system, jobs, scenario)
    return Outcome(algorithm, jobs, found, added, scenario)


def prepared(question: Question, algorithm: str) -> tuple[tuple[Placed, ...], Overheads, Scenario]:
    """Return the channels of one algorithm, what the library adds, and the scenario with it."""
    asked = Asked(algorithm, question.collective, question.total, len(question.chips))
    library = question.offload.driven(question.library)
    added = overheads(question.system, library, asked, question.placement)
    scenario = under(question.scenario, added, share_sent(question.system, library))
    jobs = shaped(question.system, question.collective, algorithm, question.total, question.chips)
    jobs = tuple(_passing_on(added.piece, question.total, job) for job in jobs)
    if not isinstance(question.size, int):
        jobs = tuple(replace(job, size=_ordered(question, job)) for job in jobs)
    return (*jobs, *question.others), added, scenario


def _passing_on(piece: int, total: int, job: Placed) -> Placed:
    """Return a channel of ``total`` bytes, of which ``piece`` are passed on as one over all.

    Each chain or tree passes on its part of the piece. A channel of NCCL has slots of 512 KiB of
    its own, but halves what it puts into them, down to 32 KiB, while a tree as deep as this has few
    of them (``src/enqueue.cc``, by its depth and the bytes of each channel): so a piece over all
    channels is 256 KiB to 1 MiB where filling them takes long. That chains do so too is assumed,
    as the closed form has it. Switches inside nodes are sent chunks of a size of their own.
    """
    if job.schedule.switches:
        return job
    part = max((pipe.weight for pipe in job.schedule.pipes), default=1.0) * job.total
    return replace(job, piece=max(round(piece * part / max(total, 1)), PACKET))


def under(scenario: Scenario, added: Overheads, sent: float) -> Scenario:
    """Return the scenario with what a library leaves of links, of whose rate ``sent`` can be."""
    return replace(
        scenario,
        inside=added.inside,
        outside=added.outside * sent,
        beside=added.payload,
        nearness=added.nearness,
    )


def _ordered(question: Question, job: Placed) -> Ints:
    """Return the matrix by the job's own order of ranks."""
    rank_of = np.zeros(question.system.chips, dtype=np.int64)
    rank_of[question.chips] = np.arange(len(question.chips))
    rank = rank_of[job.chips]
    return np.asarray(question.size)[np.ix_(rank, rank)]


def fastest(question: Question, tell: Callable[[str], None]) -> tuple[Outcome, tuple[Tried, ...]]:
    """Return the fastest of all algorithms that can be played, and what was tried.

    What the library would choose is always among them, so that ``auto`` never beats ``best``;
    ``tell`` is told which is played.
    """
    own = chosen(question)[0]
    best: Outcome | None = None
    tried: list[Tried] = []
    for name in filter(question.offload.allows, algorithms(question.collective)):
        try:
            if name != own:
                _affordable(question, name)
            tell(f"playing {name}")
            outcome = play(question, name)
        except UnknownNameError:
            raise
        except (InputError, UsageError) as error:
            tried.append(Tried(name, None, str(error)))
            continue
        tried.append(Tried(name, outcome.seconds, ""))
        if best is None or outcome.seconds < best.seconds:
            best = outcome
    if best is None:
        found = "; ".join(dict.fromkeys(one.reason for one in tried))
        raise UsageError(f"no algorithm of {question.collective} can be played here: {found}")
    order = sorted(tried, key=lambda one: (one.seconds is None, one.seconds or 0.0))
    return best, tuple(order)


def refuse_unfit(question: Question, fits: Laid) -> None:
    """Raise ``InputError`` if the fastest may be one that ``fits`` refuses, before any is played.

    Which is the fastest shows at the end alone: what its file may not hold would be learnt then.
    Where messages must be timed, algorithms of which none is are refused as well.
    """
    unfit: dict[str, Problem] = {}
    able: list[str] = []
    for name in filter(question.offload.allows, algorithms(question.collective)):
        try:
            jobs, _, scenario = prepared(question, name)
            found = choose(jobs, scenario)
        except (InputError, UsageError):
            continue  # it is not tried either
        try:
            if scenario.timed:
                refuse_untimed(found)
            fits(jobs, found.engine)
            able.append(name)
        except InputError as error:
            unfit[name] = error.problems[0]
    if not unfit:
        return
    name, problem = next(iter(unfit.items()))
    if not able:
        raise InputError(problem)
    raise InputError(
        Problem(
            field="algorithm",
            found=f"best, which may be {name}: {problem.found}",
            rule=problem.rule,
            fix=f"--algorithm {' or '.join(able)}",
        )
    )


def _affordable(question: Question, name: str) -> None:
    jobs, _, scenario = prepared(question, name)
    found = choose(jobs, scenario)
    if found.engine not in ("coupled", "sampled") and found.count > MOST_TRIED:
        raise UsageError(f"{found.count:,} messages: too many to try; name it to play it")


def beside(system: System, jobs: list[tuple[Collective, int, Ints]]) -> tuple[Placed, ...]:
    """Return other jobs as they are played: all-to-all grouped, the others as rings.

    Each is a collective, its bytes and its chips.
    """
    found: list[Placed] = []
    for number, (collective, size, chips) in enumerate(jobs, start=1):
        known = algorithms(collective)
        name = next((one for one in ("ring", "grouped") if one in known), known[0])
        channels = shaped(system, collective, name, size, chips)
        found += [replace(one, job=number) for one in channels]
    return tuple(found)
