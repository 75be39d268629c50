"""What one calibration run says of a machine, and the steps that follow from it.

Computing is priced operator by operator (:mod:`artery.runner.costs`), an all-reduce by its size
(latency and bandwidth, from a sweep), and both together on a clock (:mod:`artery.runner.overlap`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import quantiles
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from artery.errors import UsageError
from artery.runner.costs import Costs, fit, nonnegative
from artery.runner.exchange.buckets import bucketed
from artery.runner.exchange.compress import WIRE, wire_bytes
from artery.runner.measured import Run, Wanted
from artery.runner.operators import Counted, Operator, count
from artery.runner.overlap import Bucket, Share, Timeline, fitted, play
from artery.runner.tasks import find_task

SIZES: Final = (2**12, 2**16, 2**20, 2**22, 2**24, 25 * 2**20)
"""Bytes of the sweep: from one page to a full bucket."""

REFERENCE: Final = Run("resnet18", batch=16)
"""The run whose steps are timed in a calibration: alone, with exchange after backward, and with
exchange behind it."""

TIMED: Final = (
    REFERENCE,
    Run("resnet18", size=64, batch=8),
    Run("resnet50", batch=16),
    Run("transformer", batch=4),
)
"""Runs whose operators are timed one by one: convolutions of two sizes, and matrix products.

