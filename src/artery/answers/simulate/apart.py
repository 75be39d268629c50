"""Why the run and the closed form differ, where nothing is asked that the latter leaves out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from artery.cluster.fat_tree import FatTree
from artery.cluster.wiring import Assembly
from artery.collective.groups import inner_tiers

if TYPE_CHECKING:
    from artery.answers.simulate.played import Outcome, Question
    from artery.answers.simulate.result import Closed, Why
    from artery.core.pricing import Collective
    from artery.core.system import System

NEAR: Final = 0.05
"""Share up to which both are taken to say the same."""

PIECES: Final = 1.2
"""Times as long that trees over nodes take at most because of how they are cut; beyond, their paths
meet."""

ON_CHIP: Final = "noc"
"""Name of the tier of a network on a chip."""


def apart(question: Question, outcome: Outcome, closed: Closed | None) -> Why | None:
    """Return why both differ by more than ``NEAR``, ``None`` where they do not or nobody asks.

    A run with failures, slow ranks or others beside is meant to differ.
    """
    if closed is None or not closed.seconds or _disturbed(question):
        return None
    ratio = outcome.seconds / closed.seconds
    if abs(ratio - 1) <= NEAR:
        return None
    case = Case(
        question.system,
        len(question.chips),
        question.collective,
        outcome.algorithm,
        outcome.scenario.routing,
    )
    return case.reason(ratio)


@dataclass(frozen=True, slots=True)
class Case:
    """A collective of ``ranks`` by an algorithm on a system, and how its packets are routed."""

    system: System
    ranks: int
    collective: Collective
    algorithm: str
    routing: str

    @property
    def _crosses(self) -> bool:
        """Whether the system has a network between nodes."""
        return len(self.system.tiers) > inner_tiers(self.system)

    def reason(self, ratio: float) -> Why:
        """Return why an undisturbed run takes ``ratio`` times as long as the closed form."""
        if ratio > 1 and several(self.system):
            return "sprayed" if self.routing == "spray" else "one_card"
        if self.algorithm == "halving_doubling" and self.ranks & (self.ranks - 1):
            return "partners"
        return self._of_tiers(ratio) or self._of_flow(ratio)

    def _of_tiers(self, ratio: float) -> Why | None:
        """Return what the wiring has to do with it, if it has."""
        kinds = {tier.kind for tier in self.system.tiers}
        if "torus" in kinds:
            return "sides" if ratio > 1 else None
        if self.system.tiers[0].name == ON_CHIP:
            return "rows"
        return None

    def _of_flow(self, ratio: float) -> Why:
        """Return what passing on has to do with it; else paths meet."""
        if self.algorithm == "grouped":
            return "turns"
        chain = self.collective in ("broadcast", "reduce")
        tree = self.algorithm in ("tree", "nvls", "nvls_tree")
        if chain or (tree and not (self._crosses and ratio > PIECES)):
            return "pieces"
        return "hidden" if ratio < 1 else "meeting"


def several(system: System) -> bool:
    """Whether a chip sends to other nodes over several cards or ports at once."""
    structure = system.router.structure
    fabric = structure.fabric if isinstance(structure, Assembly) else None
    ports = isinstance(fabric, FatTree) and max(fabric.tors, fabric.planes) > 1
    network = system.tiers[inner_tiers(system) :]
    return bool(network) and (ports or any(t.burst > 1.01 * t.link.bandwidth for t in network))


def _disturbed(question: Question) -> bool:
    """Whether something was asked that the closed form does not know."""
    asked = question.scenario
    failed = bool(asked.failed) or asked.failed_switches > 0
    others = bool(question.others) or asked.background > 0
    slower = bool(asked.slow) or bool(asked.late) or asked.store_and_forward
    adds = asked.adding > 0 or asked.card_adding > 0
    matrix = not isinstance(question.size, int)
    return failed or others or slower or adds or matrix or question.transport is not None
