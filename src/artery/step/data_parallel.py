"""Gradient and weight traffic of data parallelism: DDP, ZeRO 1 to 3, FSDP, HSDP."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from artery.chip.roofline import WIDTH
from artery.core.arrays import Flags, Floats, Ints
from artery.core.pricing import Collective
from artery.step.job import Job
from artery.step.machine import Machine
from artery.step.plans import Plans
from artery.step.stages import Weights
from artery.step.traffic import price


@dataclass(frozen=True, slots=True)
class Groups:
    """Sizes and strides, in rank order, of the groups that share or replicate weights."""

    shard: Ints
    shard_stride: Ints
    replica: Ints
    replica_stride: Ints
    expert: Ints
    expert_stride: Ints

    def where(self, chosen: Flags) -> Groups:
        """The same groups for the ``chosen`` plans, groups of one, which are free, elsewhere."""
        shard, expert = np.where(chosen, self.shard, 1), np.where(chosen, self.expert, 1)
        replica = np.where(chosen, self.replica, 1)
        return replace(self, shard=shard, expert=expert, replica=replica)


def groups(plans: Plans) -> Groups:
    """Return the data-parallel groups: shard inside, replicate outside (HSDP), experts apart.

    Ranks are numbered tp, cp, dp, pp from the inside out; expert layers etp, ep, edp, pp.
    """
    shard = plans.dp // plans.dp_replicate * plans.cp
    return Groups(
        shard=shard,
        shard_stride=plans.tp,
        replica=plans.dp_replicate,
        replica_stride=plans.tp * shard,
        expert=np.maximum(plans.dp * plans.cp * plans.tp // (plans.ep * plans.etp), 1),
        expert_stride=plans.ep * plans.etp,
    )


def _both(
    machine: Machine, kind: Collective, weights: Weights, width: float, group: Groups
) -> Floats:
    """One collective over dense weights in the shard group and over experts in theirs."""
    dense = price(machine, kind, weights.dense * width, group.shard, group.shard_stride)
    if not np.any(weights.expert):
        return dense
    return dense + price(machine, kind, weights.expert * width, group.expert, group.expert_stride)


def _replicate(machine: Machine, weights: Weights, width: float, group: Groups) -> Floats:
    """All-reduce of a gradient shard over the replicas of HSDP."""
    if not np.any(group.replica > 1):
        return np.zeros(len(group.shard))
    size = weights.dense * width / group.shard
    return price(machine, "all_reduce", size, group.replica, group.replica_stride)


def keeps_gathered(plans: Plans, machine: Machine) -> Flags:
    """Return which plans shard with FSDP, but leave weights gathered during a step.

    Llama 3 does so under a pipeline (arXiv 2407.21783, section 3.3.2).
    """
    kept = machine.profile.shard_keeps_parameters
    return np.asarray((plans.zero == 3) & (plans.pp > 1) & kept, dtype=np.bool_)


def by_layer(plans: Plans, machine: Machine) -> Flags:
    """Return which plans gather and scatter layer by layer, in every micro-batch (FSDP)."""
    return np.asarray((plans.zero == 3) & ~keeps_gathered(plans, machine), dtype=np.bool_)


def scatters_each(plans: Plans, machine: Machine) -> Flags:
    """Return which plans scatter their gradients after every micro-batch and keep a shard.

    FSDP does, and ZeRO 2, except under a pipeline: there gradients are added up first (DeepSpeed
    refuses the pair for that reason, issue 823; MegaScale, arXiv 2402.15627, section 3.2, reduces
    once), and nothing is left of ZeRO 2 over ZeRO 1.
    """
    each = (plans.zero == 2) & (plans.pp == 1)
    return np.asarray(by_layer(plans, machine) | each, dtype=np.bool_)


@dataclass(frozen=True, slots=True)
class StepTraffic:
    """Wire seconds: ``reduce`` after a backward pass, ``gather`` before the first forward one."""

    reduce: Floats
    gather: Floats


def per_step(weights: Weights, job: Job, path: str) -> StepTraffic:
    """Return the traffic of a stage's weights (everything but FSDP).

    ZeRO 0: all-reduce of gradients. ZeRO 1 and 2, and FSDP that keeps its weights gathered:
    reduce-scatter of gradients, all-gather of updated weights (ZeRO, arXiv 1910.02054,
    section 7). ZeRO 2 without a pipeline reduces after every micro-batch. FSDP has none of it.
    """
    plans, machine = job.plans, job.machine
    group = groups(plans).where(~by_layer(plans, machine))
    grad, weight = WIDTH[plans.shared.grad_dtype], machine.width
    sharded = plans.zero >= 1
    whole = _both(machine, "all_reduce", weights, grad, group.where(~sharded))
    scatter = _both(machine, "reduce_scatter", weights, grad, group.where(sharded))
    reduce = whole + scatter + _replicate(machine, weights, grad, group)
    gather = _both(machine, "all_gather", weights, weight, group.where(sharded))
    job.ledger.put(
        path,
        reduce + gather,
        formula="all-reduce of gradients, or reduce-scatter of them and all-gather of weights",
        source="ZeRO (arXiv 1910.02054) section 7",
        gradient_bytes=weights.total * grad,
        weight_bytes=weights.total * weight,
        ranks=group.shard,
        reduce=reduce,
        gather=gather,
    )
    return StepTraffic(reduce, gather)


@dataclass(frozen=True, slots=True)
class LayerTraffic:
    """Wire seconds per layer and micro-batch under FSDP: gather; gather and scatter."""

    forward: Floats
    backward: Floats


OF_LAYER: Final = "2·all-gather of a layer's weights + reduce-scatter of its gradients"
OF_ENDS: Final = "2·all-gather of the weights of embedding and head + reduce-scatter of gradients"


def per_layer(layer: Weights, job: Job, path: str, formula: str) -> LayerTraffic:
    """Return FSDP's traffic per layer and micro-batch; zero for plans below ZeRO 3.

    ``formula`` says what is taken for a layer. FSDP gathers its weights before its forward and its
    backward pass and reduce-scatters its gradients (PyTorch FSDP, arXiv 2304.11277, section 3.2).
    """
    plans, machine = job.plans, job.machine
    nothing = np.zeros(len(plans))
    if not np.any(plans.zero == 3):
        return LayerTraffic(nothing, nothing)
    group = groups(plans)
    gather = _both(machine, "all_gather", layer, machine.width, group)
    grad = WIDTH[plans.shared.grad_dtype]
    scatter = _both(machine, "reduce_scatter", layer, grad, group)
    scatter = scatter + _replicate(machine, layer, grad, group)
    fully = plans.zero == 3
    job.ledger.put(
        path,
        np.where(fully, 2.0 * gather + scatter, 0.0),
        formula=formula,
        source="PyTorch FSDP (arXiv 2304.11277) section 3.2",
        weight_bytes=layer.total * machine.width,
        ranks=group.shard,
        gather=gather,
        scatter=scatter,
    )
    return LayerTraffic(np.where(fully, gather, 0.0), np.where(fully, gather + scatter, 0.0))
