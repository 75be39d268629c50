"""Gated delta-rule attention (Yang et al. 2024, arXiv 2412.06464). Counted, not timed."""

from __future__ import annotations

from dataclasses import dataclass

from artery.core.workload import Parameter
from artery.workload.sublayer import Sublayer

REASON = "the recurrence of linear attention is not modelled; the weights are only counted"


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearAttention:
    """Key and value heads of the recurrent state; ``kernel`` is the convolution's width."""

    key_heads: int
    key_dim: int
    value_heads: int
    value_dim: int
    kernel: int = 4


def linear_attention(shape: LinearAttention, hidden: int) -> Sublayer:
    """Return the weights: Q, K, V and gate, decay and step per value head, convolution, output."""
    keys, values = shape.key_heads * shape.key_dim, shape.value_heads * shape.value_dim
    convolved = 2 * keys + values
    return Sublayer(
        parameters=(
            Parameter("linear qkv and gate weight", (hidden, convolved + values), "tensor"),
            Parameter("decay and step weight", (hidden, 2 * shape.value_heads), "tensor"),
            Parameter("decay and step bias", (2, shape.value_heads), "tensor"),
            Parameter("convolution weight", (convolved, shape.kernel), "tensor"),
            Parameter("gated norm", (shape.value_dim,), "none"),
            Parameter("linear attention out weight", (values, hidden), "tensor"),
        )
    )
