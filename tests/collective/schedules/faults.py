"""Schedules spoilt on purpose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from artery.collective.schedules.transfers import chosen, together
from artery.core.schedule import Schedule, Step

Spoil = Callable[[Schedule, int, int], Schedule]


def dropped(schedule: Schedule, k: int, at: int) -> Schedule:
    """Leave out transfer ``at`` of step ``k``."""
    return _changed(schedule, k, lambda step: _without(step, at))


def doubled(schedule: Schedule, k: int, at: int) -> Schedule:
    """Do transfer ``at`` of step ``k`` twice in that step."""
    return _changed(schedule, k, lambda step: together(step, _only(step, at)))


def misdirected(schedule: Schedule, k: int, at: int) -> Schedule:
    """Send transfer ``at`` of step ``k`` one rank too far."""

    def change(step: Step) -> Step:
        target = step.target.copy()
        target[at] = (target[at] + 1) % schedule.ranks
        return replace(step, target=target)

    return _changed(schedule, k, change)


def copied(schedule: Schedule, k: int, at: int) -> Schedule:
    """Overwrite instead of adding, or add instead of overwriting."""

    def change(step: Step) -> Step:
        reduce = step.reduce.copy()
        reduce[at] = ~reduce[at]
        return replace(step, reduce=reduce)

    return _changed(schedule, k, change)


def _changed(schedule: Schedule, k: int, change: Callable[[Step], Step]) -> Schedule:
    def step(now: int) -> Step:
        one = schedule.step(now)
        return change(one) if now == k else one

    return replace(schedule, step=step)


def _without(step: Step, at: int) -> Step:
    return chosen(step, np.flatnonzero(np.arange(len(step.source)) != at))


def _only(step: Step, at: int) -> Step:
    return chosen(step, np.array([at]))
