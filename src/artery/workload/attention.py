"""Multi-head self-attention: all heads alike, grouped (GQA) or with one key head (MQA)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from artery.core.workload import Attention, Elementwise, Parameter, Saved
from artery.workload.sublayer import NOTHING, NormKind, Sublayer, linear, norm

QueryKeyNorm = Literal["none", "plain", "head", "row"]
"""Norm of queries and keys before the scores.

``plain``: without weights (Llama 4). ``head``: one weight vector of ``head_dim`` for all heads
(Qwen3), with a bias if the norm is a LayerNorm (Phi). ``row``: weights for every head of a row
(OLMo 2 over the row at once, Cohere per head).
"""

ROTATION_COMPOSED = 10
"""Elements of 16 bit moved per rotated element where the rotation is composed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfAttention:
    """Shape of a self-attention block.

    ``window`` limits the keys of a query (0: all). ``gated`` multiplies the output by the sigmoid
    of a gate as wide as the queries (Qwen3-Next). ``sinks`` adds one learned score per head
    (gpt-oss). ``rope`` rotates queries and keys. ``dropout`` is that of the score matrix.
    """

    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    causal: bool = True
    window: int = 0
    rope: bool = False
    qkv_bias: bool = False
    output_bias: bool = False
    query_key_norm: QueryKeyNorm = "none"
    norm_kind: NormKind = "rms"
    gated: bool = False
    sinks: bool = False
    dropout: float = 0.0

    @property
    def query_width(self) -> int:
        """Elements of all query heads; need not equal ``hidden``."""
        return self.heads * self.head_dim

    @property
    def key_width(self) -> int:
        """Elements of all key heads (and of all value heads)."""
        return self.kv_heads * self.head_dim


def self_attention(shape: SelfAttention) -> Sublayer:
    """Return projections, score core and output projection, with what they keep.

    Kept per row, in elements: the input (hidden), Q, K and V, the score core, and the output
    projection's input; for multi-head attention with dropout and 16-bit activations this is the
    11·s·b·h + 5·a·s²·b bytes of Korthikanti et al. 2022, section 4.1, less the residual's mask.
    """
    query, key = shape.query_width, shape.key_width
    projected = Sublayer(
        saved=(
            Saved("attention input", shape.hidden, "sequence"),
            Saved("queries, keys, values", query + 2 * key, "tensor"),
        )
    )
    width = (2 if shape.gated else 1) * query + 2 * key
    qkv = linear("qkv", shape.hidden, width, side="column", bias=shape.qkv_bias)
    core = score_core(
        Attention(
            "attention",
            shape.heads,
            shape.kv_heads,
            shape.head_dim,
            shape.head_dim,
            shape.causal,
            shape.window or None,
        ),
        shape.dropout,
    )
    if shape.sinks:
        core += Sublayer(parameters=(Parameter("sinks", (shape.heads,), "tensor"),))
    rotated = rotation(query + key) if shape.rope else NOTHING
    kept = Sublayer(saved=(Saved("attention output", query, "tensor"),))
    out = linear("attention out", query, shape.hidden, side="row", bias=shape.output_bias)
    gate = _gate(query) if shape.gated else NOTHING
    return projected + qkv + _query_key_norm(shape) + rotated + core + gate + kept + out


def _gate(width: int) -> Sublayer:
    """Return the output gate: its two inputs are kept; cost as of any gated activation."""
    work = Elementwise("attention gate", 3 * width, 5 * width, "tensor")
    return Sublayer((work,), saved=(Saved("attention gate inputs", 2 * width, "tensor"),))


def score_core(core: Attention, dropout: float) -> Sublayer:
    """Return the score core with the matrices that only an eager core keeps.

    Per query row, key and head: the softmax output (2 bytes at 16 bit) and, with dropout, its
    one-byte mask and the dropped-out scores (2 bytes): the 5·a·s²·b bytes of Korthikanti et al.
    2022. The softmax itself is priced with the core, not as elementwise work.
    """
    saved = [Saved("softmax output", core.heads, "tensor", per_key=True, core=True)]
    if dropout > 0:
        saved += [
            Saved("score dropout mask", core.heads, "tensor", bytes=1, per_key=True, core=True),
            Saved("dropped-out scores", core.heads, "tensor", per_key=True, core=True),
        ]
    return Sublayer((core,), (), tuple(saved))


def rotation(elements: int) -> Sublayer:
    """Return the rotation of ``elements`` of queries and keys per row; nothing is kept.

    Composed as in Llama's own code: to 32 bit (3 elements), a complex product (4) and back (3),
    and the same backward, for queries and for keys.
    """
    moved = ROTATION_COMPOSED * elements
    composed = Elementwise("rotary embedding", moved, moved, "tensor", 6, 6)
    kernels = (2.0, 2.0)
    work = Elementwise("rotary embedding", 2 * elements, 2 * elements, "tensor", *kernels, composed)
    return Sublayer((work,))


def _query_key_norm(shape: SelfAttention) -> Sublayer:
    """Return the norms of queries and keys."""
    if shape.query_key_norm == "none":
        return NOTHING
    kind = "plain" if shape.query_key_norm == "plain" else shape.norm_kind
    if shape.query_key_norm == "row":
        widths, times = (shape.query_width, shape.key_width), (1, 1)
    else:
        widths, times = (shape.head_dim, shape.head_dim), (shape.heads, shape.kv_heads)
    bias = shape.query_key_norm == "head"
    query = norm("query norm", widths[0], kind, bias=bias, split="tensor", per_row=times[0])
    key = norm("key norm", widths[1], kind, bias=bias, split="tensor", per_row=times[1])
    return query + key
