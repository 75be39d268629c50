"""Pipelined collectives as one variable each: what all their edges share is their rate.

All edges of a ring or a tree pass on the same bytes at the same rate r, so that a pipe takes
count·r of a link that count of its edges cross, and the network of a hundred thousand flows
becomes one of a few variables. They flow at their max-min fair rates (``artery.native.fluid``).
With hop = latency + segment / bandwidth of one edge, a pipe of ``amount`` bytes per edge takes

    time = max(amount / r, fill + (behind - segment) / r)

- fill: what the first segment takes from end to end: depth · mean hop round a ring, the
  longest chain of hops up and down a tree;
- behind: the bytes that follow it through the same door: a ring's chunk, all of a tree's.

For a ring in whole chunks c = behind = segment this is depth · max(c / r, mean hop), the greatest
cycle mean of its max-plus recurrence (Baccelli et al., *Synchronization and Linearity*, 1992,
theorem 3.23): all steps of a rank use one port, and the n hops of one round follow each other.

Alone on its links, a pipe would have the least of rate / count. A link that would not be full if
every pipe on it had that never is, and of those that a pipe has to itself only the tightest
matters; so only the others enter the solve, and its answer stays exact. Links of one rate that
the same pipes cross as often are full at the same time: one of them is enough. They are told
apart by a sum of 64 mixed bits for each crossing; that two of a million different ones have the
same has a chance of 3e-8.
"""

from __future__ import annotations

from ctypes import Structure, byref, c_double, c_int64, c_void_p
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from artery.errors import UsageError
from artery.native import crossed as twin
from artery.native import library
from artery.native.buffers import address, contiguous
from artery.native.crossed import NO_TREE, Crossed
from artery.native.fluid import NO_CHANGES, Flowed, fluid
from artery.native.gates import at_times
from artery.native.pipelines import Pipelines, check_pipes
from artery.native.work import PICOSECONDS, Links, Longs, Transfers, Work

if TYPE_CHECKING:
    from ctypes import CDLL

FULL: Final = 1 - 1e-9
"""A link filled to less than this part by all that could ever come is no bottleneck."""
FEW: Final = 4096
"""Crossings up to which it does not pay to look for links that are alike."""
EXACT: Final = 4_000_000_000
"""Pipes times crossings up to which the rates are set anew as each pipe ends: some seconds."""
CROSSED: Final = 50_000_000
"""Crossings looked at beyond that, about: some seconds. Pipes that end soon after each other then
share one change of the rates; 288 long ones beside 12,288 short ones are less than 1 % late so."""
LEAST_PARTS: Final = 32
"""Moments at least at which the rates of so many pipes change, in the time that the longest takes
alone: no end is later than a 32nd of it."""
_INPUTS: Final[dict[str, type[np.int64 | np.int32]]] = {
    "rate": np.int64, "latency": np.int64, "start": np.int64, "link": np.int32, "wave": np.int64,
    "pipe": np.int64, "depth": np.int64, "amount": np.int64, "segment": np.int64,
    "toward": np.int64, "role": np.int64,
}  # fmt: skip
_OUTPUTS: Final = ("first", "crossed", "count", "carried", "crossings", "fill")
_NO_TREE: Final = 2
"""What coupled.c returns where a tree leads nowhere."""


@dataclass(frozen=True, slots=True)
class Steady:
    """What came out, by pipe: ``time`` from release to end and ``fill`` of the first segment, ps.

    ``flow`` is amount / r with what r was on the average (ps), ``bytes`` is what crosses each
    link (int64[links]), ``crossings`` the greatest number of edges of a pipe on one link, and
    ``flowed`` the rates' own account.
    """

    time: Longs
    fill: Longs
    flow: Longs
    bytes: Longs
    crossings: Longs
    flowed: Flowed


