"""Workloads whose weights are counted but whose steps are not timed, with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from artery.core.workload import Layer, Parameter, Routing, Workload
from artery.workload.sublayer import Sublayer, layer


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """``count`` equal layers with these ``parameters``; ``routing`` if they have experts."""

    name: str
    parameters: tuple[Parameter, ...]
    count: int = 1
    routing: Routing | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedModel:
    """A model known by its weights alone; ``reason`` says why no step is timed."""

    family: str
    hidden: int
    heads: int
    vocab: int
    sequence: int
    layers: Sequence[Weights]
    first: Sequence[Parameter]
    last: Sequence[Parameter] = ()
    tied: bool = False
    max_sequence: int | None = None
    row_kind: Literal["token", "sample"] = "token"
    reason: str


def weight(name: str, *shape: int, count: int = 1) -> Parameter:
    """Return ``count`` weights of ``shape``; nothing is known of how they would be split."""
    return Parameter(name, shape, "none", count)


def counted(name: str, model: CountedModel) -> Workload:
    """Return a workload that holds parameters and no operators."""
    return Workload(
        name=name,
        family=model.family,
        row_kind=model.row_kind,
        sequence=model.sequence,
        first=_layer(Weights(name="input", parameters=tuple(model.first)), model.hidden),
        layers=tuple(_layer(weights, model.hidden) for weights in model.layers),
        last=_layer(Weights(name="output", parameters=tuple(model.last)), model.hidden),
        hidden=model.hidden,
        heads=model.heads,
        kv_heads=model.heads,
        logits=model.vocab,
        tied=model.tied,
        max_sequence=model.max_sequence,
        unsupported=model.reason,
    )


def _layer(weights: Weights, hidden: int) -> Layer:
    part = Sublayer(parameters=weights.parameters)
    made = layer(weights.name, weights.count, part, hidden, reductions=0)
    return replace(made, routing=weights.routing)
