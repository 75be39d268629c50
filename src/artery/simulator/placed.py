"""A collective put on chips: the schedule, the bytes, and which chip each rank is.

A library runs a collective on several channels that do not wait for each other: each of them is
a ``Placed`` of its own, with its share of the bytes, and all have one ``job``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from artery.cluster.network import Network
from artery.collective.library import SLOT
from artery.core.arrays import Ints
from artery.core.schedule import Schedule
from artery.errors import InputError, Problem
from artery.native.work import PICOSECONDS


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """``schedule`` on ``size`` bytes, rank r on chip ``chips[r]``.

    ``size`` is by nccl-tests' convention, or for all-to-all a matrix of what each rank sends to
    each. ``release`` is when it starts, in picoseconds; ``job`` is the job that this is a channel
    of, numbered from 0. ``vertices`` are the vertices of the network that are the schedule's
    switches (-1: the one inside a node), ``None`` where all are inside nodes; ``again`` lays such
    a job anew on a network of which parts have failed. ``piece`` bytes are passed on as one down
    chains and trees at most.
    """

    schedule: Schedule
    size: int | Ints
    chips: Ints
    release: int = 0
    job: int = 0
    vertices: Ints | None = None
    again: Callable[[Network], Placed] | None = None
    piece: int = SLOT

    @property
    def total(self) -> int:
        """Bytes of the buffer: of a matrix the most that a rank sends."""
        return buffer(self.size)


def buffer(size: int | Ints) -> int:
    """Return the bytes of a rank's buffer: of a matrix the most that a rank sends."""
    return size if isinstance(size, int) else int(size.sum(axis=1).max())


def releases(jobs: tuple[Placed, ...]) -> list[float]:
    """Return when each job starts, in seconds."""
    many = 1 + max((one.job for one in jobs), default=-1)
    found = [0.0] * many
    for one in jobs:
        found[one.job] = one.release / PICOSECONDS
    return found


def latest(jobs: tuple[Placed, ...], late: Mapping[int, float]) -> list[float]:
    """Return by how much the last rank of each job begins later (s): all wait for it.

    ``late`` maps a chip to the seconds by which it does.
    """
    found = [0.0] * len(releases(jobs))
    for chip, seconds in late.items():
        for one in jobs:
            if (one.chips == chip).any():
                found[one.job] = max(found[one.job], seconds)
    return found


def check(jobs: tuple[Placed, ...], chips: int) -> None:
    """Refuse jobs that do not fit the system's ``chips`` chips.

    Raises ``InputError``: too few places, a chip that is not there, a chip twice in one job.
    """
    for job in jobs:
        where = job.chips
        if len(where) and (where.min() < 0 or where.max() >= chips):
            found = int(where.min() if where.min() < 0 else where.max())
            raise _problem(f"job {job.job}", f"chip {found}",
                           f"chips are numbered from 0 to {chips - 1}")  # fmt: skip
        found = int(np.count_nonzero(np.bincount(where)))
        if len(where) != job.schedule.ranks or found != len(where):
            raise _problem(f"job {job.job}", f"{found} chips for {job.schedule.ranks} ranks",
                           "every rank has a chip of its own")  # fmt: skip


def _problem(field: str, found: str, rule: str) -> InputError:
    return InputError(Problem(field=field, found=found, rule=rule, fix="another placement"))