Batches of 16, for oneDNN's kernels are up to ten times slower on others that 16 does not divide:
ResNet-50 at 64 pixels took 322 ms with 16 samples and 524 ms with 12 (measured, PyTorch 2.13).
"""


def typical(times: Sequence[float]) -> float:
    """Return the lower quartile: what others do on the machine only ever adds to a time."""
    return quantiles(times, n=4)[0] if len(times) > 1 else times[0]


@dataclass(frozen=True, slots=True)
class Wire:
    """An all-reduce of S bytes among ``ranks``: ``latency_s`` + S·``s_per_byte``."""

    ranks: int
    latency_s: float
    s_per_byte: float

    def seconds(self, size: int) -> float:
        """Return the time of an all-reduce of ``size`` bytes."""
        return self.latency_s + self.s_per_byte * size

    @property
    def bus_bytes_per_s(self) -> float:
        """Bus bandwidth of large ones, as nccl-tests count it: 2(n - 1)/n of the bytes."""
        return 2 * (self.ranks - 1) / self.ranks / self.s_per_byte if self.s_per_byte else 0.0


@dataclass(frozen=True, slots=True)
class Machine:
    """A calibrated machine.

    ``wires``: all-reduces by number of ranks and type. ``stretch``: how much longer one takes in
    a step, where its buffers come from main memory and its partners from their own work.
    ``share``: what is left to computing and communicating while both run. ``load``: the load
    average at the end of the calibration.
    """

    costs: Costs
    wires: Mapping[tuple[int, str], Wire]
    stretch: float
    share: Share
    cores: int
    load: float

    def wire(self, ranks: int, kind: str) -> Wire:
        """Return the all-reduce among ``ranks``, measured or drawn out from the nearest measured.

        Drawn out: a ring's 2(n - 1) steps of latency, 2(n - 1)/n of the bytes, and where there
        are more ranks than cores, each waits for its turn.
        """
        kind = kind if kind in WIRE else "none"
        if (ranks, kind) in self.wires:
            return self.wires[ranks, kind]
        near = [one for (_, held), one in self.wires.items() if held == kind]
        if not near:
            raise UsageError(f"all-reduces of {kind} were not calibrated; ask for them")
        one = min(near, key=lambda wire: abs(wire.ranks - ranks))
        crowd = self._crowd(ranks) / self._crowd(one.ranks)
        steps = (ranks - 1) / (one.ranks - 1)
        return Wire(
            ranks,
            one.latency_s * steps * crowd,
            one.s_per_byte * steps * one.ranks / ranks * crowd,
        )

    def step(self, run: Run, ranks: int) -> Step:
        """Return the predicted step of ``run`` on ``ranks`` processes of this machine."""
        counted = _counted(run)
        phases = np.array([one.phase for one in counted.operators])
        seconds = self._seconds(counted, ranks)
        parts = {name: float(seconds[phases == name].sum()) for name in set(phases.tolist())}
        buckets, before, after = self.clocked(run, ranks)
        sizes = _sent(run) if ranks > 1 else ()
        return Step(
            run.accumulate * parts["forward"],
            run.accumulate * parts["backward"],
            parts["optimizer"],
            play(before, after, buckets, self.share, overlap=run.overlap),
            sizes,
            tuple(one.wire_s for one in buckets),
            run.accumulate * counted.flops,
            run.accumulate * len(counted.operators),
            self.costs.borrowed(counted.operators),
        )

    def clocked(self, run: Run, ranks: int) -> tuple[list[Bucket], float, float]:
        """Return the buckets of a step, and its seconds of computing before and after them."""
        counted = _counted(run)
        seconds = self._seconds(counted, ranks)
        late = np.array([one.phase == "optimizer" for one in counted.operators])
        before, after = float(seconds[~late].sum()), float(seconds[late].sum())
        earlier = (run.accumulate - 1) * before
        reached = np.concatenate([[0.0], np.cumsum(seconds)]) + earlier
        if ranks == 1:
            return [], earlier + before, after
        wire = self.wire(ranks, run.compress)
        # A narrow type is read and written once more on each side: 3/2 of the bucket's bytes.
        moved = 2 + 1.5 * (run.compress in WIRE)
        buckets = [
            Bucket(
                float(reached[ready]),
                self._moved_s(moved * held, ranks),
                wire.seconds(sent) * self.stretch,
                self._moved_s(moved * held, ranks),
            )
            for ready, held, sent in zip(counted.ready, counted.buckets, _sent(run), strict=True)
        ]
        return buckets, earlier + before, after

    def _seconds(self, counted: Counted, ranks: int) -> NDArray[np.float64]:
        return self.costs.seconds(counted.operators) * self._crowd(ranks)

    def _moved_s(self, size: float, ranks: int) -> float:
        """Return the time to read and write ``size`` bytes in all."""
        other = self.costs.kinds["other"]
        return (other.fixed_s + size * other.s_per_byte) * self._crowd(ranks)

    def _crowd(self, ranks: int) -> float:
        return max(1.0, ranks / self.cores)


@dataclass(frozen=True, slots=True)
class Step:
    """A predicted step in seconds: its parts alone, its clock, and its all-reduces.

    ``sizes``: bytes per bucket on the wire; ``wires``: seconds of each alone.
    """

    forward_s: float
    backward_s: float
    optimizer_s: float
    timeline: Timeline
    sizes: tuple[int, ...]
    wires: tuple[float, ...]
    flops: float
    operators: int
    borrowed: tuple[str, ...]


def _counted(run: Run) -> Counted:
    task = find_task(run.model, run.data, size=run.size)
    return count(task, run.batch)


def _sent(run: Run) -> tuple[int, ...]:
    """Return the bytes of each bucket on the wire."""
    model = find_task(run.model, run.data, size=run.size).build(0)
    shapes = [[one.shape for one in part] for part in bucketed(model)]
    return tuple(wire_bytes(run.compress, run.powersgd_rank, part) for part in shapes)


def wanted(groups: Sequence[int], kinds: Sequence[str]) -> Wanted:
    """Return what a calibration probes for ``groups`` of ranks and types of gradients."""
    types = ("none", *sorted({kind for kind in kinds if kind in WIRE}))
    return Wanted(sweep=SIZES, groups=tuple(groups), types=types, operators=TIMED,
                  runs=(replace(REFERENCE, overlap=False), REFERENCE))  # fmt: skip


def calibrated(found: Sequence[Mapping[str, Any]], cores: int) -> Machine:
    """Return the machine that explains what the ranks of a calibration ``found``.

    Operators count with the mean over ranks, all-reduces with the lower quartile of the slowest
    rank; the share is fitted to the reference run's step and the communication in its trace.
    """
    operators = tuple(_operators(found))
    reference = [one["runs"][0] for one in found]
    thread = float(np.mean([typical(run["thread"]) for run in reference]))
    task = find_task(REFERENCE.model, REFERENCE.data, size=REFERENCE.size)
    costs = fit(operators, len(count(task, REFERENCE.batch).operators), thread)
    machine = Machine(costs, dict(_wires(found)), 1.0, Share(1.0, 1.0), cores, found[0]["load"])
    if len(found) == 1:
        return machine
    after, behind = ([one["runs"][number] for one in found] for number in range(2))
    buckets, before, rest = machine.clocked(REFERENCE, len(found))
    wires = sum(one.wire_s for one in buckets)
    copies = sum(one.pack_s + one.unpack_s for one in buckets)
    stretch = max(0.1, (exposed(after) - copies) / wires)
    share = fitted(
        before,
        rest,
        [replace(one, wire_s=one.wire_s * stretch) for one in buckets],
        step_s=before + rest + exposed(behind),
        communication_s=communication(behind) or wires * stretch,
    )
    return replace(machine, stretch=stretch, share=share)


def exposed(runs: Sequence[Mapping[str, Any]]) -> float:
    """Return what a step with exchange takes beyond one without, in seconds, not below zero.

    ``runs`` is one run as each rank found it; the slowest rank counts.
    """
    return max(0.0, slowest(runs, "whole") - slowest(runs, "alone"))


def slowest(runs: Sequence[Mapping[str, Any]], name: str) -> float:
    """Return the typical time ``name`` of the slowest rank."""
    return max(typical(run[name]) for run in runs)


def communication(runs: Sequence[Mapping[str, Any]]) -> float:
    """Return the seconds per step with an all-reduce under way, on the rank that waits least."""
    return float(min(run["trace"]["communication_s"] for run in runs))


def _operators(found: Sequence[Mapping[str, Any]]) -> list[Operator]:
    """Return the timed operators, each with its mean over the ranks."""
    rows = [[row for run in one["operators"] for row in run] for one in found]
    return [
        Operator(**{**same[0], "seconds": float(np.mean([row["seconds"] for row in same]))})
        for same in zip(*rows, strict=True)
    ]


def _wires(found: Sequence[Mapping[str, Any]]) -> list[tuple[tuple[int, str], Wire]]:
    """Return the line through each sweep, small sizes weighing as much as large ones."""
    slowest: dict[tuple[int, str], dict[int, float]] = {}
    for one in found:
        for row in one["sweep"]:
            sizes = slowest.setdefault((row["ranks"], row["type"]), {})
            sizes[row["bytes"]] = max(sizes.get(row["bytes"], 0.0), typical(row["times"]))
    lines = []
    for (ranks, kind), sizes in slowest.items():
        times = np.array(list(sizes.values()))
        rows = np.array([(1.0, float(size)) for size in sizes]) / times[:, None]
        latency, per_byte = nonnegative(rows, np.ones(len(times)))
        lines.append(((ranks, kind), Wire(ranks, latency, per_byte)))
    return lines


def cores() -> int:
    """Return the processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
