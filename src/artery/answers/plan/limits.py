"""What limits a step: its largest parts, in words, with the link they wait for."""

from __future__ import annotations

from artery.answers.plan.contention import Network
from artery.core.plan import Plan
from artery.core.system import System
from artery.step.evaluate import Evaluation

SHARE = 0.06
"""Parts smaller than this share of the step limit nothing."""

_WORDS = {
    "compute": "matrix products and attention",
    "memory_bound": "memory bandwidth (norms, activations, residuals)",
    "tp": "tensor-parallel collectives",
    "pp": "pipeline sends",
    "cp": "exchange of keys and values",
    "ep": "expert all-to-all",
    "dp": "gradient and weight traffic",
    "bubble": "pipeline bubble",
    "optimizer": "optimizer step",
    "host": "kernel launches by the host",
    "straggler": "waiting for the slowest node",
    "other": "tied embedding's all-reduce",
}


def limits(
    priced: Evaluation, plan: Plan, system: System, network: Network | None = None
) -> tuple[str, ...]:
    """Return the parts of the one plan in ``priced`` above ``SHARE``, largest first.

    Communication is said to wait for the tier that its groups span in rank order, or if the
    ``network`` was simulated, for the class of the link that they want most.
    """
    step = float(priced.step[0])
    shares = {name: float(part[0]) / step for name, part in priced.parts.items()}
    ranked = sorted(shares, key=lambda name: -shares[name])
    wanted = {} if network is None else _wanted(network)
    return tuple(
        _WORDS[name] + (wanted.get(name) or _where(name, plan, system))
        for name in ranked
        if shares[name] >= SHARE
    )


def _wanted(network: Network) -> dict[str, str]:
    """The link that the longest operation of each part wants most, as `` on NAME``."""
    longest = sorted(network.exchanges, key=lambda each: each.seconds)
    return {each.kind: f" on {each.link.link}" for each in longest if each.link is not None}


def _where(part: str, plan: Plan, system: System) -> str:
    """The tier that a group of this kind crosses, as `` on NAME``."""
    spans = {
        "tp": plan.tp,
        "cp": plan.tp * plan.cp,
        "ep": plan.etp * plan.ep,
        "dp": plan.tp * plan.cp * plan.dp,
        "pp": plan.tp * plan.cp * plan.dp * 2,
    }
    if part not in spans or not system.tiers:
        return ""
    tier = next((t for t in system.tiers if t.chips >= spans[part]), system.tiers[-1])
    return f" on {tier.name}"
