"""Workloads whose weights are counted but whose steps are not timed, with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from artery.core.workload import Layer, Parameter, Workload
from artery.workload.sublayer import NOTHING, Sublayer, layer


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """``count`` equal layers with these ``parameters``."""

    name: str
    parameters: tuple[Parameter, ...]
    count: int = 1


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
        first=_only("input", 1, model.first, model.hidden),
        layers=tuple(_only(w.name, w.count, w.parameters, model.hidden) for w in model.layers),
        last=_only("output", 1, model.last, model.hidden),
        hidden=model.hidden,
        heads=model.heads,
        kv_heads=model.heads,
        logits=model.vocab,
        tied=model.tied,
        max_sequence=model.max_sequence,
        unsupported=model.reason,
    )


def _only(name: str, count: int, parameters: Sequence[Parameter], hidden: int) -> Layer:
    part = NOTHING + Sublayer(parameters=tuple(parameters))
    return layer(name, count, part, hidden, reductions=0)
