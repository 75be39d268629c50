"""``Job``: everything that one evaluation is about, handed from formula to formula."""

from __future__ import annotations

from dataclasses import dataclass, replace

from artery.core.arrays import Ints
from artery.core.workload import Workload
from artery.step.ledger import Ledger
from artery.step.machine import Machine
from artery.step.plans import Plans


@dataclass(frozen=True, slots=True)
class Job:
    """``workload`` split by each of ``plans`` on ``machine``; terms go to ``ledger``."""

    workload: Workload
    plans: Plans
    machine: Machine
    ledger: Ledger

    def take(self, index: Ints) -> Job:
        """The same job with only the plans at ``index``."""
        return replace(self, plans=self.plans.take(index))
