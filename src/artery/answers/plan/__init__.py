"""``plan``: the best ways to split a job over a system, or one given way, fully explained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, prod
from types import NoneType
from typing import TYPE_CHECKING, Any

from artery.answers.arguments import check_declared, check_kinds
from artery.answers.models import workload
from artery.answers.numbers import own_numbers
from artery.answers.plan.batch import kept_out
from artery.answers.plan.collectives import (
    Listening,
    adds,
    chosen_of,
    chosen_terms,
    plugin,
    switches_add,
)
from artery.answers.plan.intervals import interval
from artery.answers.plan.levers import FITS, Situation, levers
from artery.answers.plan.limits import limits
from artery.answers.plan.request import DEGREES, Request, Settled, load_range, settle
from artery.answers.plan.result import PlanAnswer, PlanResult, Run
from artery.answers.plan.tree import memory_tree, step_tree
from artery.answers.plan.warnings import plan_warnings, rated_power
from artery.answers.pricing import Pricers
from artery.answers.systems import system_of
from artery.core.plan import Plan
from artery.core.system import System
from artery.core.term import Estimate
from artery.core.workload import Workload
from artery.errors import InputError, Problem, UsageError, did_you_mean, nearest
from artery.planner.rank import penalties, reasons
from artery.planner.search import Found, search
from artery.planner.space import Space
from artery.step.evaluate import evaluate
from artery.step.flops import StepFlops
from artery.step.ledger import Ledger
from artery.step.legality import problems

if TYPE_CHECKING:
    from artery.answers.plan.simulated_step import Simulator

NETWORKS = ("closed", "simulate")
"""How communication is priced."""

MOST_SEEDS = 1000
"""Assumed: more is a slip of the pen."""


@dataclass(frozen=True, slots=True)
class _Question:
    """A request settled, with what prices it, and what plays it on the network if asked."""

    request: Request
    settled: Settled
    pricer: Pricers
    simulator: Simulator | None = None

    @property
    def system(self) -> System:
        return self.request.system

    @property
    def workload(self) -> Workload:
        return self.request.workload


@own_numbers
def plan(
    model: str,
    on: str,
    *,
    top: int = 1,
    tokens: float | None = None,
    nccl: str | None = None,
    offload: str = "auto",
    network: str = "closed",
    seeds: int = 1,
    overrides: Sequence[str] = (),
    explained: bool = True,
    **options: Any,  # noqa: ANN401 - the fields of Request, each typed there
) -> PlanAnswer:
    """Return the ``top`` best plans for ``model`` on the system ``on``.

    ``options`` are the plan's fields (``tp``, ``pp``, ``vpp``, ``cp``, ``ep``, ``etp``, ``dp``,
    ``dp_replicate``, ``zero``, ``micro_batch``, ``global_batch``, ``seq``, ``dtype``,
    ``grad_dtype``, ``recompute``, ``sequence_parallel``, ``attention``, ``overlap``,
    ``framework``, ``optimizer``, ``placement``, ``load_factor``); those not given are searched
    or left to the framework profile. ``tokens`` sizes the whole run, ``overrides`` are
    ``path=value`` texts for the system. Without ``explained`` no levers are computed. With
    ``network="simulate"`` the communication of the plans found is priced by playing all groups
    of a step on the network, and they are ordered anew; levers are those of the closed form.
    ``offload`` says who may add in collectives: ``auto`` as the library does by itself, ``none``
    chips alone, ``switch`` switches between nodes too, where that is faster.
    ``seeds`` plays each as often, with other hashes, and gives the range.

    Raises ``InputError`` (and ``UnknownNameError``) for what cannot be; a plan that does not fit
    in memory is an answer whose ``fitting`` is 0.
    """
    check_kinds(str, model=model, on=on, network=network, offload=offload)
    check_kinds(int, top=top, seeds=seeds)
    check_kinds(str, NoneType, nccl=nccl, task=options.get("task"))
    check_kinds(float, NoneType, tokens=tokens)
    check_declared(plan, {"explained": explained, "overrides": overrides})
    asked = _asked(options)
    if top < 1:
        raise UsageError(f"top is the number of plans to show, 1 or more, not {top}")
    request = Request(*_named(model, on, overrides), tokens=tokens, **asked)
    settled = settle(request)
    pricers = Pricers(nccl, settled.shared.placement, adds(offload, request.system))
    simulator = _simulator(network, pricers, seeds)
    question, found = _found(_Question(request, settled, pricers, simulator), top)
    return _answer(question, found, explained=explained)


def _answer(question: _Question, found: Found, *, explained: bool) -> PlanAnswer:
    """The plans found, with everything that is to be said of each; levers of the first alone."""
    results = tuple(
        _result(question, each, explained and index == 0)
        for index, each in enumerate(_ordered(question, found))
    )
    return PlanAnswer(
        workload=question.workload,
        system=question.system,
        profile=question.settled.profile,
        plans=results,
        searched=found.searched,
        fitting=found.fitting,
        given=found.searched == 1,
        warnings=(
            *(_kept_out(question, results[0].plan) if explained else ()),
            *plan_warnings(question.request, question.settled, results, found),
        ),
    )


def _named(model: str, on: str, overrides: Sequence[str]) -> tuple[Workload, System]:
    """The model and the system; what is wrong with either is said together."""
    try:
        known = workload(model)
    except InputError as error:
        try:
            system_of(on, overrides)
        except InputError as other:
            raise InputError([*error.problems, *other.problems]) from None
        raise
    return known, system_of(on, overrides)


def _asked(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options as fields of a request: degrees apart, ``seq`` under its noun's name.

    Raises ``UsageError`` for those that there are not, or of the wrong kind.
    """
    known = {name: value for name, value in options.items() if value is not None}
    known.pop("task", None)
    whole = (*DEGREES, "seq")
    check_kinds(int, **{name: known[name] for name in whole if name in known})
    degrees = {name: known.pop(name) for name in DEGREES if name in known}
    if "seq" in known:
        known["sequence"] = known.pop("seq")
    fields = set(Request.__dataclass_fields__) - {"workload", "system", "degrees"}
    unknown = [name for name in known if name not in fields]
    if unknown:
        near = did_you_mean(nearest(unknown[0], (*sorted(fields), *whole, "top", "nccl")))
        raise UsageError(f'plan knows no option "{unknown[0]}"; {near or "see artery plan --help"}')
    check_declared(Request, known)
    if options.get("task") not in (None, "train"):
        raise UsageError(f'task "{options["task"]}" is not available yet; leave it out to train')
    lists = {name: tuple(value) for name, value in known.items() if isinstance(value, list)}
    return {"degrees": degrees, **known, **lists}


