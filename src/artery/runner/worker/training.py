"""One step of data-parallel training, and the state that the next one goes on from."""

from __future__ import annotations

import math
from collections.abc import Callable
from time import perf_counter
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from artery.runner.consistent import logical_gradients, shares
from artery.runner.exchange.choice import Choice, make_exchange
from artery.runner.settings import Settings
from artery.runner.task import Task
from artery.runner.worker.batches import batch, draw, share


class Training:
    """A model on its way, as one of ``ranks`` ranks has it.

    ``step`` steps are done; ``diverged`` is the first whose loss here was not finite, 0 for none.
    ``meeting`` is called when this rank begins to wait for the others
    (true) and when it has met them (false); ``computed`` are the seconds it computed on its own.
    """

    def __init__(
        self,
        task: Task,
        settings: Settings,
        rank: int,
        ranks: int,
        meeting: Callable[[bool], None] = lambda _: None,
    ) -> None:
        self.task, self.settings, self.rank, self.ranks = task, settings, rank, ranks
        self.step = 0
        self.computed = 0.0
        self.loss = math.nan
        self.diverged = 0
        self.model = task.build(settings.seed)
        self.optimizer = _optimizer(self.model, settings)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimizer, _rate(settings))
        self._meeting = meeting
        self._choice = Choice(
            settings.sync, settings.compress, settings.powersgd_rank, settings.bucket_bytes
        )
        self.exchange = make_exchange(self._choice)

    @property
    def replicated(self) -> bool:
        """Whether all ranks have the same weights after each step."""
        return bool(self.settings.consistent) or self._choice.sync in ("every", 1)

    def advance(self, slowed: Callable[[float], None] = lambda _: None) -> None:
        """Do one step. ``slowed`` is called after computing with its seconds, before meeting."""
        settings = self.settings
        start = self.step * settings.global_batch
        whole = batch(settings.seed, self.task.samples, start, settings.global_batch)
        began = perf_counter()
        if settings.consistent:
            self._consistent(whole, slowed, began)
        else:
            self._plain(whole, slowed, began)
        self.optimizer.step()
        self.schedule.step()
        self.step += 1
        if not settings.consistent:
            self.exchange.settle(self.model, self.step)
        self._meeting(False)
        self.optimizer.zero_grad(set_to_none=True)

    def _plain(self, whole: Tensor, slowed: Callable[[float], None], began: float) -> None:
        settings, mine = self.settings, share(whole, self.rank, self.ranks)
        spans = [span for span in shares(len(mine), settings.accumulate) if span]
        for number, span in enumerate(spans):
            piece = mine[span.start : span.stop]
            draw(settings.seed, self.step, self.rank * settings.accumulate + number)
            self.exchange.begin(self.model, last=number == len(spans) - 1)
            weight = len(piece) * self.ranks / len(whole)  # the exchange divides by the ranks
            loss = self.task.loss(self.model, piece) * weight
            loss.backward()  # type: ignore[no-untyped-call]
            self._note_loss(loss)
        self._own_part_done(slowed, began)
        self.exchange.reduce(self.model)
        self._same_buffers()

    def _consistent(self, whole: Tensor, slowed: Callable[[float], None], began: float) -> None:
        settings, parts = self.settings, self.settings.consistent
        sizes = [len(part) for part in shares(len(whole), parts)]
        mine = shares(parts, self.ranks)[self.rank]

        def loss(worker: int) -> Tensor:
            draw(settings.seed, self.step, worker)
            value = self.task.loss(self.model, share(whole, worker, parts))
            self._note_loss(value)
            return value

        def computed() -> None:
            self._own_part_done(slowed, began)

        weights = [size / len(whole) for size in sizes]
        logical_gradients(
            self.model, mine, weights, loss, rank=self.rank, ranks=self.ranks, computed=computed
        )

    def _note_loss(self, loss: Tensor) -> None:
        """Keep a pass's loss, and the step where it was not finite for the first time."""
        self.loss = float(loss.detach())
        if not math.isfinite(self.loss):
            self.diverged = self.diverged or self.step + 1

    def _own_part_done(self, slowed: Callable[[float], None], began: float) -> None:
        slowed(perf_counter() - began)
        self.computed += perf_counter() - began
        self._meeting(True)

    def _same_buffers(self) -> None:
        """Give all ranks rank 0's buffers, as ``DistributedDataParallel`` does."""
        buffers = [b for b in self.model.buffers() if b.is_floating_point()]
        if not buffers or not self.replicated:
            return
        flat = torch.cat([b.detach().reshape(-1) for b in buffers])
        dist.broadcast(flat, 0)
        at = 0
        for buffer in buffers:
            buffer.copy_(flat[at : at + buffer.numel()].view_as(buffer))
            at += buffer.numel()

    def state(self) -> dict[str, Any]:
        """Return what all ranks share; its tensors change with the next step.

        Random states are drawn anew from seed, step and rank for each pass (``batches.draw``), so
        ``seed`` and ``step`` are all of them.
        """
        return {
            "step": self.step,
            "samples": self.step * self.settings.global_batch,
            "seed": self.settings.seed,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "schedule": self.schedule.state_dict(),
            "loss": self.loss,
        }

    @property
    def private(self) -> bool:
        """Whether a rank has something that the others do not have."""
        compressed = self.settings.compress != "none" and not self.settings.consistent
        return compressed or not self.replicated

    def own_state(self) -> dict[str, Any]:
        """Return what this rank alone has: its errors of compression, its weights if they drift."""
        own = {"exchange": self.exchange.state()}
        return own if self.replicated else {**own, **self.state()}

    def load(self, state: dict[str, Any]) -> None:
        """Go on from ``state``: :meth:`state`, with each rank's :meth:`own_state` as ``own``."""
        own = state["own"][self.rank] if self.rank < len(state["own"]) else {}
        source = {**state, **own} if not self.replicated else state
        self.step, self.loss = int(state["step"]), float(state["loss"])
        self.model.load_state_dict(source["model"])
        self.optimizer.load_state_dict(source["optimizer"])
        self.schedule.load_state_dict(source["schedule"])
        if "exchange" in own:
            self.exchange.load_state(own["exchange"])


def _optimizer(model: nn.Module, settings: Settings) -> torch.optim.Optimizer:
    if settings.optimizer == "adamw":
        return torch.optim.AdamW(
            model.parameters(), lr=settings.lr, weight_decay=settings.weight_decay
        )
    return torch.optim.SGD(
        model.parameters(),
        lr=settings.lr,
        momentum=settings.momentum,
        weight_decay=settings.weight_decay,
    )


def _rate(settings: Settings) -> Callable[[int], float]:
    """Return the learning rate's factor by step: a linear warm-up, then constant or a cosine."""

    def factor(step: int) -> float:
        if step < settings.warmup:
            return (step + 1) / settings.warmup
        if settings.schedule == "constant":
            return 1.0
        left = max(1, settings.steps - settings.warmup)
        return 0.5 * (1.0 + math.cos(math.pi * min(1.0, (step - settings.warmup) / left)))

    return factor
