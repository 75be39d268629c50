"""The one place where the accuracy pages call the model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from accuracy.rows import Row
from accuracy.score import Scored
from artery.answers.pricing import closed_form
from artery.catalog import profile, system
from artery.core.plan import Plan
from artery.core.pricing import Pricer
from artery.core.system import System
from artery.core.workload import Workload
from artery.step import evaluate

FITS = ("no", "at_limit", "yes")
"""What the evaluation's ``fits`` means, by its value."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """One plan priced.

    Seconds per step with their 80 % interval, bytes per chip, whether they fit (``FITS``), and
    the model's FLOP per step.
    """

    seconds: float
    low: float
    high: float
    memory: float
    activations: float
    fits: str
    flops: float


Predictor = Callable[[Workload, str, str, Sequence[Plan]], Sequence[Prediction]]
"""(workload, system, profile, plans) to one prediction per plan."""


def predict(
    workload: Workload, system_name: str, profile_name: str, plans: Sequence[Plan]
) -> tuple[Prediction, ...]:
    """Return the model's prediction for each of ``plans`` on a catalog system."""
    return tuple(_one(workload, system_name, profile_name, plan) for plan in plans)


@cache
def _priced(system_name: str) -> tuple[System, Pricer]:
    found = system(system_name)
    return found, closed_form(found)


def _one(workload: Workload, system_name: str, profile_name: str, plan: Plan) -> Prediction:
    found, pricer = _priced(system_name)
    answer = evaluate(workload, found, [plan], profile=profile(profile_name), pricer=pricer)
    return Prediction(
        seconds=float(answer.step[0]),
        low=float(answer.low[0]),
        high=float(answer.high[0]),
        memory=float(answer.memory.total[0]),
        activations=float(answer.memory.activations[0]),
        fits=FITS[int(answer.fits[0])],
        flops=float(answer.flops.model[0]),
    )


def predict_rows(
    rows: Iterable[Row], predictor: Predictor = predict
) -> dict[str, Sequence[Prediction]]:
    """Return the predictions of each row's plan and alternatives, by the row's id."""
    return {r.id: predictor(r.workload, r.system, r.profile, r.plans) for r in rows}


def scored(row: Row, predictions: Sequence[Prediction]) -> Scored:
    """Return ``row`` beside its prediction; alternatives only widen the interval."""
    first = predictions[0]
    return Scored(
        id=row.id,
        table=row.table,
        chip=row.recipe.system,
        measured=row.seconds,
        predicted=first.seconds,
        low=min(one.low for one in predictions),
        high=max(one.high for one in predictions),
        model_flops_rate=first.flops / row.seconds / row.plan.chips,
        recalled=row.record.recalled,
    )