def _found(question: _Question, top: int) -> tuple[_Question, Found]:
    """The plans; where none is legal with a batch that nobody gave, with the next one that is.

    That batch is a multiple of the chips, or where they are more, of their odd part.
    """
    if question.request.global_batch is not None:
        return question, _find(question, top)
    try:
        return question, _find(question, top)
    except InputError as error:
        chips, batch = question.system.chips, question.settled.fixed["global_batch"]
        unit = chips if chips <= 4 * batch else chips // (chips & -chips)
        wider = -(-batch // unit) * unit
        if wider == batch or any(p.field != "global_batch" for p in error.problems):
            raise
        said = (
            f"global batch {wider:,} assumed: {batch:,} cannot be shared out over {chips:,} chips"
        )
        settled = replace(
            question.settled,
            fixed={**question.settled.fixed, "global_batch": wider},
            warnings=(*question.settled.warnings, said),
        )
        other = replace(question, settled=settled)
        return other, _find(other, top)


def _kept_out(question: _Question, best: Plan) -> tuple[str, ...]:
    return kept_out(question.request, question.settled, question.pricer(question.system), best)


def _find(question: _Question, top: int) -> Found:
    """The plans: searched, or an error that says why none is legal."""
    space = Space(
        question.system.chips,
        question.settled.fixed,
        question.settled.shared,
        question.settled.profile.zero_stages,
    )
    wrong = _factors(space)
    if wrong:
        asked = {**question.request.degrees, "global_batch": question.request.global_batch}
        own = (p for p in _broken(question, space) if asked.get(p.field or "") is not None)
        raise InputError([*wrong, *own])
    found = search(
        question.workload,
        question.system,
        space,
        profile=question.settled.profile,
        pricer=question.pricer(question.system),
        top=top,
    )
    if not found.plans:
        raise InputError(_why_none(question, space))
    return found


def _factors(space: Space) -> tuple[Problem, ...]:
    """What is wrong with degrees whose product cannot be the number of chips."""
    given = {name: space.fixed[name] for name in ("tp", "pp", "cp", "dp") if name in space.fixed}
    product = prod(given.values())
    if (product == space.chips) if len(given) == 4 else (space.chips % product == 0):
        return ()
    spelled = " x ".join(f"{name} {degree}" for name, degree in given.items())
    return (
        Problem(
            field="·".join(given),
            found=f"{spelled} = {product:,} on {space.chips:,} chips",
            rule="tp·pp·cp·dp is the number of chips",
            fix=f"degrees that divide {space.chips:,}, or another :CHIPS",
        ),
    )


def _broken(question: _Question, space: Space) -> tuple[Problem, ...]:
    """The rules that the given fields break, tried on the plainest plan that has them."""
    fixed: dict[str, Any] = dict(space.fixed)
    for name in ("tp", "pp", "cp"):
        fixed.setdefault(name, 1)
    fixed.setdefault("dp", max(space.chips // (fixed["tp"] * fixed["pp"] * fixed["cp"]), 1))
    fixed.setdefault("micro_batch", 1)
    fixed.pop("recompute", None)
    parallel = bool(fixed.pop("sequence_parallel", 0))
    plainest = replace(space.shared, sequence_parallel=parallel, **fixed)
    return problems(question.workload, plainest)


def _why_none(question: _Question, space: Space) -> tuple[Problem, ...]:
    """Why no plan is legal: broken rules, or a batch that the chips cannot share out."""
    broken = _broken(question, space)
    if broken:
        return broken
    batch = space.fixed["global_batch"]
    rule = "no legal plan uses all of the chips with it"
    fix = "--global-batch with more divisors, or another :CHIPS"
    found = f"{space.chips:,} chips for a global batch of {batch:,} samples"
    return (Problem(field="global_batch", found=found, rule=rule, fix=fix),)


def _simulator(network: str, pricers: Pricers, seeds: int) -> Simulator | None:
    if not 1 <= seeds <= MOST_SEEDS:
        raise UsageError(f"seeds is a number from 1 to {MOST_SEEDS:,}, not {seeds}")
    if seeds > 1 and network == "closed":
        raise UsageError("seeds draw the hashes of a simulated network; add --network simulate")
    if network not in NETWORKS:
        raise UsageError(f'network is one of {", ".join(NETWORKS)}, not "{network}"')
    if network == "closed":
        return None
    from artery.answers.plan.simulated_step import Simulator

    return Simulator(pricers.nccl, pricers.placement, seeds, pricers.adds)


def _ordered(question: _Question, found: Found) -> tuple[Plan, ...]:
    """The plans found, those that fit by their simulated step if that is asked for."""
    simulator = question.simulator
    if simulator is None or not found.fitting:
        return found.plans
    keys = []
    for each in found.plans:
        priced = simulator.step(_situation(question, each)).priced
        over = bool(priced.memory.total[0] > question.system.chip.memory.capacity)
        keys.append((over, float(priced.step[0] * penalties(priced, question.system)[0])))
    return tuple(found.plans[i] for i in sorted(range(len(keys)), key=keys.__getitem__))


def _situation(question: _Question, chosen: Plan) -> Situation:
    pricers = question.pricer
    could = pricers.adds == "auto" and switches_add(question.system)
    switched = replace(pricers, adds="switch", known={}) if could else None
    return Situation(
        question.workload, question.system, question.settled.profile, chosen, pricers, switched
    )


def _result(question: _Question, chosen: Plan, explained: bool) -> PlanResult:
    """One plan with its trees, rates, costs and, if ``explained``, its levers."""
    system, work = question.system, question.workload
    ledger = Ledger(keep=True)
    heard = Listening(question.pricer(system))
    priced = evaluate(
        work, system, [chosen], profile=question.settled.profile, pricer=heard, ledger=ledger
    )
    operations = chosen_of(chosen, heard)
    closed = float(priced.step[0])
    situation = _situation(question, chosen)
    low, high = interval(situation, priced, load_range(question.request))
    helping = levers(situation, closed) if explained else ()
    network = None
    if question.simulator is not None:
        played = question.simulator.step(situation)
        priced, ledger, network = played.priced, played.ledger, played.network
    step = float(priced.step[0])
    off = step / closed
    samples = chosen.global_batch / step
    energy = rated_power(system)
    cost = None if system.chip_hour_price is None else system.chip_hour_price * system.chips
    return PlanResult(
        plan=chosen,
        time=Estimate(
            step_tree(ledger, work, low * off, high * off, chosen_terms(operations)),
            "closed form" if network is None else "simulated",
        ),
        memory=Estimate(memory_tree(ledger), "closed form"),
        fits=FITS[int(priced.fits[0])],
        capacity=system.chip.memory.capacity,
        tokens_per_s=samples * chosen.sequence if work.row_kind == "token" else None,
        samples_per_s=samples,
        mfu=_utilisation(priced.flops, "model", system, chosen, step),
        hfu=_utilisation(priced.flops, "hardware", system, chosen, step),
        limited_by=limits(priced, chosen, system, network),
        levers=helping,
        energy_per_step=None if energy is None else energy * step,
        cost_per_hour=cost,
        run=_run(question, chosen, step, energy, cost),
        penalty=float(penalties(priced, system)[0]),
        notes=(*reasons(priced, system, 0), *plugin(operations, question.pricer.adds)),
        network=network,
        collectives=operations,
    )


def _utilisation(flops: StepFlops, kind: str, system: System, chosen: Plan, step: float) -> float:
    """FLOP per second over the peak of all chips."""
    peak = system.chip.peaks[chosen.dtype] * chosen.chips
    return float(getattr(flops, kind)[0]) / (step * peak)


def _run(
    question: _Question, chosen: Plan, step: float, power: float | None, cost: float | None
) -> Run | None:
    tokens = question.request.tokens
    if tokens is None:
        return None
    steps = ceil(tokens / (chosen.global_batch * chosen.sequence))
    seconds = steps * step
    return Run(
        tokens=tokens,
        steps=float(steps),
        seconds=seconds,
        energy=None if power is None else power * seconds,
        cost=None if cost is None else cost * seconds / 3600.0,
    )
