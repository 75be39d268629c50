"""``goodput``: time lost to failures, the best checkpoint interval, what to fix first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, inf, log1p
from typing import Any, Final

from artery.answers.goodput.levers import MONTH, Mending, fixes, ranked
from artery.answers.goodput.request import Circumstances, check_tiers, circumstances
from artery.answers.goodput.result import (
    Availability,
    Choice,
    Definitions,
    Fix,
    GoodputAnswer,
    Intervals,
    Spares,
    TrainingTime,
)
from artery.answers.numbers import own_numbers
from artery.answers.plan import plan
from artery.answers.plan.result import PlanAnswer, PlanResult
from artery.cloud.checkpoints import MASTER, State, Tier, TierName, tiers
from artery.cloud.failure_model import failure_model
from artery.cloud.goodput import HOPELESS, Job, at, availability, best, mean_restart, restart_of
from artery.cloud.intervals import best_complete, daly, young
from artery.cloud.recovery import given_restart, recovery
from artery.cloud.spares import nines, spares_for_domains, spares_needed
from artery.core.failure import FailureModel, Severity
from artery.core.system import System
from artery.core.term import Term
from artery.step.optimizer import RULES
from artery.units.durations import DAY

_CHOICES: Final[tuple[tuple[TierName, ...], ...]] = (
    ("shared",),
    ("local", "shared"),
    ("memory", "shared"),
    ("memory", "local", "shared"),
)

_LOST: Final[tuple[Severity, ...]] = ("node",)


@dataclass(frozen=True, slots=True)
class _Case:
    """A plan on a system with what is told of its failures, and the tiers that it has."""

    answer: PlanAnswer
    told: Circumstances
    state: State
    known: dict[TierName, Tier]
    job: Job

    @property
    def system(self) -> System:
        return self.answer.system

    @property
    def result(self) -> PlanResult:
        return self.answer.plans[0]

    def best(self, failures: FailureModel) -> float:
        """The share of time that trains at other rates, at their own best intervals."""
        return best(replace(self.job, failures=failures), self.told.interval).productive


@own_numbers
def goodput(
    model: str,
    on: str,
    **options: Any,  # noqa: ANN401 - the fields of Circumstances and of plan's request, typed there
) -> GoodputAnswer:
    """Return what failures leave of a training run of ``model`` on the system ``on``.

    ``options`` are the fields of :class:`artery.answers.goodput.request.Circumstances`
    (``node_failures_per_1000_days``, ``checkpoint``, ``save_time``, ``restart_time``, ...) and
    those of :func:`artery.plan`; with ``tokens`` the whole run is given too.

    Raises ``UsageError`` and ``InputError`` for what cannot be; a plan that does not fit in memory
    is an answer whose ``plan.fitting`` is 0.
    """
    told, planned = circumstances(options)
    answer = plan(model, on, **{**planned, "top": 1, "explained": False})
    check_tiers(told, answer.system)
    case = _case(answer, told)
    now = best(case.job, told.interval)
    ends = sorted(case.best(at(case.job.failures, end)) for end in ("low", "high"))
    ettr = Term(
        "ettr", "1", now.productive, ends[0], ends[1],
        formula="tau/(M·e^(R/M)·(e^((tau+d)/M) - 1)), times what tiers and stalls leave",
        source="Daly, FGCS 22(3), 2006; range: published failure rates",
    )  # fmt: skip
    return GoodputAnswer(
        plan=answer,
        told=told,
        failures=case.job.failures,
        mtbf=_mtbf(case.job.failures),
        recovery=_parts(case),
        restart=mean_restart(case.job),
        state=case.state,
        tiers=tuple(case.known.values()),
        intervals=_intervals(case, now.intervals[0]),
        shares=now,
        ettr=ettr,
        definitions=_definitions(case, now.productive),
        availability=_availability(case),
        spares=_spares(case),
        choices=_choices(case),
        levers=_levers(case, now.productive),
        run=_run(case, ettr),
        warnings=_warnings(case, now.productive),
    )


def _case(answer: PlanAnswer, told: Circumstances) -> _Case:
    """The plan with its state, the tiers and the job that they make."""
    system, result = answer.system, answer.plans[0]
    chips = result.plan.chips
    per_weight = MASTER + RULES[result.plan.optimizer].state
    held = {term.name: term.value for term in result.memory.root.children}
    state = State(
        saved=answer.workload.parameters * per_weight,
        loaded=(held["weights"] + held["optimizer"]) * chips,
        chips=chips,
    )
    known = tiers(system, state, store=told.store_bandwidth, blocking=told.blocking_save)
    if system.nodes == 1:
        del known["memory"]
    if told.save_time is not None:
        near = told.tiers[0]
        known[near] = replace(
            known[near],
            save=told.save_time,
            persist=max(told.save_time, 0.0 if told.blocking_save else known[near].persist),
        )
    if told.async_slowdown > 0.0:
        known = {name: _slowing(tier, told.async_slowdown) for name, tier in known.items()}
    given = told.restart_time
    parts = recovery(chips, result.time.root.value) if given is None else given_restart(given)
    job = Job(
        failures=failure_model(system, told.rates),
        parts=parts,
        tiers=tuple(known[name] for name in told.tiers),
        loads=given is None,
    )
    return _Case(answer, told, state, known, job)


def _slowing(tier: Tier, share: float) -> Tier:
    """The tier, where writing a copy beside the steps takes a ``share`` of their time."""
    lost = share * max(0.0, tier.persist - tier.save)
    return replace(tier, save=tier.save + lost)


def _mtbf(failures: FailureModel) -> Term:
    ends = sorted(at(failures, end).mtbf for end in ("low", "high"))
    return Term(
        "mtbf", "s", failures.mtbf, ends[0], ends[1],
        formula="1 / sum of count·rate over everything that stops the job",
        source=failures.classes[0].source.text,
    )  # fmt: skip


def _parts(case: _Case) -> tuple[Term, ...]:
    """The parts of a restart after the loss of a node; loading last but one."""
    if not case.job.loads:
        return case.job.parts
    load = restart_of(case.job, "node") - sum(part.value for part in case.job.parts)
    term = Term(
        "load", "s", load, load, load,
        formula="state of all chips / bandwidth of the tier + copy to the chip",
        inputs={"bytes": case.state.loaded},
        source="the plan's memory, the system's links; shared store: Llama 3 (arXiv 2407.21783)",
    )  # fmt: skip
    return (*case.job.parts[:-1], term, case.job.parts[-1])


def _intervals(case: _Case, used: float) -> Intervals:
    """The nearest tier's interval by three formulas, as if it were the only one."""
    mtbf, near = case.job.failures.mtbf, case.job.tiers[0]
    restart = mean_restart(case.job)
    return Intervals(
        young=young(near.save, mtbf),
        daly=daly(near.save, mtbf),
        complete=best_complete(near.save, mtbf, restart)[0],
        least=near.persist,
        best=used,
        given=case.told.interval is not None,
    )


