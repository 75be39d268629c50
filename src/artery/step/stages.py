"""How layers and weights are dealt to pipeline stages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from artery.core.arrays import Floats
from artery.core.workload import Layer, Workload
from artery.step.plans import Plans


@dataclass(frozen=True, slots=True)
class Stages:
    """Layers on the first, a middle and the last stage of each plan.

    With L layers, p stages and v chunks per stage a middle stage holds
    q = ceil(L / (p·v))·v; what is missing from p·q is taken from the last and the first
    stage, which also hold head and embedding (as Llama 3 405B does with 126 layers on 16), down
    to one layer each; anything more is taken from other middle stages, one layer each.
    """

    middle: Floats
    first: Floats
    last: Floats


def stages(workload: Workload, plans: Plans) -> Stages:
    """Return the layers per stage. With one stage, all three are the whole depth."""
    depth = workload.depth
    middle = np.ceil(depth / (plans.pp * plans.vpp)) * plans.vpp
    missing = plans.pp * middle - depth
    fewer_last = np.minimum(np.ceil(missing / 2.0), middle - 1.0)
    fewer_first = np.minimum(missing - fewer_last, middle - 1.0)
    alone = plans.pp == 1
    whole = float(depth)
    return Stages(
        middle=np.where(alone, whole, middle),
        first=np.where(alone, whole, middle - fewer_first),
        last=np.where(alone, whole, middle - fewer_last),
    )


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of one layer on one chip, before data-parallel sharding.

    ``dense`` are replicated over dp·cp, ``expert`` over what is left of it beside the
    experts: dp·cp·tp / (ep·etp).
    """

    dense: Floats
    expert: Floats

    @property
    def total(self) -> Floats:
        """Both kinds."""
        return self.dense + self.expert

    def __add__(self, other: Weights) -> Weights:
        return Weights(self.dense + other.dense, self.expert + other.expert)

    def scaled(self, factor: Floats | float) -> Weights:
        """These weights ``factor`` times."""
        return Weights(self.dense * factor, self.expert * factor)


def layer_weights(layer: Layer, plans: Plans) -> Weights:
    """Return the weights of one ``layer`` on one chip of each plan."""
    cut = sum(p.size for p in layer.parameters if p.split in ("tensor", "vocab"))
    whole = sum(p.size for p in layer.parameters if p.split in ("none", "sequence"))
    expert = sum(p.size for p in layer.parameters if p.split == "expert")
    return Weights(cut / plans.tp + whole, expert / (plans.ep * plans.etp))


def mean_layer(workload: Workload, plans: Plans) -> Weights:
    """Return the weights of an average repeated layer, as stages hold a mix of them."""
    total = Weights(np.zeros(len(plans)), np.zeros(len(plans)))
    for layer in workload.kinds:
        total = total + layer_weights(layer, plans).scaled(float(layer.count))
    return total.scaled(1.0 / max(workload.depth, 1))


@dataclass(frozen=True, slots=True)
class StageWeights:
    """Weights on the first, a middle and the last stage, and those of one average layer.

    With fewer than three stages there is no middle one: it holds nothing.
    """

    first: Weights
    middle: Weights
    last: Weights
    layer: Weights

    @property
    def fullest(self) -> Weights:
        """The largest: an end, which holds embedding or head, or a middle with more layers."""
        return _larger(_larger(self.first, self.last), self.middle)


def _larger(one: Weights, other: Weights) -> Weights:
    first = one.total >= other.total
    return Weights(
        np.where(first, one.dense, other.dense), np.where(first, one.expert, other.expert)
    )


def stage_weights(workload: Workload, plans: Plans, held: Stages) -> StageWeights:
    """Return the weights of the stages.

    With one stage both ends are the whole model. A tied embedding has a copy on the last stage
    when there is more than one (Megatron-LM, arXiv 2104.04473).
    """
    layer = mean_layer(workload, plans)
    first, last = layer_weights(workload.first, plans), layer_weights(workload.last, plans)
    copy = first if workload.tied else first.scaled(0.0)
    alone = plans.pp == 1
    everything = layer.scaled(float(workload.depth)) + first + last

    def choose(split: Weights) -> Weights:
        return Weights(
            np.where(alone, everything.dense, split.dense),
            np.where(alone, everything.expert, split.expert),
        )

    return StageWeights(
        first=choose(layer.scaled(held.first) + first),
        middle=layer.scaled(np.where(plans.pp > 2, held.middle, 0.0)),
        last=choose(layer.scaled(held.last) + last + copy),
        layer=layer,
    )
