"""Vision transformers (Dosovitskiy et al. 2020, arXiv 2010.11929)."""

from __future__ import annotations

from dataclasses import dataclass

from artery.core.workload import Elementwise, Layer, Matmul, Parameter, Saved, Workload
from artery.workload.attention import SelfAttention
from artery.workload.block import Block, block
from artery.workload.ends import loss
from artery.workload.feed_forward import FeedForward
from artery.workload.sublayer import Sublayer, layer, norm


@dataclass(frozen=True, slots=True, kw_only=True)
class VitShape:
    """Shape of a vision transformer on square images, with one class token.

    ``classes`` is the size of the classifier (0: none); ``pooler`` a dense layer before it.
    """

    layers: int
    hidden: int
    heads: int
    image: int
    patch: int
    channels: int = 3
    feed_forward: int | None = None
    classes: int = 1000
    pooler: bool = False
    qkv_bias: bool = True
    dropout: float = 0.0
    attention_dropout: float = 0.0
    global_batch: int | None = None

    @property
    def tokens(self) -> int:
        """Tokens per image: one per patch, and the class token."""
        return (self.image // self.patch) ** 2 + 1


def vit(name: str, shape: VitShape) -> Workload:
    """Return the workload of a vision transformer; rows are tokens, a sample is an image."""
    form = Block(
        attention=SelfAttention(
            hidden=shape.hidden,
            heads=shape.heads,
            kv_heads=shape.heads,
            head_dim=shape.hidden // shape.heads,
            causal=False,
            qkv_bias=shape.qkv_bias,
            output_bias=True,
            dropout=shape.attention_dropout,
        ),
        mlp=FeedForward(
            hidden=shape.hidden, width=shape.feed_forward or 4 * shape.hidden, bias=True
        ),
        norm="layer",
        dropout=shape.dropout,
    )
    return Workload(
        name=name,
        family="vit",
        row_kind="token",
        sequence=shape.tokens,
        first=_patches(shape),
        layers=(block("layer", shape.layers, form),),
        last=_classifier(shape),
        hidden=shape.hidden,
        heads=shape.heads,
        kv_heads=shape.heads,
        logits=0,
        tied=False,
        max_sequence=shape.tokens,
        global_batch=shape.global_batch,
    )


def _patches(shape: VitShape) -> Layer:
    """Return patch embedding (a product per patch), class token and positions."""
    pixels, hidden = shape.channels * shape.patch**2, shape.hidden
    share = (shape.tokens - 1) / shape.tokens
    part = Sublayer(
        (
            Matmul("patch embedding", pixels, hidden, "none", "sequence", share),
            Elementwise("position embedding", 3 * hidden, 3 * hidden, "sequence"),
        ),
        (
            Parameter("patch weight", (pixels, hidden), "none"),
            Parameter("patch bias", (hidden,), "none"),
            Parameter("class token", (hidden,), "none"),
            Parameter("position weight", (shape.tokens, hidden), "none"),
        ),
        (Saved("patches", pixels * share, "sequence"),),
    )
    return layer("patch embedding", 1, part, hidden, reductions=0)


def _classifier(shape: VitShape) -> Layer:
    """Return final norm and, on the class token only, the pooler and the classifier."""
    share = 1 / shape.tokens
    part = norm("final norm", shape.hidden, "layer")
    widths = ([shape.hidden] if shape.pooler else []) + ([shape.classes] if shape.classes else [])
    for index, width in enumerate(widths):
        name = "pooler" if shape.pooler and index == 0 else "classifier"
        part += Sublayer(
            (Matmul(name, shape.hidden, width, "none", "none", share),),
            (
                Parameter(f"{name} weight", (shape.hidden, width), "none"),
                Parameter(f"{name} bias", (width,), "none"),
            ),
        )
    if shape.classes:
        cost = loss(shape.classes)
        work = Elementwise("loss", cost.forward * share, cost.backward * share, "none", 3, 2)
        part += Sublayer((work,))
    return layer("classifier", 1, part, shape.hidden, reductions=0)
