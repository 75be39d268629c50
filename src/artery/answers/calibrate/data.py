"""The measured times among files that a calibration can use: collectives by size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Any

import numpy as np

from artery.collective import bus_factor
from artery.core.pricing import Collective, named
from artery.errors import InputError, Problem, Problems
from artery.formats.reading import Reading
from artery.formats.recognise import read


@dataclass(frozen=True, slots=True)
class Sweep:
    """One collective on ``ranks`` over ``nodes`` (``None``: nobody said): ``times`` by ``sizes``.

    Sizes in bytes, rising; times in s. ``source`` is the file, ``chip`` the catalog's name of the
    chips that it names (``None``: none, or several).
    """

    source: str
    collective: Collective
    ranks: int
    nodes: int | None
    sizes: tuple[int, ...]
    times: tuple[float, ...]
    chip: str | None = None

    def places(self, smallest: int) -> list[int]:
        """Return the places of the sizes from ``smallest`` up."""
        return [place for place, size in enumerate(self.sizes) if size >= smallest]

    def part(self, chosen: Sequence[int]) -> Sweep:
        """Return the sweep with only the sizes at these places."""
        return Sweep(
            self.source,
            self.collective,
            self.ranks,
            self.nodes,
            tuple(self.sizes[i] for i in chosen),
            tuple(self.times[i] for i in chosen),
            self.chip,
        )


@dataclass(frozen=True, slots=True)
class Measured:
    """The files as they were read, and the sweeps in them."""

    readings: tuple[tuple[str, Reading], ...]
    sweeps: tuple[Sweep, ...]


def sweeps_of(paths: Sequence[str]) -> tuple[Sweep, ...]:
    """Return every sweep in the files at ``paths``, each of which must have one."""
    return measured_in(paths, steps=False).sweeps


def measured_in(paths: Sequence[str], *, steps: bool) -> Measured:
    """Return every sweep in the files at ``paths``; with ``steps`` training logs may be there too.

    Raises ``InputError`` for files that cannot be read, whose results are wrong, or without a
    measured collective of which the number of ranks is known.
    """
    found: list[Sweep] = []
    readings: list[tuple[str, Reading]] = []
    with Problems() as problems:
        for path in paths:
            try:
                reading = read(path)
                told = list(_sweeps(reading, path))
            except InputError as error:
                problems.absorb(error.at(file=path))
                continue
            found += told
            readings.append((path, reading))
            if not told and not (steps and reading.format == "megatron-log"):
                rule = "a calibration needs measured collectives: sizes, times, ranks"
                fix = "the output of all_reduce_perf with its header; or a training log, --from RUN"
                problems.add(Problem(file=path, found="no measured sweep", rule=rule, fix=fix))
    return Measured(tuple(readings), tuple(found))


def _sweeps(reading: Reading, path: str) -> Iterator[Sweep]:
    if reading.format in {"nccl-tests", "artery-bench"}:
        for table in reading.fields.get("tables", ()):
            if not table["valid"]:
                rule = "wrong results have no time that counts"
                fix = "find the corruption first"
                raise InputError(Problem(file=path, found="#wrong is not 0", rule=rule, fix=fix))
            if table.get("algorithm", "library") == "library":  # a schedule executed says nothing
                yield from _table(table, path, _chip(reading, table))  # of the library fitted
    elif reading.format == "facts":
        for curve in reading.fields.get("curves", ()):
            yield from _told(curve, path, _chip(reading, curve))


def _chip(reading: Reading, part: Mapping[str, Any]) -> str | None:
    """Return the chip that a part of a file names, else the file."""
    told = part.get("chip") or reading.fields.get("chip")
    return told if isinstance(told, str) else None


def _table(table: Mapping[str, Any], path: str, chip: str | None) -> Iterator[Sweep]:
    ranks = table["ranks"]
    if not ranks or ranks < 2:
        return
    rows: dict[int, float] = {}
    for row in table["rows"]:
        sides = (row["out_of_place"], row["in_place"])
        told = [side["time_s"] for side in sides if side and side["time_s"]]
        if row.get("time_min_s"):  # every repeat is known: the least has the least of others' work
            told = [row["time_min_s"]]
        if row["size_bytes"] and told:
            rows[row["size_bytes"]] = exp(sum(map(log, told)) / len(told))
    if rows:
        sizes = tuple(sorted(rows))
        collective = named(table["collective"] or "all_reduce")
        times = tuple(rows[size] for size in sizes)
        yield Sweep(path, collective, ranks, table["nodes"], sizes, times, chip)


def _told(curve: Mapping[str, Any], path: str, chip: str | None) -> Iterator[Sweep]:
    ranks = curve["ranks"]
    if not ranks or ranks < 2:
        return
    collective = named(curve["collective"] or "all_reduce")
    factor = float(bus_factor(collective, np.array(ranks)))
    points = {
        int(one["size_bytes"]): one["size_bytes"] * factor / one["busbw_bytes_per_s"]
        for one in curve["points"]
        if one["size_bytes"] and one["busbw_bytes_per_s"]
    }
    if points:
        sizes = tuple(sorted(points))
        times = tuple(points[size] for size in sizes)
        yield Sweep(path, collective, ranks, curve["nodes"], sizes, times, chip)
