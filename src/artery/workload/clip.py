"""CLIP: a text and a vision tower trained together (Radford et al. 2021, arXiv 2103.00020).

Counted, not timed.
"""

from __future__ import annotations

from dataclasses import dataclass

from artery.core.workload import Layer, Parameter, Workload
from artery.workload.attention import SelfAttention
from artery.workload.block import Block, block
from artery.workload.counted import CountedModel, Weights, counted, weight
from artery.workload.feed_forward import FeedForward
from artery.workload.sublayer import NormKind

REASON = (
    "the two towers of CLIP run side by side with a loss over all pairs of a batch, which is not "
    "modelled; the weights are only counted"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tower:
    """An encoder beside another model; ``inputs`` are its embedding weights.

    ``norms`` counts the norms outside of the layers. ``attention_bias`` and ``mlp_bias`` hold for
    every linear map of their block.
    """

    layers: int
    hidden: int
    heads: int
    feed_forward: int
    inputs: tuple[Parameter, ...]
    norms: int = 1
    norm: NormKind = "layer"
    gated: bool = False
    attention_bias: bool = True
    mlp_bias: bool = True

    def weights(self, name: str) -> tuple[Weights, ...]:
        """Return the layers, the norms outside of them, and the embeddings."""
        vectors = 2 if self.norm == "layer" else 1
        outer = (weight(f"{name} outer norms", vectors, self.hidden, count=self.norms),)
        return (
            Weights(name=f"{name} layer", parameters=self._layer().parameters, count=self.layers),
            Weights(name=f"{name} ends", parameters=self.inputs + (outer if self.norms else ())),
        )

    def _layer(self) -> Layer:
        """Return one layer."""
        form = Block(
            attention=SelfAttention(
                hidden=self.hidden,
                heads=self.heads,
                kv_heads=self.heads,
                head_dim=self.hidden // self.heads,
                causal=False,
                qkv_bias=self.attention_bias,
                output_bias=self.attention_bias,
            ),
            mlp=FeedForward(
                hidden=self.hidden, width=self.feed_forward, gated=self.gated, bias=self.mlp_bias
            ),
            norm=self.norm,
        )
        return block("layer", 1, form)


def text_inputs(vocab: int, positions: int, hidden: int) -> tuple[Parameter, ...]:
    """Return token and position embeddings."""
    return (
        weight("token embedding", vocab, hidden),
        weight("text positions", positions, hidden),
    )


def image_inputs(image: int, patch: int, hidden: int) -> tuple[Parameter, ...]:
    """Return patch embedding without bias, class token and positions, for three channels."""
    return (
        weight("patch weight", 3 * patch**2, hidden),
        weight("class token", hidden),
        weight("image positions", (image // patch) ** 2 + 1, hidden),
    )


def clip(name: str, text: Tower, vision: Tower, projection: int, *, positions: int) -> Workload:
    """Return the counted workload of CLIP.

    Both towers are projected to ``projection`` elements; one learned scalar scales the logits.
    ``vision.norms`` is 2: before and after the blocks. A sample is an image with its text.
    """
    ends = (
        weight("text projection", text.hidden, projection),
        weight("image projection", vision.hidden, projection),
        weight("logit scale", 1),
    )
    model = CountedModel(
        family="clip",
        hidden=vision.hidden,
        heads=vision.heads,
        vocab=0,
        sequence=positions,
        layers=(*text.weights("text"), *vision.weights("vision")),
        first=(),
        last=ends,
        row_kind="sample",
        reason=REASON,
    )
    return counted(name, model)
