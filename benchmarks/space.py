"""How fast whole spaces of plans are priced, against one plan at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from artery.answers.pricing import closed_form
from artery.catalog import model, profile, system
from artery.core.plan import Plan
from artery.core.pricing import Pricer
from artery.core.profile import Profile
from artery.core.system import System
from artery.core.workload import Workload
from artery.planner.search import search
from artery.planner.space import Space, enumerate_plans
from artery.step import Plans, evaluate

ONE_BY_ONE = 60
"""Plans of the space that are also priced one at a time, evenly spread over it."""

REPEATS = 3
"""Warm runs; the fastest counts, as everything else that runs only adds."""

PLAN_FIELDS = (
    "tp", "pp", "vpp", "cp", "ep", "etp", "dp", "dp_replicate", "zero", "micro_batch",
    "global_batch", "sequence", "recompute", "sequence_parallel",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Case:
    """A model on a system, with its published batch and sequence length."""

    model: str
    system: str
    profile: str
    global_batch: int
    sequence: int


CASES = (
    Case("gpt3-175b", "dgx-a100:1024", "megatron-core", 1536, 2048),
    Case("llama3-405b", "hgx-h100-roce:16384", "megatron-core", 2048, 8192),
)
"""Batches: Narayanan et al. 2021 (arXiv 2104.04473), section 5.1, and Llama 3 (arXiv 2407.21783),
Table 4 (16 million tokens)."""


@dataclass(frozen=True, slots=True)
class Question:
    """What ``Case`` names, looked up once."""

    workload: Workload
    system: System
    profile: Profile
    pricer: Pricer
    space: Space

    @classmethod
    def of(cls, case: Case) -> Question:
        """Return the question that ``case`` puts."""
        found, known = system(case.system), profile(case.profile)
        shared = Plan(
            sequence=case.sequence, attention="flash2", framework=known.name, grad_dtype="fp32"
        )
        space = Space(found.chips, {"global_batch": case.global_batch}, shared)
        return cls(model(case.model), found, known, closed_form(found), space)

    def plans(self) -> Plans:
        """Return every legal plan."""
        return enumerate_plans(self.workload, self.system, self.space)


@dataclass(frozen=True, slots=True)
class Speed:
    """Counts of plans and seconds: whole search cold and warm, pricing alone, one by one."""

    case: Case
    plans: int
    distinct: int
    cold: float
    warm: float
    pricing: float
    single: float

    @property
    def rate(self) -> float:
        """Plans per second in a warm search: enumerated, priced with memory, ranked."""
        return self.plans / self.warm

    @property
    def ratio(self) -> float:
        """How many times faster than pricing one plan at a time."""
        return self.single / (self.pricing / self.plans)


def distinct(plans: Plans) -> int:
    """Return how many plans differ in a field that time or memory depends on."""
    table = np.stack([getattr(plans, name) for name in PLAN_FIELDS])
    return int(np.unique(table, axis=1).shape[1])


def measure(case: Case) -> Speed:
    """Return the speed of ``case`` on this machine, on one thread of numpy."""
    question = Question.of(case)
    cold = _seconds(lambda: _search(question))
    warm = min(_seconds(lambda: _search(question)) for _ in range(REPEATS))
    plans = question.plans()
    pricing = min(_seconds(lambda: _price(question, plans)) for _ in range(REPEATS))
    return Speed(
        case, len(plans), distinct(plans), cold, warm, pricing, _one_by_one(question, plans)
    )


def _search(question: Question) -> None:
    search(
        question.workload,
        question.system,
        question.space,
        profile=question.profile,
        pricer=question.pricer,
        top=5,
    )


def _price(question: Question, plans: Plans) -> None:
    evaluate(
        question.workload,
        question.system,
        plans,
        profile=question.profile,
        pricer=question.pricer,
    )


def _one_by_one(question: Question, plans: Plans) -> float:
    """Mean seconds per plan in a plain loop."""
    chosen = [plans.row(int(i)) for i in np.linspace(0, len(plans) - 1, ONE_BY_ONE)]
    alone = [Plans.of([plan]) for plan in chosen]

    def loop() -> None:
        for plan in alone:
            _price(question, plan)

    return _seconds(loop) / len(alone)


def _seconds(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start
