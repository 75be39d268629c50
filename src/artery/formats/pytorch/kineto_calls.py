"""Collectives of a Kineto trace by what they moved: count and time of each size and group.

Newer PyTorch puts into the ``args`` of NCCL's and RCCL's kernels which collective ran, of how many
elements of what type, in a group of how many ranks; older releases write no sizes. The same stands
at ``record_param_comms`` on the processor, whose time is that of the launch alone.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import Any, Final, NamedTuple

from artery.units import show_bytes, show_time

_KEYS: Final = 1000
"""Assumed: collectives told apart by size and group; all-to-all of experts has a size a call."""
_LISTED: Final = 200
"""Assumed: collectives listed, those of most time first."""
_SAMPLES: Final = 1024
"""Assumed: calls whose median is taken, evenly spread over all."""
_MOST_BYTES: Final = 2**50
"""Assumed: no message is larger."""
_MOST_RANKS: Final = 10_000_000

_COLLECTIVES: Final[Mapping[str, tuple[str, str]]] = {
    "allreduce": ("all_reduce", "In msg nelems"),
    "allgather": ("all_gather", "Out msg nelems"),
    "reducescatter": ("reduce_scatter", "In msg nelems"),
    "alltoall": ("alltoall", "In msg nelems"),
    "alltoallv": ("alltoall", "In msg nelems"),
    "broadcast": ("broadcast", "In msg nelems"),
    "reduce": ("reduce", "In msg nelems"),
    "send": ("send", "In msg nelems"),
    "recv": ("recv", "Out msg nelems"),
}
"""Name, and what counts as its size by the convention of nccl-tests, by PyTorch's name."""

_VARIANT: Final = re.compile(r"_|base$|oop$|coalesced$|into_tensor|tensor")
"""What PyTorch's names add: ``_allgather_base``, ``allgather_into_tensor_coalesced``."""

_WIDTHS: Final[Mapping[str, int]] = {
    "byte": 1, "char": 1, "bool": 1, "short": 2, "int": 4, "long": 8, "uint16": 2, "uint32": 4,
    "uint64": 8, "half": 2, "bfloat16": 2, "float": 4, "double": 8, "complexhalf": 4,
    "complexfloat": 8, "complexdouble": 16, "float8_e5m2": 1, "float8_e4m3fn": 1,
    "float8_e5m2fnuz": 1, "float8_e4m3fnuz": 1, "float8_e8m0fnu": 1,
}  # fmt: skip
"""Bytes of an element, by the names of c10::ScalarType."""


class Call(NamedTuple):
    """One collective: ``size`` in bytes as nccl-tests counts, in a group of ``ranks``.

    ``stride`` is the distance between neighbours of the group in rank order; ``None`` where the
    trace does not say it, or the distances differ.
    """

    collective: str
    size: int
    ranks: int
    stride: int | None


@dataclass(slots=True)
class _Times:
    """Times of one call in us: all of them summed, and evenly spread samples."""

    count: int = 0
    total: float = 0.0
    least: float = float("inf")
    samples: array[float] = field(default_factory=lambda: array("d"))
    step: int = 1

    def add(self, length: float) -> None:
        if self.count % self.step == 0:
            if len(self.samples) == _SAMPLES:
                self.samples = self.samples[::2]
                self.step *= 2
            if self.count % self.step == 0:
                self.samples.append(length)
        self.count += 1
        self.total += length
        self.least = min(self.least, length)


@dataclass(slots=True)
class _Table:
    """Times by call; ``left_out`` counts the calls beyond as many as are told apart."""

    known: dict[Call, _Times] = field(default_factory=dict)
    left_out: int = 0

    def add(self, call: Call, length: float) -> None:
        times = self.known.get(call)
        if times is None:
            if len(self.known) == _KEYS:
                self.left_out += 1
                return
            times = self.known[call] = _Times()
        times.add(length)


