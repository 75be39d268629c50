"""Curves of MPI benchmarks (OSU, IMB): times by size, as busbw by nccl-tests' convention."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from artery.collective import bus_factor
from artery.core.pricing import Collective, named
from artery.diagnoser.case import Case, Curve, Point, number
from artery.errors import InputError
from artery.formats.reading import Reading

MPI: Final = frozenset({"osu", "imb"})

_OF_ONE_RANK: Final[frozenset[Collective]] = frozenset({"all_gather", "alltoall"})
"""Collectives whose size in these tests is what one rank gives each other rank (OSU, IMB): the
whole buffer, which nccl-tests counts, is that many times larger."""

_JUDGED: Final = _OF_ONE_RANK | {"all_reduce", "broadcast", "reduce"}
_NAMES: Final = {"bcast": "broadcast"}


def with_mpi(case: Case, readings: Sequence[tuple[str, Reading]], on: str | None) -> Case:
    """Return the case with the curves of the MPI benchmarks among the ``readings``.

    Without a system there is nothing to hold them against, and their shape alone says little: a
    library changes its protocol by size, and the memory of one machine has caches.

    The best time of a size counts where the benchmark gives one, and sizes that are many times too
    slow are left out. Ranks are those that the file says, then the facts, then the chips of the
    system ``on`` (``dgx-a100:4``): without them there is no busbw, and no curve.
    """
    if on is None:
        return case
    curves = tuple(
        curve
        for path, one in readings
        if one.format in MPI
        for curve in _curves(one, path, _ranks(case, on))
    )
    if not curves:
        return case
    facts, origins = dict(case.facts), dict(case.origins)
    if curves[0].ranks is not None and "ranks" not in facts:
        counted = any(_counts(one) for path, one in readings if path == curves[0].source)
        facts["ranks"] = float(curves[0].ranks)
        origins["ranks"] = curves[0].source if counted else "--on"
    return replace(case, curves=(*case.curves, *curves), facts=facts, origins=origins,
                   notes=(*case.notes, "mpi"))  # fmt: skip


def _counts(reading: Reading) -> bool:
    """Whether the file itself says how many ranks took part."""
    return any(table.get("ranks") for table in reading.fields.get("blocks") or ())


def _ranks(case: Case, on: str | None) -> int | None:
    told = number(case.facts, "ranks")
    if told is not None:
        return int(told)
    count = (on or "").rpartition(":")[2]
    return int(count) if count.isdecimal() and 2 <= int(count) < 10_000_000 else None


def _curves(reading: Reading, path: str, known: int | None) -> Iterator[Curve]:
    tables = reading.fields.get("blocks") or reading.fields.get("tests") or ()
    left_out = frozenset(reading.fields.get("spikes") or ())
    for table in tables:
        name = _collective(str(table.get("benchmark") or table.get("test")))
        ranks = table.get("ranks") or known
        if name is None or ranks is None or ranks < 2:
            continue
        points = tuple(_points(table["rows"], name, ranks, left_out))
        if points:
            yield Curve(name, ranks, None, points, path)


def _points(
    rows: Sequence[Mapping[str, Any]], name: Collective, ranks: int, left_out: frozenset[int]
) -> Iterator[Point]:
    factor = float(bus_factor(name, np.array(ranks)))
    by_size: dict[int, float] = {}
    for row in rows:
        seconds = row.get("time_min_s") or row.get("time_s")
        if row["size_bytes"] and seconds and row["size_bytes"] not in left_out:
            by_size[row["size_bytes"]] = seconds
    for size, seconds in sorted(by_size.items()):
        whole = size * ranks if name in _OF_ONE_RANK else size
        yield Point(whole, whole / seconds * factor)


def _collective(text: str) -> Collective | None:
    """Return the collective of a benchmark, if its sizes can be compared."""
    try:
        found = named(_NAMES.get(text.casefold(), text))
    except InputError:
        return None
    return found if found in _JUDGED else None
