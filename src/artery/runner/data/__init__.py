"""``Data``: training and test samples, by index, the same on every rank."""

from __future__ import annotations

from typing import Final, Literal, Protocol

from torch import Tensor

HELD_OUT: Final = 5
"""Of real samples one in five is held out, always the same ones."""


class Data(Protocol):
    """Samples that every rank can draw by their index, without any other rank's help.

    ``kind`` is ``images`` (inputs float (batch, 3, side, side), targets int64 classes) or
    ``text`` (inputs and targets int64 (batch, length), the target being the next token).
    """

    @property
    def name(self) -> str:
        """What the samples are, in words."""

    @property
    def kind(self) -> Literal["images", "text"]:
        """Images or text."""

    @property
    def classes(self) -> int:
        """Classes of images, or tokens of the vocabulary."""

    @property
    def size(self) -> int:
        """Pixels per side, or tokens per sample."""

    @property
    def training(self) -> int:
        """Samples to train on."""

    @property
    def testing(self) -> int:
        """Samples held out."""

    def train(self, indices: Tensor) -> tuple[Tensor, Tensor]:
        """Return inputs and targets of training samples."""

    def test(self, indices: Tensor) -> tuple[Tensor, Tensor]:
        """Return inputs and targets of held-out samples."""
