"""What to fix first: each part of the loss halved, and what else is known to help."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from artery.answers.goodput.result import Fix
from artery.cloud.checkpoints import Tier
from artery.cloud.goodput import Job, best, mean_restart, replicas, restart_of, scaled, without
from artery.cloud.told_failures import LEMONS, YOUNG
from artery.units.durations import DAY

MONTH: Final = 30 * DAY

REPLICA_STALL: Final = 180.0
"""Seconds that all replicas wait for one that is lost: 3 minutes (FT-HSDP, arXiv 2602.00277)."""

WORTH_NAMING: Final = 1e-4
"""Assumed: a smaller gain is not worth a line."""


@dataclass(frozen=True, slots=True)
class Mending:
    """What can be changed: ``job`` with the nearest ``interval`` given (or ``None``).

    ``memory`` is a peer's memory if the system has it and it is not used, ``copies`` the
    data-parallel degree.
    """

    job: Job
    interval: float | None
    memory: Tier | None
    copies: int

    def share(self, **changes: Any) -> float:  # noqa: ANN401 - the fields of Job
        """The share of time that trains after ``changes`` to the job."""
        return best(replace(self.job, **changes), self.interval).productive

    def tiers(self, *, save: float, load: float) -> tuple[Tier, ...]:
        """The tiers with their blocking and loading times multiplied."""
        return tuple(
            replace(
                tier,
                save=save * tier.save,
                load=load * tier.load,
                persist=tier.persist - (1.0 - save) * tier.save,
            )
            for tier in self.job.tiers
        )


def fixes(what: Mending, now: float) -> Iterator[tuple[str, str, float]]:
    """Yield (name, change, share of time that then trains) of everything that could be mended.

    Each is taken alone; the intervals follow unless the nearest is given.
    """
    job = what.job
    if what.interval is not None:
        yield "interval", "best", best(job).productive
    yield "failures", "x 0.5", what.share(failures=scaled(job.failures, 0.5))
    for name in (LEMONS, YOUNG):
        if any(each.name == name for each in job.failures.classes):
            yield name, "taken out", what.share(failures=without(job.failures, name))
    for part in job.parts:
        halved = replace(part, value=part.value / 2)
        parts = tuple(halved if each is part else each for each in job.parts)
        yield part.name, "x 0.5", what.share(parts=parts)
    if job.loads:
        yield "load", "x 0.5", what.share(tiers=what.tiers(save=1.0, load=0.5))
    yield "save", "x 0.5", what.share(tiers=what.tiers(save=0.5, load=1.0))
    if what.memory is not None:
        yield "memory_tier", "added", best(replace(job, tiers=(what.memory, *job.tiers))).productive
    if what.copies > 1 and mean_restart(job) > REPLICA_STALL:
        lost = restart_of(job, "node")
        kept = replicas(job.failures.mtbf, REPLICA_STALL, lost, what.copies)
        if kept > now:
            yield "replicas", f"{what.copies}", kept


def ranked(
    found: Iterator[tuple[str, str, float]], now: float, *, hours: float, price: float | None
) -> tuple[Fix, ...]:
    """Return the fixes worth naming, the largest gain first.

    ``hours`` is the chip-hours that the run takes ``now``; the same work at a better share takes
    ``now / share`` of them. ``price`` is US dollars per chip-hour.
    """
    mended = []
    for name, change, share in found:
        if share - now < WORTH_NAMING:
            continue
        saved = hours * (1.0 - now / share)
        cost = None if price is None else saved * price
        mended.append(Fix(name, change, share, share - now, saved, cost))
    return tuple(sorted(mended, key=lambda fix: -fix.gain))
