"""What a plan's answer has to warn of: what was assumed, is unknown, or is only just so."""

from __future__ import annotations

from artery.answers.plan.request import Request, Settled
from artery.answers.plan.result import PlanResult
from artery.core.system import System
from artery.planner.search import Found


def rated_power(system: System) -> float | None:
    """Return the rated power of chips and nodes together, in W; ``None`` if either is unknown."""
    if system.chip.power is None or system.node_power is None:
        return None
    return system.chip.power * system.chips + system.node_power * system.nodes


def plan_warnings(
    request: Request, settled: Settled, results: tuple[PlanResult, ...], found: Found
) -> tuple[str, ...]:
    """Return the warnings, the most general first."""
    system = request.system
    said = [*settled.warnings, *system.warnings, *request.workload.notes]
    said += _doubts(request, settled)
    if request.placement == "interleaved" and 1 in (system.chips_per_node, system.nodes):
        said.append("placement interleaved puts every rank where packed does: it changes nothing")
    if found.thinned:
        said.append("the space is very large: a coarse grid of it was searched")
    if rated_power(system) is None:
        said.append(f"power of {system.name} is unknown: no energy is given")
    if system.chip_hour_price is None:
        said.append(f"price of {system.name} is unknown: no cost is given")
    if results and results[0].fits == "at_limit":
        said.append("memory is within 8 % of the limit: it may or may not fit")
    if results and results[0].fits == "no":
        alone = found.searched == 1
        said.append(
            "the plan given does not fit in memory"
            if alone
            else "nothing fits: the plan shown needs the least memory"
        )
    return tuple(said)


def _doubts(request: Request, settled: Settled) -> list[str]:
    """What widens the interval beyond that of a measured dense model, said in words."""
    found = []
    if any(layer.routing for layer in request.workload.kinds):
        found.append("mixtures of experts: no published run is in the fit; off by a third on them")
    if not settled.profile.calibrated_on:
        found.append(f"{settled.profile.name} was fitted on no run: a wider interval")
    if settled.shared.dtype in ("fp8", "fp4", "int8"):
        found.append("narrow dtypes are off by a tenth on published runs: a wider interval")
    return found
