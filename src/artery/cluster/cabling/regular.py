"""Whether a cabling is a regular tree, and its counts if it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from artery.cluster.cabling import Network

_Item = TypeVar("_Item")
_Number = TypeVar("_Number", int, float)


class IrregularError(ValueError):
    """The network is no regular tree; the message says what differs."""


@dataclass(frozen=True, slots=True)
class RegularTier:
    """Every switch of the tier has ``down`` and ``up`` cables, ``bundle`` to each one below."""

    switches: int
    down: int
    up: int
    bundle: int
    rate: float


def regular_tiers(network: Network) -> tuple[RegularTier, ...]:
    """Return the tiers from the leaves up.

    Raises :class:`IrregularError` if switches of a tier differ, if there are several separate
    networks, or rates are not the same on a tier.
    """
    tops = [part for part in network.islands if any(not network.is_host(one) for one in part)]
    if len(tops) > 1:
        raise IrregularError(f"{len(tops)} separate networks")
    found = []
    for tier in range(1, network.tiers + 1):
        switches = network.switches(tier)
        down = _only(f"ports down on tier {tier}", switches, lambda one: _down(network, one))
        up = _only(f"ports up on tier {tier}", switches, lambda one: network.above(one).total())
        bundle = 1
        if tier > 1:
            pairs = [network.links[one][low] for one in switches for low in _below(network, one)]
            bundle = _only(f"cables per pair under tier {tier}", pairs, lambda count: count)
        found.append(RegularTier(len(switches), down, up, bundle, _rate(network, tier)))
    return tuple(found)


def _below(network: Network, switch: str) -> list[str]:
    at = network.tier[switch] - 1
    return [one for one in network.links[switch] if network.tier.get(one) == at]


def _down(network: Network, switch: str) -> int:
    if network.tier[switch] == 1:
        return len(network.cards_of(switch))
    return sum(network.links[switch][one] for one in _below(network, switch))


def _rate(network: Network, tier: int) -> float:
    """Return the rate of the cables from the tier below (or the hosts)."""
    rates = {
        cable.rate or 0.0
        for cable in network.cabling.cables
        if sorted(network.tier.get(end.device, 0) for end in (cable.one, cable.other))
        == [tier - 1, tier]
    }
    return _only(f"rates under tier {tier}", rates, lambda rate: rate)


def _only(what: str, of: Iterable[_Item], value: Callable[[_Item], _Number]) -> _Number:
    """Return the one value that all have."""
    values = {value(one) for one in of}
    if len(values) != 1:
        raise IrregularError(f"different {what}: {', '.join(map(str, sorted(values)))}")
    return values.pop()
