"""The plain transformer block: attention and feed-forward, each with a norm and a residual."""

from __future__ import annotations

from dataclasses import dataclass

from artery.core.workload import Layer
from artery.workload.attention import SelfAttention, self_attention
from artery.workload.feed_forward import FeedForward, feed_forward
from artery.workload.sublayer import NormKind, Sublayer, layer, norm, residual


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Shape of one block; ``norm`` before or after the two parts costs the same."""

    attention: SelfAttention
    mlp: FeedForward
    norm: NormKind
    norm_bias: bool = True
    dropout: float = 0.0


def block(name: str, count: int, shape: Block) -> Layer:
    """Return ``count`` equal blocks as one layer with two all-reduces per forward pass."""
    part = wrapped("attention", self_attention(shape.attention), shape) + wrapped(
        "mlp", feed_forward(shape.mlp), shape
    )
    return layer(name, count, part, shape.mlp.hidden, reductions=2)


def wrapped(name: str, part: Sublayer, shape: Block) -> Sublayer:
    """Return ``part`` between its norm and its residual addition."""
    hidden = shape.mlp.hidden
    before = norm(f"{name} norm", hidden, shape.norm, bias=shape.norm_bias)
    return before + part + residual(f"{name} residual", hidden, shape.dropout)
