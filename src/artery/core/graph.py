"""``TaskGraph``: messages and computation with explicit dependencies, as foreign traces give them.

What artery builds itself is a :class:`artery.core.schedule.Schedule`, a function from step to
arrays; explicit lists are for imports only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from artery.core.pricing import Collective


@dataclass(frozen=True, slots=True)
class Operation:
    """A collective of ``size`` bytes (by nccl-tests' convention) over some ``ranks``.

    ``tasks`` are the tasks, one of each rank in the same order, that take part in it.
    """

    collective: Collective
    size: int
    ranks: tuple[int, ...]
    tasks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TaskGraph:
    """Tasks of ``ranks`` ranks, as arrays of one length.

    ``rank`` says whose task it is, ``partner`` is the index of the receive that belongs to a
    send and of the send that belongs to a receive, -1 for computation. ``sends`` tells sends
    from receives. ``size`` is the bytes of a message, ``delay`` the picoseconds of computation.

    Task t starts when the tasks ``after[start[t]:start[t + 1]]`` are done, or, where
    ``begun`` says so, have started. A send is done when the message has left, a receive when it
    is delivered (and has started).

    ``operations`` are collectives; their tasks have no partner and no delay, and each is done when
    its rank is done with the collective. ``names`` are the tasks' own, empty where none has one.
    """

    ranks: int
    rank: NDArray[np.int64]
    sends: NDArray[np.bool_]
    partner: NDArray[np.int64]
    size: NDArray[np.int64]
    delay: NDArray[np.int64]
    start: NDArray[np.int64]
    after: NDArray[np.int64]
    begun: NDArray[np.bool_]
    operations: tuple[Operation, ...] = ()
    names: tuple[str, ...] = ()
