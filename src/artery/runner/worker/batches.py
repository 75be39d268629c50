"""Which samples a step takes, and whose they are: a function of seed and position alone."""

from __future__ import annotations

import random
import sys
from functools import lru_cache

import torch
from torch import Tensor

from artery.runner.consistent import shares

_PRIME = 1_000_003
_WORD = 2**63


@lru_cache(maxsize=2)
def _order(seed: int, samples: int, epoch: int) -> Tensor:
    """Return the order of one pass over the training set."""
    chance = torch.Generator().manual_seed(mixed(seed, epoch, 0))
    return torch.randperm(samples, generator=chance)


def mixed(seed: int, one: int, other: int) -> int:
    """Return a seed for the pair (``one``, ``other``)."""
    return ((seed * _PRIME + one) * _PRIME + other) % _WORD


def batch(seed: int, samples: int, start: int, count: int) -> Tensor:
    """Return the samples at the positions from ``start`` on: pass after pass, each in new order."""
    pieces: list[Tensor] = []
    while count > 0:
        epoch, at = divmod(start, samples)
        piece = _order(seed, samples, epoch)[at : at + count]
        pieces.append(piece)
        start, count = start + len(piece), count - len(piece)
    return torch.cat(pieces)


def share(whole: Tensor, part: int, parts: int) -> Tensor:
    """Return the part of ``whole`` that belongs to ``part`` of ``parts``."""
    mine = shares(len(whole), parts)[part]
    return whole[mine.start : mine.stop]


def draw(seed: int, step: int, part: int) -> None:
    """Set all random states for ``part`` of ``step``: they depend on nothing that came before."""
    value = mixed(seed, step, part + 1)
    torch.manual_seed(value)
    random.seed(value)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(value % 2**32)
