"""A small transformer: next tokens of a text, or the class of an image cut into patches.

Pre-norm blocks as in GPT-2 (Radford et al. 2019) and ViT (Dosovitskiy et al. 2021, arXiv
2010.11929), without dropout: the same weights and samples give the same loss.
"""

from __future__ import annotations

from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional

WIDTH: Final = 256
DEPTH: Final = 4
HEADS: Final = 4
PATCH: Final = 4
"""Assumed: small enough for two cores, wide enough that matrix products prevail."""


class Attention(nn.Module):
    """Self-attention of ``HEADS`` heads; ``causal`` looks back only."""

    def __init__(self, *, causal: bool) -> None:
        super().__init__()
        self.causal = causal
        self.inputs = nn.Linear(WIDTH, 3 * WIDTH)
        self.outputs = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        """Return what each position gathers, (batch, positions, width)."""
        batch, length, _ = x.shape
        heads = self.inputs(x).view(batch, length, 3, HEADS, WIDTH // HEADS)
        query, key, value = heads.permute(2, 0, 3, 1, 4)
        gathered = functional.scaled_dot_product_attention(query, key, value, is_causal=self.causal)
        mixed: Tensor = self.outputs(gathered.transpose(1, 2).reshape(batch, length, WIDTH))
        return mixed


class Block(nn.Module):
    """Attention and a feed-forward network of four times the width, each added to its input."""

    def __init__(self, *, causal: bool) -> None:
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)])
        self.attention = Attention(causal=causal)
        self.feed_forward = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)
        )

    def forward(self, x: Tensor) -> Tensor:
        """Return the block's output, of the input's shape."""
        x = x + self.attention(self.norms[0](x))
        out: Tensor = x + self.feed_forward(self.norms[1](x))
        return out


class TextTransformer(nn.Module):
    """Logits of the next token at every position."""

    def __init__(self, vocabulary: int, length: int) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, WIDTH)
        self.places = nn.Parameter(torch.zeros(length, WIDTH))
        self.blocks = nn.Sequential(*(Block(causal=True) for _ in range(DEPTH)))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, vocabulary)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return logits (batch, positions, vocabulary) for tokens (batch, positions)."""
        x = self.tokens(tokens) + self.places[: tokens.shape[1]]
        logits: Tensor = self.head(self.norm(self.blocks(x)))
        return logits


class ImageTransformer(nn.Module):
    """Logits of the classes of square images with a side that :data:`PATCH` divides."""

    def __init__(self, side: int, classes: int) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, WIDTH, PATCH, PATCH)
        self.places = nn.Parameter(torch.zeros((side // PATCH) ** 2, WIDTH))
        self.blocks = nn.Sequential(*(Block(causal=False) for _ in range(DEPTH)))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, classes)

    def forward(self, x: Tensor) -> Tensor:
        """Return logits of the classes for images (batch, 3, side, side)."""
        rows = self.patches(x).flatten(2).transpose(1, 2) + self.places
        logits: Tensor = self.head(self.norm(self.blocks(rows)).mean(1))
        return logits
