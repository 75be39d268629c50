"""Where causes are played on the network; the proof of each is kept by its name."""

from __future__ import annotations

from dataclasses import dataclass, field

from artery.answers.diagnose.fabric import Fabric
from artery.answers.diagnose.held import collective_of
from artery.answers.diagnose.proof import Proof, proof_of
from artery.answers.diagnose.system import Stand
from artery.diagnoser.case import Curve
from artery.diagnoser.played import Play, Player
from artery.diagnoser.rules import Cause
from artery.diagnoser.verdict import Diagnosis
from artery.diagnoser.weigh import Explanation


@dataclass(slots=True)
class Stage:
    """Where causes are played: the system, its cabling, and every proof by its explanation."""

    stand: Stand | None
    fabric: Fabric | None
    proofs: dict[str, Proof | None] = field(default_factory=dict)

    def player(self, curve: Curve) -> Player:
        """Return the function that plays a cause that was priced against ``curve``."""

        def play(cause: Cause, explained: Explanation) -> Play | None:
            proof = None
            if self.stand is not None:
                pair = (curve, collective_of(curve))
                proof = proof_of(cause.key, explained, pair, self.stand, self.fabric)
            self.proofs[cause.key] = proof
            return None if proof is None else proof.play

        return play

    def proof(self, found: Diagnosis) -> Proof | None:
        """Return the proof of the likeliest cause."""
        best = found.findings[0] if found.findings else None
        return None if best is None else self.proofs.get(best.cause.key)
