"""What a step needs to know of chip and framework, gathered once per evaluation."""

from __future__ import annotations

from dataclasses import dataclass, replace

from artery.chip.roofline import WIDTH, peak, streaming_rate
from artery.core.chip import Chip
from artery.core.plan import Plan
from artery.core.pricing import Pricer
from artery.core.profile import Profile
from artery.core.system import Calibration, System


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
        return streaming_rate(self.chip)

    @property
    def domain(self) -> int:
        """Chips that share the innermost network, the scale-up domain."""
        return self.system.tiers[0].chips if self.system.tiers else 1

    def hidden(self, kind: str) -> float:
        """Share of ``kind`` (dp, tp, pp, cp, ep) of communication that can hide, 0 to 1."""
        if self.plan.overlap is None:
            return self.profile.overlap.get(kind, 0.0)
        if kind in self.plan.overlap:
            return self.profile.overlap.get(kind, 0.0) or FORCED_OVERLAP
        return 0.0


FORCED_OVERLAP = 0.8
"""Assumed: a framework asked to overlap what its profile does not hides as much as FSDP does."""


def machine(system: System, pricer: Pricer, profile: Profile, plan: Plan) -> Machine:
    """Return the machine for plans that share ``plan``'s dtype.

    Raises ``InputError`` if the chip has no peak for that dtype.
    """
    operand = plan.dtype
    peak(system.chip, operand)
    narrow = operand in ("fp8", "fp4", "int8")
    known = as_measured(profile, system.calibration)
    return Machine(system, pricer, known, plan, operand, "bf16" if narrow else operand)


def as_measured(profile: Profile, measured: Calibration) -> Profile:
    """Return the profile with what was measured of that very framework on a system.

    What the framework does not hide at all stays so.
    """
    if measured.framework != profile.name:
        return profile
    hidden = {
        kind: max(0.0, 1.0 - (1.0 - share) * measured.exposed) if share else 0.0
        for kind, share in profile.overlap.items()
    }
    return replace(profile, host=profile.host * measured.host, overlap=hidden)
