"""One training step, its parts timed: what the probe and the profiler look at."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from time import perf_counter

import torch
from torch import Tensor

from artery.runner.exchange.buckets import Buckets
from artery.runner.exchange.compress import codec
from artery.runner.probing.measured import Run
from artery.runner.tasks import find_task


class TimedRanks:
    """The ranks of a group, as :class:`~artery.runner.exchange.compress.Ranks`, with a clock.

    ``spans`` has when each all-reduce began and was done (inf: it is under way), in seconds
    of the machine's one monotonic clock, so that the spans of several ranks compare.
    """

    def __init__(self, group: torch.distributed.ProcessGroup | None = None) -> None:
        self.group = group
        self.spans: list[list[float]] = []

    def size(self) -> int:
        """Return how many ranks there are."""
        return torch.distributed.get_world_size(self.group)

    def under_way(self) -> bool:
        """Return whether some all-reduce is not done yet."""
        return any(end == inf for _, end in self.spans)

    def begin(self, wire: Tensor) -> Callable[[], object]:
        """Begin an all-reduce of ``wire`` and note when it is done."""
        span = [perf_counter(), inf]
        self.spans.append(span)
        work = torch.distributed.all_reduce(wire, group=self.group, async_op=True)

        def done(_: object) -> None:
            span[1] = min(span[1], perf_counter())

        work.get_future().add_done_callback(done)

        def wait() -> None:
            work.wait()
            done(None)

        return wait


class Stepper:
    """Trains the task of ``run`` step by step; each rank has its own samples."""

    def __init__(self, run: Run) -> None:
        rank = torch.distributed.get_rank()
        self.run = run
        self.task = find_task(run.model, run.data, size=run.size)
        self.model = self.task.build(0)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3, momentum=0.9)
        self.peers = TimedRanks()
        self.exchange = Buckets(codec(run.compress, run.powersgd_rank, self.peers))
        self._at = rank * run.batch
        self._stride = torch.distributed.get_world_size() * run.batch

    def step(self, *, together: bool) -> dict[str, float]:
        """Take one step, with the exchange or without it; returns seconds by part."""
        spent = {"forward": 0.0, "backward": 0.0, "wait": 0.0, "optimizer": 0.0}
        for micro in range(self.run.accumulate):
            start = perf_counter()
            last = micro == self.run.accumulate - 1
            if together and self.run.overlap:
                self.exchange.begin(self.model, last=last)
            indices = (torch.arange(self.run.batch) + self._at) % self.task.samples
            self._at += self._stride
            loss = self.task.loss(self.model, indices) / self.run.accumulate
            middle = perf_counter()
            loss.backward()  # type: ignore[no-untyped-call]
            spent["forward"] += middle - start
            spent["backward"] += perf_counter() - middle
        start = perf_counter()
        if together:
            self.exchange.reduce(self.model)
        spent["wait"] = perf_counter() - start
        self.optimizer.step()
        self.optimizer.zero_grad()
        spent["optimizer"] = perf_counter() - start - spent["wait"]
        return spent
