"""What a step needs to know of chip and framework, gathered once per evaluation."""

from __future__ import annotations

from dataclasses import dataclass

from artery.core.chip import Chip
from artery.core.plan import Plan
from artery.core.pricing import Pricer
from artery.core.profile import Profile
from artery.core.system import System
from artery.errors import InputError, Problem

WIDTH = {"fp32": 4, "tf32": 4, "bf16": 2, "fp16": 2, "fp8": 1, "fp4": 0.5, "int8": 1}
"""Bytes of one element by dtype. TF32 is stored as FP32."""

@dataclass(frozen=True, slots=True)
class Machine:
    """Chip, network price and framework behind one evaluation.

    ``operand`` is the dtype of the big matrix products, ``activation`` that of everything
    else: FP8 training keeps activations, attention and the head in BF16.
    """

    system: System
    pricer: Pricer
    profile: Profile
    plan: Plan
    operand: str
    activation: str

    @property
    def chip(self) -> Chip:
        """The chip of the system."""
        return self.system.chip

    @property
    def width(self) -> float:
        """Bytes of one activation element."""
        return WIDTH[self.activation]

    @property
    def stream(self) -> float:
        """Memory bandwidth that elementwise work reaches, B/s."""
        return self.chip.memory.bandwidth * self.chip.efficiency.memory

    @property
    def domain(self) -> int:
        """Chips that share the innermost network, the scale-up domain."""
        return self.system.tiers[0].chips if self.system.tiers else 1

    def hidden(self, kind: str) -> float:
        """Share of ``kind`` (dp, tp, pp, cp, ep) of communication that can hide, 0 to 1."""
        if self.plan.overlap is None:
            return self.profile.overlap.get(kind, 0.0)
        if kind in self.plan.overlap:
            return max(self.profile.overlap.get(kind, 0.0), FORCED_OVERLAP)
        return 0.0


FORCED_OVERLAP = 0.8
"""Assumed: a framework asked to overlap hides this share, as the FSDP profile does."""


def machine(system: System, pricer: Pricer, profile: Profile, plan: Plan) -> Machine:
    """Return the machine for plans that share ``plan``'s dtype.

    Raises ``InputError`` if the chip has no peak for that dtype.
    """
    operand = plan.dtype
    if operand not in system.chip.peaks:
        known = ", ".join(sorted(system.chip.peaks))
        raise InputError(
            [
                Problem(
                    field="dtype",
                    found=f'{system.chip.name} has no peak for "{operand}"',
                    rule=f"it computes in {known}",
                    fix=f"--dtype with one of {known}",
                )
            ]
        )
    narrow = operand in ("fp8", "fp4", "int8")
    return Machine(system, pricer, profile, plan, operand, "bf16" if narrow else operand)
