"""Penalties: what the step model is known to be optimistic about, said and priced.

A search finds the corners where a model flatters itself. The best plans are therefore ordered
by step time times the penalties below. Each is a judgement ("assumed"), not a fit: it changes
the order, never the step time that is reported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from artery.core.arrays import Floats
from artery.core.system import System
from artery.step.evaluate import Evaluation


@dataclass(frozen=True, slots=True)
class Penalty:
    """``factor`` multiplies the ranked time of the plans for which ``applies`` is true."""

    factor: float
    reason: str
    applies: Callable[[Evaluation, System], NDArray[np.bool_]]


def _domain(system: System) -> int:
    return system.tiers[0].chips if system.tiers else 1


PENALTIES: tuple[Penalty, ...] = (
    Penalty(
        1.05,
        "memory is at the limit: one larger batch or a fragmented heap and it does not fit",
        lambda e, s: e.fits == 1,
    ),
    Penalty(
        1.08,
        "FSDP over more than 512 ranks: no published run confirms that its traffic still hides",
        lambda e, s: (e.plans.zero == 3) & (e.plans.dp * e.plans.cp > 512 * e.plans.dp_replicate),
    ),
    Penalty(
        1.10,
        "FSDP together with a pipeline: weights are gathered for every micro-batch and stage",
        lambda e, s: (e.plans.zero == 3) & (e.plans.pp > 1),
    ),
    Penalty(
        1.10,
        "tensor parallelism leaves the scale-up domain: small messages on the network",
        lambda e, s: e.plans.tp > _domain(s),
    ),
    Penalty(
        1.03,
        "context parallelism: validated on few published runs",
        lambda e, s: e.plans.cp > 1,
    ),
    Penalty(
        1.02,
        "more than four chunks per stage: schedule overheads grow with each",
        lambda e, s: e.plans.vpp > 4,
    ),
)


def penalties(evaluation: Evaluation, system: System) -> Floats:
    """Return the product of the penalties that apply to each plan."""
    factor = np.ones(len(evaluation.plans))
    for penalty in PENALTIES:
        factor = factor * np.where(penalty.applies(evaluation, system), penalty.factor, 1.0)
    return factor


def reasons(evaluation: Evaluation, system: System, index: int) -> tuple[str, ...]:
    """Return why the plan at ``index`` is ranked behind its step time."""
    return tuple(p.reason for p in PENALTIES if p.applies(evaluation, system)[index])
