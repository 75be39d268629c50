"""Encoder-decoder transformers: T5 (Raffel et al. 2019, arXiv 1910.10683)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from artery.core.workload import Attention, Layer, Parameter, Saved, Workload
from artery.workload.attention import SelfAttention, score_core, self_attention
from artery.workload.block import Block, block, wrapped
from artery.workload.ends import Embedding, Head, embedding, head
from artery.workload.feed_forward import FeedForward, feed_forward
from artery.workload.sublayer import NOTHING, Sublayer, layer, linear, norm


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderDecoderShape:
    """Shape of T5: ``gated`` and untied in v1.1, neither in v1.0.

    ``head_dim`` times ``heads`` need not be ``hidden``. ``buckets`` counts the relative positions
    that each stack learns one bias per head for. Without ``decoder_layers`` there is no head.
    """

    encoder_layers: int
    decoder_layers: int
    hidden: int
    heads: int
    head_dim: int
    feed_forward: int
    vocab: int
    sequence: int
    gated: bool = False
    tied: bool = True
    buckets: int = 32
    dropout: float = 0.1
    max_sequence: int | None = None
    global_batch: int | None = None


TARGET_NOTE = "The decoder is taken to run as many target tokens as the encoder has source tokens."


def encoder_decoder(name: str, shape: EncoderDecoderShape) -> Workload:
    """Return the workload of a T5; a row is a source token and a target token.

    The target is taken as long as the source, which ``notes`` says.
    """
    tail = Head(
        vocab=shape.vocab, hidden=shape.hidden, width=shape.hidden, tied=shape.tied, norm="rms"
    )
    encoder = block("encoder layer", shape.encoder_layers, _block(shape, causal=False))
    return Workload(
        name=name,
        family="encoder-decoder",
        row_kind="token",
        sequence=shape.sequence,
        first=_first(shape),
        layers=(encoder, _decoder_layer(shape)) if shape.decoder_layers else (encoder,),
        last=head(tail) if shape.decoder_layers else layer("output", 1, NOTHING, 0, reductions=0),
        hidden=shape.hidden,
        heads=shape.heads,
        kv_heads=shape.heads,
        logits=shape.vocab if shape.decoder_layers else 0,
        tied=shape.tied,
        max_sequence=shape.max_sequence,
        notes=(TARGET_NOTE,),
        global_batch=shape.global_batch,
    )


def _first(shape: EncoderDecoderShape) -> Layer:
    """Return both lookups in the shared embedding, both stacks' biases, the encoder's last norm."""
    lookup = embedding(
        Embedding(vocab=shape.vocab, hidden=shape.hidden, width=shape.hidden, dropout=shape.dropout)
    )
    stacks = 2 if shape.decoder_layers else 1
    end = norm("encoder final norm", shape.hidden, "rms")
    bias = Parameter("relative position bias", (shape.buckets, shape.heads), "tensor", stacks)
    return replace(
        lookup,
        operators=lookup.operators * stacks + end.operators,
        parameters=(*lookup.parameters, *end.parameters, bias),
        saved=lookup.saved * stacks + end.saved,
        reductions=stacks,
    )


def _block(shape: EncoderDecoderShape, *, causal: bool) -> Block:
    """Return self-attention and feed-forward of one stack: RMSNorm, no biases."""
    return Block(
        attention=SelfAttention(
            hidden=shape.hidden,
            heads=shape.heads,
            kv_heads=shape.heads,
            head_dim=shape.head_dim,
            causal=causal,
            dropout=shape.dropout,
        ),
        mlp=FeedForward(hidden=shape.hidden, width=shape.feed_forward, gated=shape.gated),
        norm="rms",
        dropout=shape.dropout,
    )


def _decoder_layer(shape: EncoderDecoderShape) -> Layer:
    """Return the decoder's layers: self-attention, cross-attention, feed-forward."""
    form = _block(shape, causal=True)
    part = (
        wrapped("attention", self_attention(form.attention), form)
        + wrapped("cross-attention", _cross_attention(shape), form)
        + wrapped("mlp", feed_forward(form.mlp), form)
    )
    return layer("decoder layer", shape.decoder_layers, part, shape.hidden, reductions=3)


def _cross_attention(shape: EncoderDecoderShape) -> Sublayer:
    """Return attention of target tokens to source tokens.

    The encoder's output is kept once for all layers, in the first layer's norm, not here.
    """
    inner = shape.heads * shape.head_dim
    kept = Sublayer(
        saved=(
            Saved("cross-attention input", shape.hidden, "sequence"),
            Saved("cross queries, keys, values", 3 * inner, "tensor"),
            Saved("cross-attention output", inner, "tensor"),
        )
    )
    heads, width = shape.heads, shape.head_dim
    core = Attention("cross-attention", heads, heads, width, width, causal=False)
    return (
        kept
        + linear("cross query", shape.hidden, inner, side="column", bias=False)
        + linear("cross key-value", shape.hidden, 2 * inner, side="column", bias=False)
        + score_core(core, shape.dropout)
        + linear("cross-attention out", inner, shape.hidden, side="row", bias=False)
    )