def _definitions(case: _Case, productive: float) -> Definitions:
    """The same run by Meta's, DLRover's and Google's definitions."""
    waiting = {part.name: part.value for part in case.job.parts}.get("reschedule", 0.0)
    lost = case.job.failures.rate(("node", "domain", "silent"))
    there = 1.0 / (1.0 + lost * waiting)
    run, queued = case.result.run, 1.0
    if run is not None and productive > 0.0:
        elapsed = run.seconds / productive
        queued = elapsed / (elapsed + case.told.queue_time)
    return Definitions(
        meta_ettr=productive * queued,
        dlrover_goodput=productive,
        google_scheduling=there * queued,
        google_runtime=min(1.0, productive / there),
        google_program=case.result.mfu,
    )


def _availability(case: _Case) -> Availability:
    """Availability of the job and of one node, in nines, and what five of them would need."""
    mtbf = case.job.failures.mtbf
    job = availability(mtbf, mean_restart(case.job))
    node = _node_availability(case)
    five = inf if mtbf == inf else -mtbf * log1p(-1e-5)
    return Availability(job, nines(job), node, nines(node), five)


def _node_availability(case: _Case) -> float:
    """The share of time that a node is up: 1 / (1 + failure rate·repair time)."""
    rate = case.job.failures.rate(_LOST) / case.system.nodes
    return 1.0 / (1.0 + rate * case.told.repair_time)


