"""What ranks start with, and what they must hold in the end, exactly.

Every element of every rank has a value of its own, drawn by a hash of its place, so that every
process knows the values of all. Integers are summed modulo 2^bits. Floats are multiples of
2^-(p-1) below one for a significand of p bits: exact in their type, and so are their sums in
float64. A sum of n of them in any order is off by at most (n-1)u/(1-(n-1)u) times the sum of
magnitudes, u = 2^-p (Higham, "Accuracy and Stability of Numerical Algorithms", 2002, section 4.2).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from artery.collective.verify import asked, own, owners
from artery.core.schedule import Schedule
from artery.runner.executor.program import bounds
from artery.runner.executor.transport import Buffer, Transport

SIGNIFICAND: Final = {"half": 11, "bfloat16": 8, "float": 24, "double": 53}
"""Bits, the hidden one included (IEEE 754; bfloat16 as in Intel's and Google's papers)."""

_DRAWN: Final = 24
"""Most bits that are drawn, so that sums over 2^29 ranks are exact in float64."""

_PART: Final = 1 << 20
"""Elements that are checked at once, so that a check needs little memory."""

_INTEGERS: Final = {
    "int8": np.int8, "uint8": np.uint8, "int32": np.int32, "uint32": np.uint32,
    "int64": np.int64, "uint64": np.uint64,
}  # fmt: skip


def drawn(rank: int, begin: int, end: int, dtype: str) -> NDArray[Any]:
    """Return the values that ``rank`` has in elements ``begin`` to ``end`` - 1.

    The finaliser of SplitMix64 (Steele, Lea and Flood, 2014) over the place of the element.
    """
    value = np.arange(begin, end, dtype=np.uint64)
    value += np.uint64((rank + 1) * 0x9E3779B97F4A7C15 % 2**64)
    value ^= value >> np.uint64(30)
    value *= np.uint64(0xBF58476D1CE4E5B9)
    value ^= value >> np.uint64(27)
    value *= np.uint64(0x94D049BB133111EB)
    value ^= value >> np.uint64(31)
    if dtype in _INTEGERS:
        return value.astype(_INTEGERS[dtype])
    bits = min(SIGNIFICAND[dtype], _DRAWN)
    signed = (value >> np.uint64(64 - bits)).astype(np.int64) - (1 << (bits - 1))
    return np.asarray(signed / float(1 << (bits - 1)))


def fill(transport: Transport, schedule: Schedule, buffers: dict[int, Buffer],
         elements: int, dtype: str) -> None:  # fmt: skip
    """Write what each rank of this process starts with into its buffer.

    What a rank does not start with, and what switches hold, is spoilt instead (-1).
    """
    starts = own(schedule)
    cut = bounds(schedule, elements)
    for vertex, buffer in buffers.items():
        spoilt = 255 if dtype.startswith("u") else -1
        if vertex >= schedule.ranks:
            buffer[...] = spoilt
            continue
        for begin, end, _ in _runs(~starts[vertex], cut):
            buffer[begin:end] = spoilt
        for begin, end, _ in _runs(starts[vertex], cut):
            transport.filled(buffer[begin:end], drawn(vertex, begin, end, dtype))


def wrong(transport: Transport, schedule: Schedule, buffers: dict[int, Buffer],
          elements: int, dtype: str) -> int:  # fmt: skip
    """Return how many elements that the ranks of this process must hold are not the exact sum."""
    cut = bounds(schedule, elements)
    needed = asked(schedule)
    holders = _holders(schedule)
    count = 0
    for vertex, buffer in buffers.items():
        if vertex >= schedule.ranks:
            continue
        for begin, end, chunks in _runs(needed[vertex], cut, holders):
            ranks = range(schedule.ranks) if holders is None else (int(holders[chunks]),)
            for part in range(begin, end, _PART):
                stop = min(part + _PART, end)
                found = transport.read(buffer[part:stop])
                count += differing(found, ranks, part, dtype)
    return count


def differing(found: NDArray[Any], ranks: range | tuple[int, ...], begin: int, dtype: str) -> int:
    """Return how many of ``found``, elements from ``begin`` on, are not the sum of ``ranks``."""
    end = begin + len(found)
    if dtype in _INTEGERS:
        total = np.zeros(len(found), _INTEGERS[dtype])
        for rank in ranks:
            total += drawn(rank, begin, end, dtype)
        return int(np.count_nonzero(found != total))
    exact, size = np.zeros(len(found)), np.zeros(len(found))
    for rank in ranks:
        values = drawn(rank, begin, end, dtype)
        exact += values
        size += np.abs(values)
    error = (len(ranks) - 1) * 2.0 ** -SIGNIFICAND[dtype]
    return int(np.count_nonzero(~(np.abs(found - exact) <= error / (1 - error) * size)))


def _holders(schedule: Schedule) -> NDArray[np.int64] | None:
    """Return who starts with each chunk; ``None`` if all ranks do and their sum is asked for."""
    if schedule.collective in {"all_reduce", "reduce_scatter", "reduce"}:
        return None
    if schedule.collective == "broadcast":
        return np.full(schedule.chunks, schedule.root)
    return owners(schedule)


def _runs(
    chosen: NDArray[np.bool_], cut: NDArray[np.int64], holders: NDArray[np.int64] | None = None
) -> Iterator[tuple[int, int, int]]:
    """Yield begin, end (elements) and a chunk of each run of chosen chunks of one holder."""
    chunk = np.flatnonzero(chosen)
    if not len(chunk):
        return
    breaks = np.diff(chunk) > 1
    if holders is not None:
        breaks |= np.diff(holders[chunk]) != 0
    for run in np.split(chunk, np.flatnonzero(breaks) + 1):
        begin, end = int(cut[run[0]]), int(cut[run[-1] + 1])
        if begin < end:
            yield begin, end, int(run[0])
