"""Decoder transformers: GPT, Llama and their kin, dense or mixture-of-experts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from artery.core.workload import Layer, Workload
from artery.workload.attention import QueryKeyNorm, SelfAttention, self_attention
from artery.workload.ends import Embedding, Head, embedding, head
from artery.workload.feed_forward import FeedForward, feed_forward
from artery.workload.linear_attention import REASON, LinearAttention, linear_attention
from artery.workload.mla import LatentAttention, latent_attention
from artery.workload.moe import Experts, mixture, routing
from artery.workload.sublayer import NOTHING, NormKind, Sublayer, merged, norm, residual


@dataclass(frozen=True, slots=True, kw_only=True)
class DecoderShape:
    """Everything that makes the shape of a decoder.

    ``layers``, ``hidden``, ``heads`` and ``vocab`` as usual; ``sequence`` is the usual number of
    tokens per sample and ``max_sequence`` the longest one allowed. ``kv_heads`` defaults to
    ``heads``, ``head_dim`` to hidden / heads, ``feed_forward`` (the width) to 4·hidden.

    ``norms`` counts norms per layer: 2 before or after the two blocks, 4 around both (Gemma 2),
    1 where parallel blocks share one. ``parallel`` runs attention and feed-forward side by side
    from the same residual (GPT-J, Falcon, PaLM): one all-reduce instead of two. ``positions``
    counts learned position rows (0: none). ``embedding_width`` differs from hidden where the
    embedding is projected (small OPT).

    ``windows`` is a pattern of attention windows, repeated over the layers (0: full attention;
    empty: all full). ``experts`` replaces the feed-forward block of every layer that is not in
    ``dense_layers``. ``latent`` replaces self-attention by latent attention, whose indexer is left
    out in ``unindexed_layers`` (they reuse an earlier layer's choice of keys). ``linear`` replaces
    self-attention in ``linear_layers``; such a model is counted, not timed. ``dropout`` is that
    of the two blocks' outputs, ``attention_dropout`` that of the score matrix.
    """

    layers: int
    hidden: int
    heads: int
    vocab: int
    sequence: int
    max_sequence: int | None = None
    kv_heads: int | None = None
    head_dim: int | None = None
    feed_forward: int | None = None
    gated: bool = False
    norm: NormKind = "rms"
    norm_bias: bool = True
    norms: int = 2
    final_norm: bool = True
    qkv_bias: bool = False
    output_bias: bool = False
    mlp_bias: bool = False
    head_bias: bool = False
    rope: bool = True
    positions: int = 0
    query_key_norm: QueryKeyNorm = "none"
    attention_gate: bool = False
    sinks: bool = False
    parallel: bool = False
    windows: tuple[int, ...] = ()
    tied: bool = False
    embedding_norm: bool = False
    embedding_width: int | None = None
    dropout: float = 0.0
    attention_dropout: float = 0.0
    embedding_dropout: float = 0.0
    latent: LatentAttention | None = None
    unindexed_layers: tuple[int, ...] = ()
    linear: LinearAttention | None = None
    linear_layers: tuple[int, ...] = ()
    experts: Experts | None = None
    dense_layers: tuple[int, ...] = ()
    global_batch: int | None = None


def gpt_shape(*, layers: int, hidden: int, heads: int, vocab: int, sequence: int) -> DecoderShape:
    """Return a decoder as GPT-2, GPT-3 and Megatron-LM build it.

    Multi-head attention, GeLU of width 4·hidden, LayerNorm before each block, biases everywhere,
    as many learned positions as ``sequence``, tied embedding, dropout of 0.1.
    """
    return DecoderShape(
        layers=layers,
        hidden=hidden,
        heads=heads,
        vocab=vocab,
        sequence=sequence,
        max_sequence=sequence,
        norm="layer",
        qkv_bias=True,
        output_bias=True,
        mlp_bias=True,
        rope=False,
        positions=sequence,
        tied=True,
        dropout=0.1,
        attention_dropout=0.1,
        embedding_dropout=0.1,
    )


def decoder(name: str, shape: DecoderShape, *, family: str = "decoder") -> Workload:
    """Return the workload of a decoder; rows are tokens.

    Equal neighbouring layers are one :class:`Layer`. The shape is taken as given: whoever reads
    it from a user checks it first.
    """
    width = shape.embedding_width or shape.hidden
    first = embedding(
        Embedding(
            vocab=shape.vocab,
            hidden=shape.hidden,
            width=width,
            positions=shape.positions,
            norm=shape.norm if shape.embedding_norm else None,
            dropout=shape.embedding_dropout,
        )
    )
    last = head(
        Head(
            vocab=shape.vocab,
            hidden=shape.hidden,
            width=width,
            tied=shape.tied,
            bias=shape.head_bias,
            norm=shape.norm if shape.final_norm else None,
            norm_bias=shape.norm_bias,
        )
    )
    return Workload(
        name=name,
        family=family,
        row_kind="token",
        sequence=shape.sequence,
        first=first,
        layers=_layers(shape),
        last=last,
        hidden=shape.hidden,
        heads=shape.heads,
        kv_heads=shape.kv_heads or shape.heads,
        logits=shape.vocab,
        tied=shape.tied,
        max_sequence=shape.max_sequence,
        unsupported=REASON if shape.linear is not None else None,
        global_batch=shape.global_batch,
    )


def _layers(shape: DecoderShape) -> tuple[Layer, ...]:
    """Return the layers in order, equal neighbours as one; each kind is built once."""
    kinds = [_kind(shape, index) for index in range(shape.layers)]
    built = {kind: _layer(shape, kind) for kind in set(kinds)}
    return merged(built[kind] for kind in kinds)


class _Kind(NamedTuple):
    """What tells layers apart: the window, experts, an indexer of its own, linear attention."""

    window: int
    mixed: bool
    indexed: bool
    linear: bool


def _kind(shape: DecoderShape, index: int) -> _Kind:
    """Return what tells layer ``index`` apart."""
    window = shape.windows[index % len(shape.windows)] if shape.windows else 0
    mixed = shape.experts is not None and index not in shape.dense_layers
    linear = shape.linear is not None and index in shape.linear_layers
    return _Kind(window, mixed, index not in shape.unindexed_layers, linear)


def _layer(shape: DecoderShape, kind: _Kind) -> Layer:
    """Return one layer: norms, attention, residual, feed-forward or experts, residual."""
    experts = shape.experts if kind.mixed else None
    part = (
        _norms(shape)
        + _attention(shape, kind)
        + residual("attention residual", shape.hidden, shape.dropout)
        + _mlp(shape, experts)
        + residual("mlp residual", shape.hidden, shape.dropout)
    )
    return Layer(
        name="mixture layer" if experts else "layer",
        count=1,
        operators=part.operators,
        parameters=part.parameters,
        saved=part.saved,
        reductions=_reductions(shape, experts),
        reduced=shape.hidden,
        boundary=shape.hidden,
        routing=routing(experts, shape.hidden) if experts else None,
    )


def _reductions(shape: DecoderShape, experts: Experts | None) -> int:
    """Return all-reduces per forward pass: one per block, one for both if they are parallel.

    Routed experts bring none: their outputs come back by the combine all-to-all.
    """
    if shape.parallel:
        return 1
    if experts is None:
        return 2
    return 2 if experts.shared_width else 1


def _norms(shape: DecoderShape) -> Sublayer:
    """Return the layer's norms. Parallel norms read the same residual, which is kept once."""
    parts = [
        norm(f"norm {index + 1}", shape.hidden, shape.norm, bias=shape.norm_bias)
        for index in range(shape.norms)
    ]
    if shape.parallel:
        parts[1:] = [Sublayer(part.operators, part.parameters) for part in parts[1:]]
    return sum(parts, NOTHING)


def _attention(shape: DecoderShape, kind: _Kind) -> Sublayer:
    """Return self-attention, or the layer's latent or linear attention."""
    if shape.linear is not None and kind.linear:
        return linear_attention(shape.linear, shape.hidden)
    if shape.latent is not None:
        form = shape.latent if kind.indexed else replace(shape.latent, indexer=None)
        return latent_attention(form, shape.hidden, shape.heads)
    return self_attention(
        SelfAttention(
            hidden=shape.hidden,
            heads=shape.heads,
            kv_heads=shape.kv_heads or shape.heads,
            head_dim=shape.head_dim or shape.hidden // shape.heads,
            window=kind.window,
            rope=shape.rope,
            qkv_bias=shape.qkv_bias,
            output_bias=shape.output_bias,
            query_key_norm=shape.query_key_norm,
            norm_kind=shape.norm,
            gated=shape.attention_gate,
            sinks=shape.sinks,
            dropout=shape.attention_dropout,
        )
    )


def _mlp(shape: DecoderShape, experts: Experts | None) -> Sublayer:
    """Return the feed-forward block or the experts. Parallel blocks share one input."""
    if experts is not None:
        block = mixture(experts, shape.hidden)
    else:
        form = FeedForward(
            hidden=shape.hidden,
            width=shape.feed_forward or 4 * shape.hidden,
            gated=shape.gated,
            bias=shape.mlp_bias,
        )
        block = feed_forward(form)
    if shape.parallel and shape.norms == 1:
        kept = tuple(item for item in block.saved if item.name != "mlp input")
        return Sublayer(block.operators, block.parameters, kept)
    return block
