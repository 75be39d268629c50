"""A collective put on chips: the schedule, the bytes, and which chip each rank is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from artery.core.schedule import Schedule
from artery.errors import InputError, Problem

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """``schedule`` on ``size`` bytes (nccl-tests' convention), rank r on chip ``chips[r]``.

    ``release`` is when it starts, in picoseconds.
    """

    schedule: Schedule
    size: int
    chips: Ints
    release: int = 0


def check(jobs: tuple[Placed, ...], chips: int) -> None:
    """Refuse jobs that do not fit the system's ``chips`` chips.

    Raises ``InputError``: too few places, a chip that is not there, a chip twice in one job.
    """
    for number, job in enumerate(jobs):
        found = np.unique(job.chips)
        if len(job.chips) != job.schedule.ranks or len(found) != len(job.chips):
            raise _problem(f"job {number}", f"{len(found)} chips for {job.schedule.ranks} ranks",
                           "every rank has a chip of its own")  # fmt: skip
        if len(found) and (found[0] < 0 or found[-1] >= chips):
            raise _problem(f"job {number}", f"chip {int(found[-1])}",
                           f"chips are numbered from 0 to {chips - 1}")  # fmt: skip


def _problem(field: str, found: str, rule: str) -> InputError:
    return InputError(Problem(field=field, found=found, rule=rule, fix="another placement"))
