"""State-space models: Mamba, Mamba-2 and hybrids with attention. Counted, not timed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from artery.core.workload import Parameter, Workload
from artery.workload.counted import CountedModel, Weights, counted, weight
from artery.workload.moe import Experts, mixture, routing

REASON = "the selective scan of state-space layers is not modelled; the weights are only counted"


@dataclass(frozen=True, slots=True, kw_only=True)
class MambaShape:
    """Mamba (Gu and Dao 2023, arXiv 2312.00752): ``inner`` channels of ``state`` states each.

    ``rank`` is that of the step-size projection, ``kernel`` the width of the convolution.
    """

    layers: int
    hidden: int
    inner: int
    state: int
    rank: int
    vocab: int
    sequence: int
    kernel: int = 4
    bias: bool = False
    conv_bias: bool = True
    tied: bool = True


def mamba(name: str, shape: MambaShape) -> Workload:
    """Return the counted workload of a Mamba."""
    inner, state = shape.inner, shape.state
    mixer = [
        weight("norm", shape.hidden),
        weight("in weight", shape.hidden, 2 * inner),
        weight("convolution weight", inner, shape.kernel),
        weight("state projection", inner, shape.rank + 2 * state),
        weight("step weight", shape.rank, inner),
        weight("step bias", inner),
        weight("state matrix", inner, state),
        weight("skip", inner),
        weight("out weight", inner, shape.hidden),
    ]
    if shape.conv_bias:
        mixer.append(weight("convolution bias", inner))
    if shape.bias:
        mixer += [weight("in bias", 2 * inner), weight("out bias", shape.hidden)]
    layers = [Weights(name="mixer", parameters=tuple(mixer), count=shape.layers)]
    return counted(name, _model(shape, layers, heads=1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Mamba2Mixer:
    """A Mamba-2 mixer (Dao and Gu 2024, arXiv 2405.21060): ``heads`` of ``head_dim`` channels."""

    heads: int
    head_dim: int
    groups: int
    state: int
    kernel: int = 4
    bias: bool = False
    conv_bias: bool = True

    def parameters(self, hidden: int) -> tuple[Parameter, ...]:
        """Return the mixer's weights, without the norm before it."""
        inner = self.heads * self.head_dim
        convolved = inner + 2 * self.groups * self.state
        made = [
            weight("in weight", hidden, inner + convolved + self.heads),
            weight("convolution weight", convolved, self.kernel),
            weight("decay, skip and step bias", self.heads, count=3),
            weight("gated norm", inner),
            weight("out weight", inner, hidden),
        ]
        if self.conv_bias:
            made.append(weight("convolution bias", convolved))
        if self.bias:
            made += [weight("in bias", inner + convolved + self.heads), weight("out bias", hidden)]
        return tuple(made)


@dataclass(frozen=True, slots=True, kw_only=True)
class HybridShape:
    """Layers of one mixer each: Mamba-2, attention or feed-forward, each behind an RMSNorm.

    ``pattern`` has one letter per layer: ``M`` Mamba-2, ``*`` attention, ``-`` feed-forward, ``E``
    mixture of ``experts`` (the notation of Nemotron-H, arXiv 2504.03624). Experts work on rows of
    ``expert_hidden`` elements (0: on all of ``hidden``), projected there and back.
    """

    pattern: str
    hidden: int
    mixer: Mamba2Mixer
    heads: int
    kv_heads: int
    head_dim: int
    feed_forward: int
    vocab: int
    sequence: int
    attention_bias: bool = False
    mlp_bias: bool = False
    tied: bool = False
    experts: Experts | None = None
    expert_hidden: int = 0


def hybrid(name: str, shape: HybridShape) -> Workload:
    """Return the counted workload of a hybrid; layers of a kind are counted together."""
    weights = {
        "M": ("mamba-2", shape.mixer.parameters(shape.hidden)),
        "*": ("attention", _attention(shape)),
        "-": ("feed-forward", _feed_forward(shape)),
        "E": ("mixture", _mixture(shape)),
    }
    layers = [
        Weights(
            name=weights[letter][0],
            parameters=(weight("norm", shape.hidden), *weights[letter][1]),
            count=count,
            routing=routing(shape.experts, shape.hidden)
            if letter == "E" and shape.experts
            else None,
        )
        for letter, count in Counter(shape.pattern).items()
    ]
    return counted(name, _model(shape, layers, heads=shape.heads))


def _attention(shape: HybridShape) -> tuple[Parameter, ...]:
    query, key = shape.heads * shape.head_dim, shape.kv_heads * shape.head_dim
    made: tuple[Parameter, ...] = (
        weight("qkv weight", shape.hidden, query + 2 * key),
        weight("attention out weight", query, shape.hidden),
    )
    if shape.attention_bias:
        made += (weight("qkv bias", query + 2 * key), weight("attention out bias", shape.hidden))
    return made


def _feed_forward(shape: HybridShape) -> tuple[Parameter, ...]:
    made: tuple[Parameter, ...] = (
        weight("mlp in weight", shape.hidden, shape.feed_forward),
        weight("mlp out weight", shape.feed_forward, shape.hidden),
    )
    if shape.mlp_bias:
        made += (weight("mlp in bias", shape.feed_forward), weight("mlp out bias", shape.hidden))
    return made


def _mixture(shape: HybridShape) -> tuple[Parameter, ...]:
    """Return router, experts and shared experts, and the projections around narrower rows."""
    if shape.experts is None:
        return ()
    narrow = shape.expert_hidden or shape.hidden
    outside = mixture(shape.experts, shape.hidden).parameters
    inside = mixture(shape.experts, narrow).parameters
    made = tuple(part for part in outside if part.split != "expert")
    made += tuple(part for part in inside if part.split == "expert")
    if narrow != shape.hidden:
        made += (
            weight("narrowing", shape.hidden, narrow),
            weight("widening", narrow, shape.hidden),
        )
    return made


def _model(shape: MambaShape | HybridShape, layers: list[Weights], *, heads: int) -> CountedModel:
    """Return embedding, ``layers``, final norm and head."""
    last = [weight("final norm", shape.hidden)]
    if not shape.tied:
        last.append(weight("head weight", shape.hidden, shape.vocab))
    return CountedModel(
        family="state-space",
        hidden=shape.hidden,
        heads=heads,
        vocab=shape.vocab,
        sequence=shape.sequence,
        layers=layers,
        first=[weight("embedding weight", shape.vocab, shape.hidden)],
        last=last,
        tied=shape.tied,
        reason=REASON,
    )