def _spares(case: _Case) -> Spares:
    """How many nodes are out, and how many should be spare."""
    out = case.system.nodes * (1.0 - _node_availability(case))
    risk, repair = case.told.spare_risk, case.told.repair_time
    domains = case.told.domain_failures_per_1000_days
    if not domains or case.told.domain_nodes is None:
        return Spares(out, repair, risk, spares_needed(out, risk))
    size = case.told.domain_nodes
    fallen = ceil(case.system.nodes / size) * domains / 1000 / DAY * repair
    needed = spares_for_domains(out, fallen, size, risk)
    return Spares(out + fallen * size, repair, risk, needed)


def _choices(case: _Case) -> tuple[Choice, ...]:
    """Every set of tiers that the system has, each at its best intervals."""
    sets = (names for names in _CHOICES if all(name in case.known for name in names))
    return tuple(
        Choice(names, best(replace(case.job, tiers=tuple(case.known[n] for n in names))))
        for names in sets
    )


def _levers(case: _Case, now: float) -> tuple[Fix, ...]:
    """What to fix, over the whole run, or thirty days of it."""
    memory = None if "memory" in case.told.tiers else case.known.get("memory")
    what = Mending(case.job, case.told.interval, memory, case.result.plan.dp)
    run = case.result.run
    seconds = MONTH if run is None else run.seconds / max(now, 1e-9)
    hours = seconds * case.system.chips / 3600.0
    return ranked(fixes(what, now), now, hours=hours, price=case.system.chip_hour_price)


def _run(case: _Case, ettr: Term) -> TrainingTime | None:
    """The whole run, if tokens are given; the first start and the queue on top of its steps."""
    run, price = case.result.run, case.result.cost_per_hour
    if run is None:
        return None
    queue = case.told.queue_time
    first = sum(part.value for part in case.job.parts if part.name not in ("detect", "teardown"))
    expected, low, high = (
        inf if share <= 0.0 else queue + first + run.seconds / share
        for share in (ettr.value, ettr.high, ettr.low)
    )
    started = expected - queue if expected < inf else inf
    return TrainingTime(
        tokens=run.tokens,
        ideal=run.seconds,
        expected=expected,
        low=low,
        high=high,
        queue=queue,
        failures=started * case.job.failures.rate(),
        cost=None if price is None else price * started / 3600.0,
    )


def _warnings(case: _Case, productive: float) -> tuple[str, ...]:
    """What the plan warns of, and what is assumed here."""
    said = [*case.answer.warnings]
    if case.told.rates.low != case.told.rates.high:
        said.append(
            f"failure rate assumed: that of {case.job.failures.name}; published rates go from "
            f"{case.told.rates.low:.1f} to {case.told.rates.high:.1f} per 1,000 node-days; "
            "give yours with --node-failures-per-1000-days"
        )
    if case.told.store_bandwidth is None:
        said.append(
            "shared store assumed at 0.98 GB/s per node (Llama 3's: 2 TB/s for 2,048 nodes); "
            "give yours with --store-bandwidth"
        )
    if productive < HOPELESS:
        said.append(f"next to nothing of the time trains ({productive:.1%}): such a job never ends")
    if case.told.queue_time and case.result.run is None:
        said.append(
            "the queue time counts in a whole run, which --tokens sizes; it changes nothing"
        )
    if case.told.interval is not None and case.told.interval < case.job.tiers[0].persist:
        said.append("the interval given is shorter than the time until a copy is safe")
    return tuple(said)
