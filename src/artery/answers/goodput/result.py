"""What ``goodput`` answers."""

from __future__ import annotations

from dataclasses import dataclass

from artery.answers.goodput.request import Circumstances
from artery.answers.plan.result import PlanAnswer
from artery.cloud.checkpoints import State, Tier, TierName
from artery.cloud.goodput import Shares
from artery.core.failure import FailureModel
from artery.core.term import Term


@dataclass(frozen=True, slots=True)
class Choice:
    """Checkpoints on these tiers, at their best intervals."""

    tiers: tuple[TierName, ...]
    shares: Shares


@dataclass(frozen=True, slots=True)
class Intervals:
    """The interval between checkpoints on the nearest tier by three formulas, in seconds.

    ``best`` is the one used: that of the complete model over all tiers, at least ``least`` (a
    copy must be safe before the next is taken), or the one given.
    """

    young: float
    daly: float
    complete: float
    least: float
    best: float
    given: bool


@dataclass(frozen=True, slots=True)
class Definitions:
    """One run by the definitions in use; all fractions of 1.

    ``meta_ettr``: productive time over wall clock, queue included (arXiv 2410.21680).
    ``dlrover_goodput``: time on new steps over time since the start. Google's (arXiv 2502.06982)
    is a product: ``google_scheduling``, all chips there; ``google_runtime``, progress kept of that;
    ``google_program``, ideal step over step (here the MFU).
    """

    meta_ettr: float
    dlrover_goodput: float
    google_scheduling: float
    google_runtime: float
    google_program: float

    @property
    def google_goodput(self) -> float:
        """Google's ML productivity goodput: the product of its three."""
        return self.google_scheduling * self.google_runtime * self.google_program


@dataclass(frozen=True, slots=True)
class Availability:
    """``job`` is the share of time not spent on recovery, ``node`` that one node is up.

    ``five_nines_restart`` is the restart, in seconds, with which the job would reach 99.999 %.
    """

    job: float
    job_nines: float
    node: float
    node_nines: float
    five_nines_restart: float


@dataclass(frozen=True, slots=True)
class Spares:
    """Nodes to keep spare: ``needed`` so that more are out at most ``risk`` of the time.

    ``out`` is the mean number of nodes out, each for ``repair`` seconds.
    """

    out: float
    repair: float
    risk: float
    needed: int


@dataclass(frozen=True, slots=True)
class Fix:
    """Something to mend, and what it would bring over the run (or thirty days).

    ``gain`` is the change of ``ettr``; ``chip_hours`` and ``cost`` (US dollars; ``None``: price
    unknown) are what is saved for the same work.
    """

    name: str
    change: str
    ettr: float
    gain: float
    chip_hours: float
    cost: float | None


@dataclass(frozen=True, slots=True)
class TrainingTime:
    """The whole run: ``ideal`` seconds without failures, ``expected`` with them.

    ``low`` and ``high`` follow from the range of published failure rates. The three of them begin
    with ``queue`` seconds before the first start, which hold no chips: nothing fails or costs then.
    """

    tokens: float
    ideal: float
    expected: float
    low: float
    high: float
    queue: float
    failures: float
    cost: float | None


@dataclass(frozen=True, slots=True)
class GoodputAnswer:
    """Failures, checkpoints and what they leave of the time.

    ``mtbf`` and ``ettr`` carry the range of the published failure rates. ``recovery`` are the
    parts of a restart after the loss of a node, loading included, and ``restart`` the mean over
    all failures, in seconds. ``tiers`` are all that the system has, ``choices`` sets of them.
    """

    plan: PlanAnswer
    told: Circumstances
    failures: FailureModel
    mtbf: Term
    recovery: tuple[Term, ...]
    restart: float
    state: State
    tiers: tuple[Tier, ...]
    intervals: Intervals
    shares: Shares
    ettr: Term
    definitions: Definitions
    availability: Availability
    spares: Spares
    choices: tuple[Choice, ...]
    levers: tuple[Fix, ...]
    run: TrainingTime | None
    warnings: tuple[str, ...]
