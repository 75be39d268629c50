"""``Task``: what is trained. A model, a training set, a loss over samples, a test."""

from __future__ import annotations

from typing import Protocol

from torch import Tensor, nn


class Task(Protocol):
    """One thing to train, the same on every rank.

    ``name`` says what (``resnet18 on digits``), ``samples`` is the length of the training set.
    """

    @property
    def name(self) -> str:
        """The model and its data, in words."""

    @property
    def samples(self) -> int:
        """How many samples the training set has."""

    def build(self, seed: int) -> nn.Module:
        """Return a new model; the same ``seed`` gives the same weights, bit for bit."""

    def loss(self, model: nn.Module, indices: Tensor) -> Tensor:
        """Return the mean loss of the samples ``indices`` (int64, one dimension).

        The same model, its buffers included, and the same indices give the same value and the
        same gradients, bit for bit.
        """

    def evaluate(self, model: nn.Module) -> float:
        """Return how good ``model`` is on held-out samples: accuracy from 0 to 1, or a loss.

        The model is in the mode and has the buffers that it had before.
        """
