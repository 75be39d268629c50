"""One training step, its parts timed: what the probe and the profiler look at."""

from __future__ import annotations

from time import perf_counter

import torch

from artery.runner.exchange.choice import Choice, make_exchange
from artery.runner.measured import Run
from artery.runner.tasks import find_task


class Stepper:
    """Trains the task of ``run`` step by step; each rank has its own samples."""

    def __init__(self, run: Run) -> None:
        rank = torch.distributed.get_rank()
        self.run = run
        self.task = find_task(run.model, run.data, size=run.size)
        self.model = self.task.build(0)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3, momentum=0.9)
        choice = Choice(compress=run.compress, powersgd_rank=run.powersgd_rank)
        self.exchange = make_exchange(choice)
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
