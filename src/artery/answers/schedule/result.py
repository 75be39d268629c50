"""What ``schedule`` answers."""

from __future__ import annotations

from dataclasses import dataclass

from artery.answers.schedule.jobs import Jobs
from artery.answers.schedule.request import Request
from artery.cloud.fleet_job import FleetJob
from artery.cloud.policies import Policy
from artery.core.failure import FailureModel
from artery.core.system import System
from artery.simulator.fleet.outcome import Outcome
from artery.simulator.fleet.records import Slice


@dataclass(frozen=True, slots=True)
class Played:
    """One policy and what came of it; ``cost`` in US dollars for all chips until the end."""

    policy: Policy
    outcome: Outcome
    cost: float | None
    slices: tuple[Slice, ...] = ()


@dataclass(frozen=True, slots=True)
class Sized:
    """The fewest ``chips`` with which ``policy`` meets the target; ``None``: more than tried.

    ``reached`` is the measure with them, ``less`` the saving against the first policy's chips;
    ``why`` says why there are no such chips.
    """

    policy: str
    chips: int | None
    reached: float | None
    less: float | None
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Sizing:
    """A cluster sized for a ``measure`` of at most ``target`` seconds, from ``origin``."""

    measure: str
    target: float
    origin: str
    rows: tuple[Sized, ...]


@dataclass(frozen=True, slots=True)
class Pools:
    """Serving beside training: together (``shared``) and on chips of its own (``apart``).

    ``chips`` serve at least, ``peak`` at most; ``reserved`` is what the pool of its own takes.
    ``replicas`` are those that serve, as jobs. ``notes`` say what was assumed of it.
    """

    chips: int
    peak: int
    reserved: int
    shared: tuple[Played, ...]
    apart: tuple[Played, ...]
    replicas: tuple[FleetJob, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Spotted:
    """What came of one way to run: ``steps`` kept, and where the granted instances' time went."""

    name: str
    instances: int
    steps: float
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Spot:
    """Ways to run on a trace: ``elastic``, and four of a fixed size.

    ``best`` keeps most of all sizes, known only afterwards; ``mean`` has the mean number of
    instances, ``most`` the largest. ``usual`` is ``most`` with a checkpoint every
    :data:`~artery.answers.schedule.spot.USUAL` seconds. ``interval`` seconds of work lie between
    the checkpoints of the others, at ``losses`` a day and instance. ``fixed`` has every size,
    rising, at which the model fits in memory; none: ``fits`` is false and all are there, as if it
    did. ``unfit`` says so.
    """

    duration: float
    mean_instances: float
    losses: float
    interval: float
    elastic: Spotted
    best: Spotted
    mean: Spotted
    most: Spotted
    usual: Spotted
    fixed: tuple[Spotted, ...] = ()
    fits: bool = True
    unfit: tuple[str, ...] = ()

    @property
    def ways(self) -> tuple[Spotted, ...]:
        """All of them, the elastic one first."""
        return self.elastic, self.best, self.mean, self.most, self.usual


@dataclass(frozen=True, slots=True)
class ScheduleAnswer:
    """Jobs on a system under each policy. ``load`` is the chip-time asked for over that there is.

    ``load`` counts until the last submission. ``spot`` is there if the trace is one of spot
    instances: one job that trains for as long as it lasts.
    """

    system: System
    request: Request
    jobs: Jobs
    load: float
    failures: FailureModel | None
    played: tuple[Played, ...]
    sizing: Sizing | None
    pools: Pools | None
    spot: Spot | None
    warnings: tuple[str, ...]
