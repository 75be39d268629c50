"""``Exchange``: how the ranks agree on gradients, or on weights.

A step of a worker, with any exchange::

    for micro, indices in enumerate(micro_batches):
        exchange.begin(model, last=micro == len(micro_batches) - 1)
        (task.loss(model, indices) / len(micro_batches)).backward()
    exchange.reduce(model)
    optimizer.step()
    exchange.settle(model, step)
    optimizer.zero_grad()
"""

from __future__ import annotations

from typing import Any, Protocol

from torch import nn


class Exchange(Protocol):
    """What a worker calls in every step. All ranks call the same methods in the same order."""

    def begin(self, model: nn.Module, *, last: bool) -> None:
        """Say that a backward pass follows; ``last``: it is the last before :meth:`reduce`.

        An exchange that overlaps sends each bucket while the last backward pass still runs.
        Never called, it does everything in :meth:`reduce`: the same result, nothing hidden.
        """

    def reduce(self, model: nn.Module) -> None:
        """Average the gradients over the ranks; on return each rank has the mean in ``.grad``.

        A parameter without gradient on this rank counts as zero.
        """

    def settle(self, model: nn.Module, step: int) -> None:
        """Say that the optimizer's step ``step`` (from 1) is done; local SGD averages here."""

    def state(self) -> dict[str, Any]:
        """Return what a checkpoint must hold to go on as if nothing had happened (tensors)."""

    def load_state(self, state: dict[str, Any]) -> None:
        """Go on from ``state``, as :meth:`state` gave it on the same rank."""