@dataclass(slots=True)
class Calls:
    """The collectives of a trace: kernels by what they moved, and launches on the processor."""

    kernels: _Table = field(default_factory=_Table)
    launches: _Table = field(default_factory=_Table)
    unsized: int = 0

    def kernel(self, told: object, length: float) -> None:
        """Note a kernel that communicates, with its ``args`` and its time in us."""
        call = _call(told)
        if call is None:
            self.unsized += 1
        else:
            self.kernels.add(call, length)

    def launch(self, told: object) -> None:
        """Note a ``record_param_comms`` with its ``args``; waits and barriers move nothing."""
        call = _call(told)
        if call is not None:
            self.launches.add(call, 0.0)

    def fields(self) -> dict[str, Any]:
        """Return the collectives, those of most time first; times in s.

        Where no kernel tells its size, those launched on the processor stand without times.
        """
        timed = bool(self.kernels.known)
        table = self.kernels if timed else self.launches
        order = sorted(
            table.known.items(), key=lambda one: (-one[1].total, -one[1].count, -one[0].size)
        )
        more = sum(times.count for _, times in order[_LISTED:])
        return {
            "collective_sizes": [
                {
                    "collective": call.collective,
                    "size_bytes": call.size,
                    "ranks": call.ranks,
                    "stride": call.stride,
                    "count": times.count,
                    "time_s": times.total * 1e-6 if timed else None,
                    "min_s": times.least * 1e-6 if timed else None,
                    "median_s": median(times.samples) * 1e-6 if timed else None,
                }
                for call, times in order[:_LISTED]
            ],
            "collective_calls_left_out": table.left_out + more,
            "collective_calls_unsized": self.unsized,
        }


def _call(told: object) -> Call | None:
    """Return what ``args`` say was moved; ``None`` where that is nothing, or cannot be."""
    if not isinstance(told, dict):
        return None
    name = str(told.get("Collective name", ""))[:60].casefold()
    known = _COLLECTIVES.get(_VARIANT.sub("", name))
    width = _WIDTHS.get(str(told.get("dtype", ""))[:30].casefold())
    if known is None or width is None:
        return None
    collective, counted = known
    elements = _whole(told.get(counted), _MOST_BYTES // width)
    ranks = _whole(told.get("Group size"), _MOST_RANKS)
    if not elements or not ranks:
        return None
    return Call(collective, elements * width, ranks, _stride(told.get("Process Group Ranks")))


def _whole(value: object, most: int) -> int | None:
    """Return a whole number from 1 to ``most``, also one written as a string."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 19:
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    fits = isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most
    return value if fits else None  # type: ignore[return-value]


_RANK: Final = re.compile(r"(?<![\d.-])\d{1,9}(?=\s?[,\]])")


def _stride(told: object) -> int | None:
    """Return the distance between ranks in ``[0, 8, 16, ...]``, which PyTorch cuts after 30."""
    text = told[:400] if isinstance(told, str) else str(told[:30]) if isinstance(told, list) else ""
    ranks = [int(one) for one in _RANK.findall(text)]
    apart = {after - before for before, after in pairwise(ranks)}
    return apart.pop() if len(apart) == 1 and min(apart) > 0 else None


def summary(fields: Mapping[str, Any]) -> Iterator[str]:
    """Yield the line of the collective of known size that took most time."""
    known = fields["collective_sizes"]
    if not known:
        return
    first = known[0]
    count, name, ranks = first["count"], first["collective"], first["ranks"]
    size = show_bytes(first["size_bytes"])
    others, left = len(known) - 1, fields["collective_calls_left_out"]
    if first["min_s"] is None:
        yield (f"{count} x {name} of {size} in {ranks} ranks, without times: no kernel tells its "
               f"size ({others} more sizes, {left} calls left out)")  # fmt: skip
        return
    least, middle = show_time(first["min_s"]), show_time(first["median_s"])
    yield (f"{count} x {name} of {size} in {ranks} ranks: least {least} (nearest to the transfer "
           f"without waiting for others), median {middle} ({others} more sizes, {left} calls left "
           f"out)")  # fmt: skip
