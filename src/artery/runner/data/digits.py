"""scikit-learn's digits: 1,797 real handwritten digits that come with the package, offline.

E. Alpaydin and C. Kaynak, Optical Recognition of Handwritten Digits, UCI, 1998. 8x8 grey pixels
from 0 to 16, enlarged to the asked side and repeated to three channels.
"""

from __future__ import annotations

from functools import cached_property
from typing import Final, Literal

import torch
from torch import Tensor
from torch.nn import functional

from artery.runner.data import HELD_OUT
from artery.runner.extra import needed


class Digits:
    """The digits as images of ``size`` pixels per side."""

    name: Final = "digits"
    kind: Final[Literal["images", "text"]] = "images"
    classes: Final = 10

    def __init__(self, size: int = 32) -> None:
        self.size = size

    @cached_property
    def _parts(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return training pixels and classes, then held-out ones; pixels (n, 8, 8) about 0."""
        found = needed("sklearn.datasets", "scikit-learn", "the digits").load_digits()
        pixels = torch.tensor(found.images, dtype=torch.float32) / 8 - 1
        classes = torch.tensor(found.target, dtype=torch.int64)
        # Drawn once and for all: in the file the classes take turns.
        order = torch.randperm(len(classes), generator=torch.Generator().manual_seed(0))
        held, kept = order[: len(order) // HELD_OUT], order[len(order) // HELD_OUT :]
        return pixels[kept], classes[kept], pixels[held], classes[held]

    @property
    def training(self) -> int:
        """Samples to train on."""
        return len(self._parts[1])

    @property
    def testing(self) -> int:
        """Samples held out."""
        return len(self._parts[3])

    def train(self, indices: Tensor) -> tuple[Tensor, Tensor]:
        """Return images and classes of training samples."""
        return self._enlarged(self._parts[0][indices]), self._parts[1][indices]

    def test(self, indices: Tensor) -> tuple[Tensor, Tensor]:
        """Return images and classes of held-out samples."""
        return self._enlarged(self._parts[2][indices]), self._parts[3][indices]

    def _enlarged(self, pixels: Tensor) -> Tensor:
        grown = functional.interpolate(pixels.unsqueeze(1), size=(self.size, self.size))
        return grown.expand(-1, 3, -1, -1).contiguous()
