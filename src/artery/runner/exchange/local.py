"""Local SGD: each rank steps on its own gradients, weights are averaged every so many steps.

Stich 2019, arXiv 1805.09767. Between two averages, or for good, the replicas drift apart; how far
is measured, and what it saves in bytes and time as well.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn


@dataclass
class LocalSgd:
    """Averages weights over the ranks of ``group`` every ``period`` steps; ``None``: never.

    Parameters and floating-point buffers (the statistics of batch norms) are averaged; each rank
    keeps its optimizer's momentum. ``drifts`` has, per average, the drift before it.
    """

    period: int | None
    group: dist.ProcessGroup | None = None
    bytes_sent: int = 0
    waited_s: float = 0.0
    steps: int = 0
    drifts: list[float] = field(default_factory=list)
    _model: nn.Module | None = None

    def begin(self, model: nn.Module, *, last: bool) -> None:
        """Do nothing: gradients stay where they are."""

    def reduce(self, model: nn.Module) -> None:
        """Do nothing: each rank steps on its own gradients."""

    def settle(self, model: nn.Module, step: int) -> None:
        """Average the weights if ``step`` (from 1) ends a period."""
        self.steps += 1
        self._model = model
        if self.period is None or step % self.period:
            return
        start = perf_counter()
        weights = _weights(model)
        mean = _mean(weights, self.group)
        self.bytes_sent += mean.nbytes
        self.drifts.append(_drift(weights, mean, self.group))
        _write(mean, weights)
        self.waited_s += perf_counter() - start

    def state(self) -> dict[str, Any]:
        """Return nothing: the weights and the step number say all."""
        return {}

    def load_state(self, state: dict[str, Any]) -> None:
        """Take nothing."""

    def figures(self) -> dict[str, float]:
        """Return what was sent and saved, and how far the replicas drifted; all ranks call it.

        ``bytes_saved`` and ``seconds_saved``: against averaging in every step; the seconds of one
        average are those measured, so they are missing where there was none. ``final_drift`` is
        measured now.
        """
        found: dict[str, float] = {
            "steps": self.steps,
            "averages": len(self.drifts),
            "bytes_sent": self.bytes_sent,
            "waited_s": self.waited_s,
            "largest_drift": max(self.drifts, default=0.0),
        }
        if self._model is not None:
            whole = sum(one.numel() for one in _weights(self._model)) * torch.float32.itemsize
            found["bytes_saved"] = self.steps * whole - self.bytes_sent
            found["final_drift"] = drift(self._model, self.group)
        if self.drifts:
            skipped = self.steps - len(self.drifts)
            found["seconds_saved"] = skipped * self.waited_s / len(self.drifts)
        return found


def drift(model: nn.Module, group: dist.ProcessGroup | None = None) -> float:
    """Return how far the replicas are apart: the largest |w - mean| / |mean| of any rank.

    All ranks call it together; the norm is the Euclidean one over all parameters and
    floating-point buffers. Nothing is changed.
    """
    weights = _weights(model)
    return _drift(weights, _mean(weights, group), group)


def _weights(model: nn.Module) -> list[Tensor]:
    every = [*model.parameters(), *model.buffers()]
    return [one.detach() for one in every if one.is_floating_point()]


def _mean(weights: list[Tensor], group: dist.ProcessGroup | None) -> Tensor:
    flat = torch.cat([one.reshape(-1).float() for one in weights])
    dist.all_reduce(flat, group=group)
    return flat.div_(dist.get_world_size(group))


def _drift(weights: list[Tensor], mean: Tensor, group: dist.ProcessGroup | None) -> float:
    own = torch.cat([one.reshape(-1).float() for one in weights])
    distance = (own - mean).double().norm() / mean.double().norm().clamp_min(1e-300)
    dist.all_reduce(distance, dist.ReduceOp.MAX, group=group)
    return float(distance)


def _write(flat: Tensor, weights: list[Tensor]) -> None:
    at = 0
    for one in weights:
        one.copy_(flat[at : at + one.numel()].view_as(one))
        at += one.numel()