def coupled(links: Links, pipes: Pipelines) -> Steady:
    """Return how long each pipe takes beside the others.

    O(crossings), and little memory beside the paths. A time of -1: never, or not in 46 days.
    Raises ``UsageError`` where the arrays do not fit together.
    """
    check_pipes(links, pipes)
    core = library()
    found, keep = _twins(links, pipes) if core is None else _compiled(core, links, pipes)
    count = pipes.amount.size
    release = np.zeros(count, np.int64) if pipes.release is None else pipes.release
    flowed = _flow(links, pipes, found, np.flatnonzero(keep), release)
    sent = flowed.played.sent
    flow = np.where(sent < 0, -1, sent - release) if sent is not None else release
    follows = flow * ((pipes.behind - pipes.segment) / np.maximum(pipes.amount, 1))
    time = np.maximum(flow, found.fill + np.ceil(follows).astype(np.int64))
    time = np.where(flow < 0, -1, np.where(pipes.amount == 0, 0, time))
    return Steady(time, found.fill, flow, found.carried, found.crossings, flowed)


def _twins(links: Links, pipes: Pipelines) -> tuple[Crossed, NDArray[np.bool_]]:
    """Return what the pipes cross and which of it can hold them back."""
    found = twin.crossed(links, pipes)
    return found, twin.narrow(links, found, FULL, FEW)


class _Record(Structure):
    """``struct pipes`` of coupled.c."""

    _fields_ = (
        *((name, c_int64) for name in ("links", "pipes", "edges")),
        *((name, c_void_p) for name in (*_INPUTS, *_OUTPUTS)),
    )


def _compiled(core: CDLL, links: Links, pipes: Pipelines) -> tuple[Crossed, NDArray[np.bool_]]:
    """Return the same from C."""
    given: dict[str, NDArray[Any] | None] = {
        name: getattr(links if name in {"rate", "latency"} else pipes, name) for name in _INPUTS
    }
    kept = [
        None if array is None else contiguous(array, _INPUTS[name]) for name, array in given.items()
    ]
    number, crossings = pipes.amount.size, pipes.link.size
    found = Crossed(
        np.zeros(number + 1, np.int64),
        np.empty(crossings, np.int32),
        np.empty(crossings, np.int32),
        np.zeros(links.rate.size, np.int64),
        np.zeros(number, np.int64),
        np.zeros(number, np.int64),
    )
    outputs = (
        found.first, found.link, found.count, found.carried, found.crossings, found.fill
    )  # fmt: skip
    record = _Record(
        links.rate.size, number, pipes.start.size - 1, *map(address, (*kept, *outputs))
    )
    failed = core.artery_cross(byref(record))
    if failed == _NO_TREE:
        raise UsageError(NO_TREE)
    keep = np.zeros(int(found.first[-1]), np.bool_)
    if failed or core.artery_narrow(byref(record), c_double(FULL), c_int64(FEW), address(keep)):
        raise MemoryError("the coupled engine ran out of memory")
    return found, keep


def _flow(
    links: Links, pipes: Pipelines, found: Crossed, kept: NDArray[np.intp], release: Longs
) -> Flowed:
    """Let the pipes flow over the links that can hold them back."""
    owner = np.searchsorted(found.first, kept, side="right") - 1
    names, place = np.unique(found.link[kept], return_inverse=True)
    order = np.lexsort((place, owner))
    start = np.searchsorted(owner, np.arange(pipes.amount.size + 1)).astype(np.int64)
    narrow = Links(links.rate[names], np.zeros(names.size, np.int64))
    transfers = Transfers(
        pipes.amount,
        np.arange(pipes.amount.size, dtype=np.int32),
        start,
        place[order].astype(np.int32),
    )
    work = Work(narrow, transfers, at_times(release))
    weight = found.count[kept[order]].astype(np.float64)
    return fluid(work, NO_CHANGES, weight, epsilon=together(work, weight))


def together(work: Work, weight: NDArray[np.float64]) -> int:
    """Return how far apart (ps) ends of pipes may be that change the rates at once, 0 for few.

    That is a part of the time that the longest pipe takes alone, so that the rates change a
    bounded number of times however many end.
    """
    pipes, crossings = work.transfers.size.size, work.transfers.link.size
    if pipes * crossings <= EXACT:
        return 0
    seconds = weight / np.maximum(work.links.rate[work.transfers.link], 1)
    owner = np.repeat(np.arange(pipes), np.diff(work.transfers.start))
    alone = float((seconds * work.transfers.size[owner]).max(initial=0.0))
    return int(alone * PICOSECONDS / max(LEAST_PARTS, CROSSED / crossings))
