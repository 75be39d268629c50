"""What a calibration probes, and the machine that explains what it found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from operator import itemgetter
from typing import Any, Final

import numpy as np

from artery.runner.exchange.compress import WIRE
from artery.runner.probing.costs import fit
from artery.runner.probing.machine import Machine, Sharing, Wire, passes
from artery.runner.probing.measured import Run, Wanted, common, communication, exposed, typical
from artery.runner.probing.noise import larger, noise
from artery.runner.probing.operators import Operator
from artery.runner.probing.overlap import Timeline

SIZES: Final = (2**12, 2**16, 2**20, 2**22, 2**24, 25 * 2**20)
"""Bytes of the sweep: from one page to a full bucket."""

REFERENCE: Final = Run("resnet18", batch=16)
"""The run whose steps are timed in a calibration: alone, with exchange after backward, and with
exchange behind it."""

TIMED: Final = (
    REFERENCE,
    Run("resnet18", size=64, batch=8),
    Run("resnet50", batch=16, accumulate=2),
    Run("transformer", batch=4),
)
"""Runs whose operators are timed one by one: convolutions of two sizes, gradients that are added to
earlier ones, and matrix products.

Batches of 16, for oneDNN's kernels are up to ten times slower on others that 16 does not divide:
ResNet-50 at 64 pixels took 322 ms with 16 samples and 524 ms with 12 (measured, PyTorch 2.13).
"""


_ROUNDS: Final = 8
"""Corrections of a factor until the clock agrees: each leaves little of the error before."""


def wanted(groups: Sequence[int], compress: Sequence[str]) -> Wanted:
    """Return what a calibration probes for ``groups`` of ranks and kinds of compression."""
    types = ("none", *sorted({kind for kind in compress if kind in WIRE}))
    exchanges = ("none", *sorted({*compress} - {"none"})) if groups else ()
    runs = (replace(REFERENCE, overlap=False), REFERENCE)
    return Wanted(sweep=SIZES, groups=tuple(groups), types=types, operators=TIMED,
                  exchanges=exchanges, runs=runs)  # fmt: skip


@cache
def timed_flops() -> tuple[float, float]:
    """Return the FLOP of the smallest and of the largest step whose operators are timed."""
    steps = [
        sum(one.flops for counted in passes(run) for one in counted.operators) for run in TIMED
    ]
    return min(steps), max(steps)


def calibrated(found: Sequence[Mapping[str, Any]], cores: int) -> Machine:
    """Return the machine that explains what the ranks of a calibration ``found``.

    Operators count with the mean over ranks of their lower quartile, all-reduces from when the
    last rank begins; what becomes of both in a step is fitted to the reference run.
    """
    operators = tuple(_operators(found))
    late, behind = ([one["runs"][number] for one in found] for number in range(2))
    thread = float(np.mean([typical(run["thread"]) for run in late]))
    costs = fit(operators, len(passes(REFERENCE)[0].operators), thread)
    alone = float(np.mean([typical(run["alone"]) for run in late]))
    machine = Machine(
        costs,
        dict(_wires(found)),
        Sharing(),
        cores,
        found[0]["load"],
        max(1.0, alone / thread),
        larger(noise(late), noise(behind)),
    )
    if len(found) == 1:
        return machine
    return replace(machine, sharing=_sharing(machine, len(found), late, behind))


def _sharing(
    machine: Machine,
    ranks: int,
    after: Sequence[Mapping[str, Any]],
    behind: Sequence[Mapping[str, Any]],
) -> Sharing:
    """Return the sharing with which the reference run's steps come out as they were measured.

    ``alone`` follows from the communication of the run whose exchange comes after backward,
    ``skew`` from what the copies and it do not explain of that run's exchange; ``beside`` and
    ``compute`` from the communication and the step of the run with overlap, the latter tried
    from 0.3 to 1 in steps of 0.01.
    """

    def line(sharing: Sharing, run: Run) -> Timeline:
        one = replace(machine, sharing=sharing)
        return one.played(run, *one.clocked(run, ranks))

    _, before, _ = machine.clocked(REFERENCE, ranks)
    late = replace(REFERENCE, overlap=False)

    def from_after(found: Sharing) -> Sharing:
        for _ in range(_ROUNDS):
            played = line(found, late).communication_s
            found = replace(found, alone=found.alone * communication(after) / played)
        left = exposed(after) - line(replace(found, skew=0.0), late).exposed_s
        return replace(found, skew=max(0.0, left / before))

    def from_behind(found: Sharing) -> Sharing:
        tried = []
        for compute in np.arange(0.3, 1.005, 0.01):
            one = replace(found, compute=float(compute))
            for _ in range(_ROUNDS):
                played = line(one, REFERENCE).communication_s
                one = replace(one, beside=one.beside * communication(behind) / played)
            played = line(one, REFERENCE).exposed_s
            tried.append((abs(played - exposed(behind)), one))
        return min(tried, key=itemgetter(0))[1]

    found = Sharing()
    for _ in range(3):  # each of the two changes the other a little: copies hide all-reduces
        found = from_behind(from_after(found))
    return found


def _operators(found: Sequence[Mapping[str, Any]]) -> list[Operator]:
    """Return the timed operators, each with the mean over the ranks of its typical time."""
    return [
        Operator(
            **{
                **same[0]["operator"],
                "seconds": float(np.mean([typical(row["times"]) for row in same])),
            }
        )
        for same in zip(*(one["operators"] for one in found), strict=True)
    ]


def _wires(found: Sequence[Mapping[str, Any]]) -> Iterator[tuple[tuple[int, str], Wire]]:
    """Yield the all-reduces of the sweeps by number of ranks and type."""
    held: dict[tuple[int, str], dict[int, list[Mapping[str, Any]]]] = {}
    for one in found:
        for row in one["sweep"]:
            sizes = held.setdefault((row["ranks"], row["type"]), {})
            sizes.setdefault(row["bytes"], []).append(row)
    for (ranks, kind), sizes in held.items():
        alone, beside = (
            tuple(
                typical([end - start for start, end in map(common, zip(*spans, strict=True))])
                for rows in sizes.values()
                for spans in [[row[name] for row in rows]]
            )
            for name in ("times", "beside")
        )
        yield (ranks, kind), Wire(ranks, tuple(map(float, sizes)), alone, beside)
