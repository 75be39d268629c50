"""What ``plan`` answers: one record per plan, and the answer that holds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from artery.answers.plan.collectives import Chosen
from artery.answers.plan.contention import Network
from artery.core.plan import Plan
from artery.core.profile import Profile
from artery.core.system import System
from artery.core.term import Estimate
from artery.core.workload import Workload

Fits = Literal["yes", "at_limit", "no"]


@dataclass(frozen=True, slots=True)
class Lever:
    """Something that would change the step time.

    ``kind`` is ``resource`` (a bandwidth, a peak, a latency: ``elasticity`` is
    d log time / d log resource) or ``change`` (a concrete different plan or part).
    ``effect`` is the relative change of the step time, -0.07 for seven percent faster.
    ``fits`` says whether the changed plan still fits in memory.
    """

    kind: Literal["resource", "change"]
    name: str
    change: str
    effect: float
    elasticity: float | None = None
    fits: Fits = "yes"


@dataclass(frozen=True, slots=True)
class Run:
    """The whole run: ``energy`` in joules and ``cost`` in US dollars may be unknown."""

    tokens: float
    steps: float
    seconds: float
    energy: float | None
    cost: float | None


@dataclass(frozen=True, slots=True)
class PlanResult:
    """One plan, priced.

    ``time`` is a tree rooted in ``step`` whose children are the parts of the breakdown
    (``compute``, ``memory_bound``, ``tp``, ``pp``, ``cp``, ``ep``, ``dp``, ``bubble``,
    ``optimizer``, ``host``, ``straggler``, ``other``; they sum to the step). ``memory`` is a
    tree rooted in ``memory`` with children ``weights``, ``gradients``, ``optimizer``,
    ``activations``, ``other``, in bytes per chip of the fullest pipeline stage.
    ``samples_per_s`` and ``tokens_per_s`` are of the whole job; tokens are ``None`` for
    workloads without tokens. ``energy_per_step`` in joules and ``cost_per_hour`` in
    US dollars are ``None`` when power or price is unknown. ``network`` is what simulating the
    communication showed, ``None`` where the closed form priced it. ``collectives`` say which
    algorithm the library runs each collective by.
    """

    plan: Plan
    time: Estimate
    memory: Estimate
    fits: Fits
    capacity: float
    tokens_per_s: float | None
    samples_per_s: float
    mfu: float
    hfu: float
    limited_by: tuple[str, ...]
    levers: tuple[Lever, ...]
    energy_per_step: float | None
    cost_per_hour: float | None
    run: Run | None = None
    penalty: float = 1.0
    notes: tuple[str, ...] = ()
    network: Network | None = None
    collectives: tuple[Chosen, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanAnswer:
    """The plans, best first, and what was searched to find them.

    ``searched`` counts the legal plans that were priced, ``fitting`` those that fit or nearly do.
    ``given`` says that every degree was given, so that nothing was searched.
    """

    workload: Workload
    system: System
    profile: Profile
    plans: tuple[PlanResult, ...]
    searched: int
    fitting: int
    given: bool
    warnings: tuple[str, ...] = ()
