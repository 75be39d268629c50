"""Encoder transformers with BERT's pre-training heads (Devlin et al. 2018, arXiv 1810.04805)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from artery.core.workload import Elementwise, Layer, Matmul, Parameter, Saved, Workload
from artery.workload.attention import SelfAttention
from artery.workload.block import Block, block
from artery.workload.ends import Embedding, embedding, loss
from artery.workload.feed_forward import FeedForward
from artery.workload.sublayer import NOTHING, Sublayer, layer


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderShape:
    """Shape of an encoder and of the heads on top of it.

    ``pooler`` is the dense layer on the first token, ``mlm`` the masked-language-model head
    (transform, norm, tied product with the vocabulary, bias), ``nsp`` the two-way next-sentence
    classifier on the pooler. Only ``predicted`` of the tokens, the masked ones, enter the
    masked-language-model head.
    """

    layers: int
    hidden: int
    heads: int
    vocab: int
    sequence: int
    positions: int = 512
    segments: int = 2
    feed_forward: int | None = None
    dropout: float = 0.1
    attention_dropout: float = 0.1
    pooler: bool = True
    mlm: bool = True
    nsp: bool = True
    predicted: float = 0.15
    global_batch: int | None = None


def encoder(name: str, shape: EncoderShape) -> Workload:
    """Return the workload of a BERT-like encoder; rows are tokens."""
    first = embedding(
        Embedding(
            vocab=shape.vocab,
            hidden=shape.hidden,
            width=shape.hidden,
            positions=shape.positions,
            segments=shape.segments,
            norm="layer",
            dropout=shape.dropout,
        )
    )
    return Workload(
        name=name,
        family="encoder",
        row_kind="token",
        sequence=shape.sequence,
        first=first,
        layers=(block("layer", shape.layers, _block(shape)),),
        last=_heads(shape),
        hidden=shape.hidden,
        heads=shape.heads,
        kv_heads=shape.heads,
        logits=round(shape.vocab * shape.predicted) if shape.mlm else 0,
        tied=shape.mlm,
        max_sequence=shape.positions,
        global_batch=shape.global_batch,
    )


def _block(shape: EncoderShape) -> Block:
    """Return one layer: every linear map has a bias, every norm is a LayerNorm."""
    return Block(
        attention=SelfAttention(
            hidden=shape.hidden,
            heads=shape.heads,
            kv_heads=shape.heads,
            head_dim=shape.hidden // shape.heads,
            causal=False,
            qkv_bias=True,
            output_bias=True,
            dropout=shape.attention_dropout,
        ),
        mlp=FeedForward(
            hidden=shape.hidden, width=shape.feed_forward or 4 * shape.hidden, bias=True
        ),
        norm="layer",
        dropout=shape.dropout,
    )


def _heads(shape: EncoderShape) -> Layer:
    """Return pooler and pre-training heads."""
    part = NOTHING
    if shape.mlm:
        part += _masked_language_model(shape)
    if shape.pooler:
        part += _on_first_token("pooler", shape, shape.hidden)
    if shape.nsp:
        part += _on_first_token("next sentence", shape, 2)
    return layer("heads", 1, part, shape.hidden, reductions=0)


def _masked_language_model(shape: EncoderShape) -> Sublayer:
    """Return transform (dense, GeLU, norm) and vocabulary product of the masked tokens."""
    share, hidden, vocab = shape.predicted, shape.hidden, shape.vocab
    moved, cost = hidden * share, loss(vocab)
    operators = (
        Matmul("transform", hidden, hidden, "none", "sequence", share),
        Elementwise("transform activation and norm", 4 * moved, 6 * moved, "sequence", 2, 3),
        Matmul("head", hidden, vocab, "column", "vocab", share),
        replace(cost, forward=cost.forward * share, backward=cost.backward * share),
    )
    parameters = (
        Parameter("transform weight", (hidden, hidden), "none"),
        Parameter("transform bias", (hidden,), "none"),
        Parameter("transform norm", (2, hidden), "none"),
        Parameter("head bias", (vocab,), "vocab"),
    )
    saved = (Saved("transform and head inputs", 4 * hidden * share, "sequence"),)
    return Sublayer(operators, parameters, saved)


def _on_first_token(name: str, shape: EncoderShape, width: int) -> Sublayer:
    """Return a dense layer that sees one token of each sample."""
    product = Matmul(name, shape.hidden, width, "none", "none", 1 / shape.sequence)
    weight = Parameter(f"{name} weight", (shape.hidden, width), "none")
    return Sublayer((product,), (weight, Parameter(f"{name} bias", (width,), "none")))
