"""What stands before and after the repeated layers of a model on tokens: embedding and head."""

from __future__ import annotations

from dataclasses import dataclass

from artery.core.workload import Elementwise, Layer, Matmul, Parameter, Saved
from artery.workload.sublayer import (
    MASK_ELEMENTS,
    NOTHING,
    NormKind,
    Sublayer,
    layer,
    linear,
    norm,
)

LOSS_FORWARD = 5
LOSS_BACKWARD = 3
"""Elements per logit of softmax and cross-entropy in 32 bit, counted in 16-bit elements: forward
reads the logit (1), writes (2) and reads (2) its 32-bit copy; backward reads the copy (2) and
writes the gradient (1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedding:
    """Token embedding of ``vocab`` x ``width``, plus ``positions`` learned rows (0: none).

    ``width`` differs from ``hidden`` where a projection follows (small OPT). ``segments`` counts
    token types (BERT). ``norm`` is a norm right after the embedding (BLOOM, BERT).
    """

    vocab: int
    hidden: int
    width: int
    positions: int = 0
    segments: int = 0
    norm: NormKind | None = None
    dropout: float = 0.0


def embedding(shape: Embedding) -> Layer:
    """Return the input part: one vocabulary-parallel lookup, so one all-reduce per forward pass.

    Forward reads and writes the row (and reads its position); backward reads the gradient and
    adds it to the weights' (reads and writes 1).
    """
    tables = 1 + bool(shape.positions) + bool(shape.segments)
    width = shape.width
    moved = (1 + tables) * width
    lookup = Elementwise("embedding", moved, 3 * tables * width, "none", tables, tables)
    parameters = [Parameter("embedding weight", (shape.vocab, width), "vocab")]
    if shape.positions:
        parameters.append(Parameter("position weight", (shape.positions, shape.hidden), "none"))
    if shape.segments:
        parameters.append(Parameter("segment weight", (shape.segments, shape.hidden), "none"))
    part = Sublayer((lookup,), tuple(parameters))
    if width != shape.hidden:
        part += linear("embedding in", width, shape.hidden, side="none", bias=False)
    if shape.norm is not None:
        part += norm("embedding norm", shape.hidden, shape.norm)
    return layer("embedding", 1, part + _dropout(shape), shape.hidden, reductions=1)


def _dropout(shape: Embedding) -> Sublayer:
    """Return dropout of the embedded row: reads it, writes it and the mask; the mask is kept."""
    if shape.dropout <= 0:
        return NOTHING
    work = (2 + MASK_ELEMENTS) * shape.hidden
    mask = Saved("embedding dropout mask", shape.hidden, "sequence", bytes=1)
    return Sublayer((Elementwise("embedding dropout", work, work, "sequence"),), saved=(mask,))


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """Final norm, product with the vocabulary and loss. ``tied``: the weight is the embedding's."""

    vocab: int
    hidden: int
    width: int
    tied: bool
    bias: bool = False
    norm: NormKind | None = "rms"
    norm_bias: bool = True


def head(shape: Head) -> Layer:
    """Return the output part, vocabulary-parallel; the logits themselves are priced by ``step``."""
    part = NOTHING
    if shape.norm is not None:
        part += norm("final norm", shape.hidden, shape.norm, bias=shape.norm_bias)
    if shape.width != shape.hidden:
        part += linear("head in", shape.hidden, shape.width, side="none", bias=False)
    weights: tuple[Parameter, ...] = ()
    if not shape.tied:
        weights += (Parameter("head weight", (shape.width, shape.vocab), "vocab"),)
    if shape.bias:
        weights += (Parameter("head bias", (shape.vocab,), "vocab"),)
    product = Matmul("head", shape.width, shape.vocab, "column", "vocab")
    kept = Saved("head input", shape.width, "sequence")
    part += Sublayer((product, loss(shape.vocab)), weights, (kept,))
    return layer("head", 1, part, shape.hidden, reductions=0)


def loss(classes: int) -> Elementwise:
    """Return softmax and cross-entropy over ``classes`` logits per row."""
    return Elementwise("loss", LOSS_FORWARD * classes, LOSS_BACKWARD * classes, "vocab", 3, 2)
