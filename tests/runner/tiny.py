"""A model so small that a step takes a few milliseconds."""

from __future__ import annotations

import time

from torch import Tensor, nn

from tests.runner.hurry import hurries

PACE = 0.004
"""Seconds that a pass takes at least, so that things can happen between two steps."""


class Paced(nn.Module):
    """Passes its input on after a moment, unless it may hurry."""

    def forward(self, images: Tensor) -> Tensor:
        if not hurries():
            time.sleep(PACE)
        return images


def mlp(classes: int, size: int) -> nn.Module:
    """Return two layers over a colour image of ``size`` pixels a side."""
    return nn.Sequential(
        Paced(), nn.Flatten(), nn.Linear(3 * size * size, 16), nn.ReLU(), nn.Linear(16, classes)
    )


class Broken(nn.Module):
    """Never works."""

    def forward(self, images: Tensor) -> Tensor:
        raise ValueError(f"it never works on {len(images)} images")


class Fussy(nn.Module):
    """Computes, but does not learn."""

    def forward(self, images: Tensor) -> Tensor:
        if images.requires_grad or images.grad_fn is not None:
            raise ValueError("it never learns")
        return images


def fussy(classes: int, size: int) -> nn.Module:
    """Return a model that fails at its first step, and not when it is tried."""
    return nn.Sequential(nn.Flatten(), nn.Linear(3 * size * size, classes), Fussy())


def broken(classes: int, size: int) -> nn.Module:
    """Return a model whose every pass fails."""
    return nn.Sequential(Broken(), nn.Linear(size, classes))
