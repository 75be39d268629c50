"""Made-up samples, drawn from their index alone: no file, no storage, any number.

Images: each class has a fixed pattern, and a sample is its class's pattern under noise. Text:
a Markov chain in which two of all tokens may follow each token, so that the best loss is known:
the entropy of the chain, :attr:`SyntheticText.entropy`.
"""

from __future__ import annotations

import math
from typing import Final, Literal

import torch
from torch import Tensor

_LIKELY: Final = 0.9
"""Assumed: the chance of a token's likelier follower."""

_TEST: Final = 1 << 31
"""Held-out samples are drawn with keys from here on, beyond every training sample's.

The generator of a processor takes 32 bits of its seed: more would be lost.
"""


class SyntheticImages:
    """``training`` images of ``classes`` classes, ``size`` pixels per side."""

    kind: Final[Literal["images", "text"]] = "images"
    name: Final = "synthetic"

    def __init__(
        self, size: int = 32, classes: int = 10, training: int = 4096, testing: int = 512
    ) -> None:
        self.size, self.classes, self.training, self.testing = size, classes, training, testing
        self._patterns = torch.randn(classes, 3, 8, 8, generator=_generator(0))

    def train(self, indices: Tensor) -> tuple[Tensor, Tensor]:
        """Return images and classes of training samples."""
        return self._drawn(indices)

    def test(self, indices: Tensor) -> tuple[Tensor, Tensor]:
        """Return images and classes of held-out samples."""
        return self._drawn(indices + _TEST)

    def _drawn(self, keys: Tensor) -> tuple[Tensor, Tensor]:
        classes = keys % self.classes
        patterns = torch.nn.functional.interpolate(
            self._patterns[classes], size=(self.size, self.size)
        )
        noise = [
            torch.randn(3, self.size, self.size, generator=_generator(1 + key))
            for key in keys.tolist()
        ]
        return (patterns + torch.stack(noise)) / math.sqrt(2), classes


class SyntheticText:
    """``training`` texts of ``size`` tokens out of ``classes``."""

    kind: Final[Literal["images", "text"]] = "text"
    name: Final = "synthetic"

    def __init__(
        self, size: int = 64, classes: int = 256, training: int = 4096, testing: int = 256
    ) -> None:
        self.size, self.classes, self.training, self.testing = size, classes, training, testing
        generator = _generator(0)
        likely = torch.randperm(classes, generator=generator)
        self._follows = torch.stack([likely, (likely + 1) % classes], 1)

    @property
    def entropy(self) -> float:
        """Nats per token that no model can beat: those of a coin of ``_LIKELY``."""
        return -(_LIKELY * math.log(_LIKELY) + (1 - _LIKELY) * math.log(1 - _LIKELY))

    def train(self, indices: Tensor) -> tuple[Tensor, Tensor]:
        """Return tokens of training samples, and the token after each."""
        return self._drawn(indices)

    def test(self, indices: Tensor) -> tuple[Tensor, Tensor]:
        """Return tokens of held-out samples, and the token after each."""
        return self._drawn(indices + _TEST)

    def _drawn(self, keys: Tensor) -> tuple[Tensor, Tensor]:
        coins = [torch.rand(self.size + 1, generator=_generator(1 + key)) for key in keys.tolist()]
        chances = torch.stack(coins, 1)
        tokens = [(chances[0] * self.classes).long()]
        for chance in chances[1:]:
            tokens.append(self._follows[tokens[-1], (chance > _LIKELY).long()])
        text = torch.stack(tokens, 1)
        return text[:, :-1], text[:, 1:]


def _generator(key: int) -> torch.Generator:
    return torch.Generator().manual_seed(key)
