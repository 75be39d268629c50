"""What the jobs of a trace train: their own model, or one that fits their size, and its replicas.

A job's unit is one replica: tp·pp·cp chips, whole NVLink domains where it is larger than one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import Final

from artery.answers.models import workload
from artery.answers.plan.request import Request, Settled, settle
from artery.core.plan import Plan
from artery.core.system import System
from artery.core.workload import Workload


@dataclass(frozen=True, slots=True)
class Kind:
    """One workload: a catalog ``model`` and the degrees of one replica; ``why`` it was taken."""

    model: str
    tp: int = 1
    pp: int = 1
    cp: int = 1
    why: str = "given"

    @property
    def unit(self) -> int:
        """Chips of one replica."""
        return self.tp * self.pp * self.cp


DEFAULTS: Final = (
    (1024, "gpt3-175b", 8, 8, "tp 8, pp 8: Megatron-LM (arXiv 2104.04473), 175 B on 1,024 A100"),
    (128, "llama3-70b", 8, 4, "tp 8, pp 4: NVIDIA's published recipe for Llama 3 70B on H100"),
    (8, "llama3-8b", 4, 1, "assumed: fits on one node of 8 chips"),
    (1, "bert-large", 1, 1, "assumed: fits on one chip"),
)
"""What jobs train that do not say it, by their chips: from so many on, a model, tp, pp, why."""

FACTORS: Final = (0.25, 0.5, 1.0, 2.0)
"""An elastic job's replicas over those it asked for: a quarter to double, as in powers of two a
fixed global batch stays whole (range assumed)."""


def default_kind(chips: int, system: System) -> Kind:
    """Return what a job of ``chips`` trains if it does not say it."""
    domain = _domain(system)
    for least, model, tp, pp, why in DEFAULTS:
        tensor = min(tp, domain)
        if chips >= least and chips % (tensor * pp) == 0:
            return Kind(model, tensor, pp, why=why)
    return Kind("bert-large", why=DEFAULTS[-1][4])


def _domain(system: System) -> int:
    """Chips of the innermost domain, where tensor parallelism stays."""
    return system.tiers[0].chips if system.tiers and system.chips > 1 else 1


def sizes_of(kind: Kind, chips: int, system: System) -> tuple[int, ...]:
    """Return the chips that an elastic job of ``chips`` can run on, rising; itself if none else.

    Whole replicas; above a node whole nodes; at most the system.
    """
    per_node = system.chips_per_node
    replicas = chips // kind.unit
    found = {chips}
    for factor in FACTORS:
        count = replicas * factor
        size = int(count) * kind.unit
        whole = size % per_node == 0 if size > per_node else per_node % max(size, 1) == 0
        if count >= 1 and count == int(count) and whole and size <= system.chips:
            found.add(size)
    return tuple(sorted(found))


@dataclass(frozen=True, slots=True)
class Training:
    """A kind with its workload and everything settled that a plan needs; ``batch`` samples."""

    kind: Kind
    workload: Workload
    settled: Settled

    def batch(self, asked: int) -> int:
        """Return samples per step of a job that asked for so many chips; it does not change.

        An image model's, or one without a published batch, goes with the chips asked for.
        """
        per_replica = self.settled.fixed["global_batch"]
        return max(per_replica, asked // self.kind.unit)

    def plan(self, asked: int, chips: int) -> Plan:
        """Return the plan on ``chips``: the batch in whole micro-batches, the last ones padded."""
        kind = self.kind
        dp = max(chips // kind.unit, 1)
        each = ceil(self.batch(asked) / dp)
        return replace(
            self.settled.shared,
            tp=kind.tp,
            pp=kind.pp,
            cp=kind.cp,
            dp=dp,
            zero=1 if self.workload.row_kind == "token" else 0,
            micro_batch=1,
            global_batch=each * dp,
            sequence_parallel=kind.tp > 1 and self.workload.row_kind == "token",
            recompute="selective" if self.workload.row_kind == "token" else "none",
        )


def training(kind: Kind, system: System) -> Training:
    """Return the kind with its workload and defaults settled for ``system``."""
    work = workload(kind.model)
    return Training(kind, work, settle(Request(work, system)))
