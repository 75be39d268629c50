"""The same system with one resource changed: what the levers ask about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from artery.core.system import System, Tier


@dataclass(frozen=True, slots=True)
class Resource:
    """Something of which a system can have more: ``scaled(system, factor)`` gives it."""

    name: str
    scaled: Callable[[System, float], System]


def resources(system: System) -> tuple[Resource, ...]:
    """Return the resources of ``system``: peak, memory bandwidth, and each tier's two sides."""
    tiers = [
        Resource(f"{tier.name} {what}", _tier(index, change))
        for index, tier in enumerate(system.tiers)
        for what, change in (("bandwidth", _wider), ("latency", _quicker))
    ]
    return (
        Resource("peak compute", _faster),
        Resource("memory bandwidth", _streaming),
        *tiers,
    )


def _faster(system: System, factor: float) -> System:
    peaks = {dtype: peak * factor for dtype, peak in system.chip.peaks.items()}
    return replace(system, chip=replace(system.chip, peaks=peaks))


def _streaming(system: System, factor: float) -> System:
    first, *rest = system.chip.memories
    memory = replace(first, bandwidth=first.bandwidth * factor)
    return replace(system, chip=replace(system.chip, memories=(memory, *rest)))


def _tier(index: int, change: Callable[[Tier, float], Tier]) -> Callable[[System, float], System]:
    def scaled(system: System, factor: float) -> System:
        tiers = tuple(
            change(tier, factor) if i == index else tier for i, tier in enumerate(system.tiers)
        )
        return replace(system, tiers=tiers)

    return scaled


def _wider(tier: Tier, factor: float) -> Tier:
    link = replace(tier.link, bandwidth=tier.link.bandwidth * factor)
    return replace(
        tier,
        link=link,
        bandwidth=tier.bandwidth * factor,
        burst=tier.burst * factor,
        pair=tier.pair * factor,
        ring=tuple(rate * factor for rate in tier.ring),
    )


def _quicker(tier: Tier, factor: float) -> Tier:
    """``factor`` times more of latency's inverse: more of a resource is always better."""
    link = replace(tier.link, latency=tier.link.latency / factor)
    return replace(tier, link=link, latency=tier.latency / factor)
