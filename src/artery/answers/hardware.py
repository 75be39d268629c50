"""The same system with one resource changed: what the levers ask about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from artery.core.link import Link
from artery.core.system import System, Tier
from artery.units import show_flops, show_line_rate, show_rate, show_time

NETWORKS = ("infiniband", "ethernet", "roce", "efa", "omni-path", "slingshot", "tcp")
"""Kinds of link whose rate is said in bits per second."""


@dataclass(frozen=True, slots=True)
class Resource:
    """Something of which a system can have more: ``scaled(system, factor)`` gives it.

    ``amount`` is what there is of it now, for people.
    """

    name: str
    amount: str
    scaled: Callable[[System, float], System]


def resources(system: System) -> tuple[Resource, ...]:
    """Return the resources of ``system``: peak, memory bandwidth, and each tier's two sides."""
    tiers = [
        Resource(f"{tier.name} {what}", amount, _tier(index, change))
        for index, tier in enumerate(system.tiers)
        for what, amount, change in (
            ("bandwidth", link_rate(tier.link), _wider),
            ("latency", show_time(tier.latency), _quicker),
        )
    ]
    peak = max(system.chip.peaks.values())
    return (
        Resource("peak compute", show_flops(peak), _faster),
        Resource("memory bandwidth", show_rate(system.chip.memory.bandwidth), _streaming),
        *tiers,
    )


def link_rate(link: Link) -> str:
    """Return a link's rate as its users say it: networks in bits, the rest in bytes."""
    return show_line_rate(link.bandwidth) if link.kind in NETWORKS else show_rate(link.bandwidth)


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
    return replace(tier.times(factor), link=link)


def _quicker(tier: Tier, factor: float) -> Tier:
    """``factor`` times more of latency's inverse: more of a resource is always better."""
    link = replace(tier.link, latency=tier.link.latency / factor)
    return replace(tier, link=link, latency=tier.latency / factor)
