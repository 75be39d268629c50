"""The same setting with one thing changed: what a cause says about system or library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from artery.answers.expect.pricing import Setting
from artery.catalog.links import link as link_of
from artery.collective import Library, bus_factor
from artery.collective.groups import inner_tiers
from artery.core.link import Link
from artery.core.pricing import Collective
from artery.core.system import System, Tier
from artery.diagnoser.case import Curve
from artery.diagnoser.rules import World
from artery.diagnoser.weigh import Priced, Reprice, residual
from artery.errors import ArteryError


def repricer(setting: Setting, collective: Collective, curve: Curve) -> Reprice:
    """Return the function that prices ``curve`` in a changed world.

    Over two nodes libraries differ in whether they take a tree or a ring: the nearer one counts.
    """
    sizes = [point.size for point in curve.points]
    ways = ("auto", "ring") if has_two_ways(curve, collective) else ("auto",)
    usual = {way: busbw(setting, collective, sizes, way) for way in ways}

    def reprice(world: World) -> Priced | None:
        if not world:
            whole = [Priced(rates, way) for way, rates in usual.items()]
            return min(whole, key=lambda one: residual(curve, one.busbw))
        changed = change(setting, world)
        if changed is None:
            return None
        found = []
        for way in ways:
            algorithm = str(world.get("algorithm", way))
            priced = _able(changed, collective, sizes, algorithm)
            if priced is not None and _differs(priced, usual[way]):
                found.append(Priced(priced, algorithm))
        return min(found, key=lambda one: residual(curve, one.busbw), default=None)

    return reprice


def has_two_ways(curve: Curve, collective: Collective) -> bool:
    """Whether a tree would show more than the cards carry: an all-reduce over two nodes."""
    return curve.nodes == 2 and collective == "all_reduce"


def _able(
    setting: Setting, collective: Collective, sizes: Sequence[int], algorithm: str
) -> tuple[float, ...] | None:
    """Return the bandwidths, unless that algorithm does not exist for these ranks."""
    try:
        return busbw(setting, collective, sizes, algorithm)
    except ArteryError:
        return None


def _differs(found: Sequence[float], usual: Sequence[float]) -> bool:
    """Whether a world changes anything: one that does not explains nothing."""
    return any(abs(a - b) > 0.01 * b for a, b in zip(found, usual, strict=True))


def busbw(
    setting: Setting, collective: Collective, sizes: Sequence[int], algorithm: str = "auto"
) -> tuple[float, ...]:
    """Return the bus bandwidth at each size, B/s."""
    return band(setting, collective, sizes, algorithm)[0]


def band(
    setting: Setting, collective: Collective, sizes: Sequence[int], algorithm: str = "auto"
) -> tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]]:
    """Return the bus bandwidth at each size with the ends of its 80 % interval, B/s."""
    quote = setting.quote(collective, sizes, algorithm)
    factor = float(bus_factor(collective, np.array(setting.ranks)))
    amounts = np.array(sizes, dtype=np.float64) * factor
    middle, low, high = (amounts / time for time in (quote.seconds, quote.high, quote.low))
    return tuple(middle.tolist()), tuple(low.tolist()), tuple(high.tolist())


def change(setting: Setting, world: World) -> Setting | None:
    """Return ``setting`` in that ``world``; ``None`` if it changes nothing here."""
    changed = setting
    for key, value in world.items():
        step = _CHANGES.get(key)
        if step is None:
            continue
        following = step(changed, value)
        if following is None:
            return None
        changed = following
    return changed


def _network(setting: Setting, share: object) -> Setting | None:
    return _tiers(
        setting, lambda index, tier, first: tier.times(_float(share)) if index >= first else tier
    )


def _above_leaf(setting: Setting, share: object) -> Setting | None:
    """Only tiers that the ranks really cross count: closed forms see the outermost crossed one."""
    return _tiers(
        setting, lambda index, tier, first: tier.times(_float(share)) if index > first else tier
    )


def _node(setting: Setting, share: object) -> Setting | None:
    return _tiers(
        setting, lambda index, tier, first: tier.times(_float(share)) if index < first else tier
    )


def _transport(setting: Setting, kind: object) -> Setting | None:
    """The library speaks to the network as to one of that ``kind``."""

    def changed(index: int, tier: Tier, first: int) -> Tier:
        if index < first:
            return tier
        link = replace(tier.link, kind=str(kind), name="sockets")
        return replace(tier, link=link, reduction=None)

    return _tiers(setting, changed)


def _node_cap(setting: Setting, cap: object) -> Setting | None:
    if inner_tiers(setting.system) == len(setting.system.tiers):
        return None
    library: Library = setting.library
    networks = {
        name: replace(network, cap=min(_float(cap), network.cap or float("inf")))
        for name, network in library.networks.items()
    }
    return replace(setting, library=replace(library, networks=networks))


def _in_switch(setting: Setting, able: object) -> Setting | None:
    if able or not any(tier.reduction == "nvls" for tier in setting.system.tiers):
        return None
    return _tiers(
        setting,
        lambda index, tier, first: replace(tier, reduction=None) if index < first else tier,
    )


def _staged(setting: Setting, through_memory: object) -> Setting | None:
    """Chips of a node reach each other over their PCIe slots, perhaps through host memory."""
    system = setting.system
    inner = system.tiers[: inner_tiers(system)]
    kind = "pcie-staged" if through_memory else "pcie"
    if not inner or inner[0].link.kind == kind:
        return None
    slot = _slot(system)
    if slot is None:
        return None
    link = replace(slot, kind=kind)

    def changed(index: int, tier: Tier, first: int) -> Tier:
        if index >= first:
            return tier
        rate = slot.bandwidth
        return replace(tier, link=link, kind="pcie-tree", bandwidth=rate, burst=rate, pair=rate,
                       ring=(), reduction=None)  # fmt: skip

    return _tiers(setting, changed)


_SLOTS: Final = ("pcie6x16", "pcie5x16", "pcie4x16", "pcie3x16")


def _slot(system: System) -> Link | None:
    """Return the slot of a chip: as the system says, else as fast as the chip's generation has."""
    names = {link.name for link in system.links}
    found = next((name for name in _SLOTS if name in names), None)
    return link_of(found) if found is not None else None


_CHANGES: Final[dict[str, Callable[[Setting, object], Setting | None]]] = {
    "network": _network,
    "above_leaf": _above_leaf,
    "node": _node,
    "transport": _transport,
    "node_cap": _node_cap,
    "in_switch": _in_switch,
    "staged": _staged,
}


def _tiers(setting: Setting, changed: Callable[[int, Tier, int], Tier]) -> Setting:
    system = setting.system
    first = inner_tiers(system)
    tiers = tuple(changed(index, tier, first) for index, tier in enumerate(system.tiers))
    return replace(setting, system=replace(system, tiers=tiers))


def _float(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else float("nan")
