"""What a fault costs the job that runs there: its step, and dollars, before and after the repair.

The plan is the same in both; only the system is priced as it is, and as it should be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from artery.answers.diagnose.system import Stand
from artery.answers.diagnose.worlds import change
from artery.answers.expect.pricing import Setting
from artery.answers.libraries import library_of
from artery.answers.plan import plan
from artery.collective.closed_form import ClosedForm
from artery.collective.placement import packed
from artery.core.plan import Plan
from artery.core.system import System
from artery.diagnoser.case import Fact, number
from artery.diagnoser.rules import World
from artery.step.evaluate import evaluate
from artery.units.durations import DAY, HOUR

DEGREES: Final = ("tp", "pp", "cp", "ep", "dp")


@dataclass(frozen=True, slots=True)
class Job:
    """The job's step in s as the system is (``now``) and should be (``repaired``).

    ``cost_per_hour`` of all chips in USD, ``None`` where no price is known. ``fits`` says whether
    the plan fits in memory.
    """

    model: str
    system: str
    plan: Plan
    now: float
    repaired: float
    samples: int
    cost_per_hour: float | None
    fits: str

    @property
    def lost(self) -> float:
        """The share of its time that the job loses to the fault."""
        return 1.0 - self.repaired / self.now

    @property
    def lost_per_day(self) -> float | None:
        """USD that a day of the fault costs."""
        hourly = self.cost_per_hour
        return None if hourly is None else hourly * DAY / HOUR * self.lost


def job_of(model: str, facts: Mapping[str, Fact], stand: Stand, world: World) -> Job | None:
    """Return what ``world`` makes of the best plan for ``model`` with the degrees in ``facts``.

    ``None`` where the system is no catalog's, or the world changes nothing there. Raises
    ``InputError`` for a model that is not known, or degrees that cannot be.
    """
    if stand.setting is None or not stand.base:
        return None
    on = f"{stand.base}:{stand.setting.system.chips}"
    given: dict[str, Any] = {name: int(number(facts, name) or 0) or None for name in DEGREES}
    answer = plan(model, on, overrides=stand.overrides, nccl=stand.nccl, explained=False, **given)
    best = answer.plans[0]
    broken = _broken(answer.system, stand.nccl, world)
    if broken is None:
        return None
    priced = evaluate(
        answer.workload, broken.system, [best.plan], profile=answer.profile,
        pricer=ClosedForm(broken.system, broken.library, placement=broken.placement),
    )  # fmt: skip
    return Job(
        model=answer.workload.name,
        system=on,
        plan=best.plan,
        now=float(priced.step[0]),
        repaired=best.time.root.value,
        samples=best.plan.global_batch,
        cost_per_hour=best.cost_per_hour,
        fits=best.fits,
    )


def _broken(system: System, nccl: str | None, world: World) -> Setting | None:
    library = library_of(system, nccl if system.library == "nccl" else None)
    whole = Setting(system, library, system.chips, packed(system.chips), addable=True)
    return change(whole, world)
