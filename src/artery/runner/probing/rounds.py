"""What a probe times, each a little at every call of ``once``: operators, all-reduces, steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from time import perf_counter, process_time, thread_time
from typing import Any, Final, Protocol

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn import functional

from artery.runner.exchange.compress import WIRE
from artery.runner.probing.measured import BLOCK, Run, Steps
from artery.runner.probing.operators import Operator
from artery.runner.probing.profile import traced
from artery.runner.probing.stepping import Stepper, TimedRanks

_REPEATS: Final = 2
"""All-reduces of each size per round, alone and beside computing (assumed)."""

_BUSY: Final = 0.01
"""Seconds of processor time that a rank computes before an all-reduce (assumed): several times the
3 ms that Linux gives a thread before others have their turn, so that it waits for its own as in a
step."""


class Taker(Protocol):
    """Somebody who times the same operators again and again."""

    def take(self) -> list[Operator]:
        """Return the operators in order, with their seconds."""


class TimedOperators:
    """The operators of one step or exchange, with all their times."""

    def __init__(self, timer: Taker) -> None:
        self._timer = timer
        self._operators: list[Operator] = []
        self._times: list[list[float]] = []

    def once(self) -> None:
        """Time every operator once; the first time, and after others have had the caches, twice."""
        self._timer.take()
        taken = self._timer.take()
        if len(taken) != len(self._operators):
            self._operators, self._times = taken, [[] for _ in taken]
        for times, one in zip(self._times, taken, strict=True):
            times.append(one.seconds)

    def rows(self) -> list[dict[str, Any]]:
        """Return the operators, each with its ``times``."""
        return [
            {"operator": asdict(one), "times": times}
            for one, times in zip(self._operators, self._times, strict=True)
        ]


class Sweep:
    """All-reduces over sizes after computing, and while every rank goes on computing.

    ``groups``: among so many of the first ranks; ``types``: fp32 (``none``) or narrower ones.
    """

    def __init__(self, sizes: Sequence[int], groups: Sequence[int], types: Sequence[str]) -> None:
        self._groups = [(ranks, dist.new_group(list(range(ranks)))) for ranks in groups]
        self._buffers = {
            (kind, size): torch.ones(max(1, size // type_.itemsize), dtype=type_)
            for kind in types
            for size in sizes
            for type_ in [WIRE.get(kind, torch.float32)]
        }
        self._rows: dict[tuple[int, str, int], dict[str, Any]] = {}
        self._image = torch.ones(8, 64, 16, 16)
        self._weight = torch.ones(64, 64, 3, 3)

    def once(self) -> None:
        """Time all-reduces of every size and type."""
        for ranks, group in self._groups:
            for (kind, size), buffer in self._buffers.items() if dist.get_rank() < ranks else ():
                row = self._rows.setdefault(
                    (ranks, kind, size),
                    {"ranks": ranks, "type": kind, "bytes": buffer.nbytes}
                    | {"times": [], "beside": []},
                )
                for name, seconds in (("times", self._alone), ("beside", self._beside)):
                    for repeat in range(_REPEATS + 1):
                        dist.barrier(group)
                        span = seconds(buffer.fill_(1.0), group)
                        if repeat:
                            row[name].append(span)
            dist.barrier()

    def rows(self) -> list[dict[str, Any]]:
        """Return per number of ranks, type and size the spans after and ``beside`` computing."""
        return list(self._rows.values())

    def _alone(self, buffer: Tensor, group: dist.ProcessGroup) -> list[float]:
        """Return the span of an all-reduce that follows computing, as it does in a step."""
        peers = TimedRanks(group)
        self._compute(_BUSY)
        peers.begin(buffer)()
        return peers.spans[0]

    def _beside(self, buffer: Tensor, group: dist.ProcessGroup) -> list[float]:
        """Return the span of an all-reduce that begins after some computing, which goes on."""
        peers = TimedRanks(group)
        self._compute(_BUSY)
        peers.begin(buffer)
        while peers.under_way():
            self._compute()
        return peers.spans[0]

    def _compute(self, seconds: float = 0.0) -> None:
        """Compute once, and until so much processor time is over."""
        end = thread_time() + seconds
        functional.conv2d(self._image, self._weight, padding=1)
        while thread_time() < end:
            functional.conv2d(self._image, self._weight, padding=1)


class TimedRun:
    """A run whose steps are timed without and with exchange, in turns."""

    def __init__(self, run: Run) -> None:
        self._stepper = Stepper(run)
        self.steps = Steps()

    def once(self) -> None:
        """Time a block of steps without exchange and one with it."""
        for together in (False, True):
            dist.barrier()
            for number in range(BLOCK):
                self._step(together=together, counted=number > 0)
        figures = self._stepper.exchange.figures()
        self.steps.bytes_sent = figures["bytes_sent"] / max(figures["steps"], 1)

    def traced(self, steps: int, path: Path) -> None:
        """Take ``steps`` more with exchange under the profiler."""
        dist.barrier()
        traced(lambda: self._stepper.step(together=True), steps, path)
        self.steps.trace = str(path)

    def _step(self, *, together: bool, counted: bool) -> None:
        steps, stepper = self.steps, self._stepper
        stepper.peers.spans.clear()
        clocks = perf_counter(), thread_time(), process_time()
        parts = stepper.step(together=together)
        whole = perf_counter() - clocks[0]
        if not counted:
            return
        if together:
            steps.whole.append(whole)
            steps.wait.append(parts["wait"])
            steps.processor.append(process_time() - clocks[2])
            steps.spans.append([list(span) for span in stepper.peers.spans])
            return
        steps.alone.append(whole)
        steps.thread.append(thread_time() - clocks[1])
        for name in ("forward", "backward", "optimizer"):
            getattr(steps, name).append(parts[name])
