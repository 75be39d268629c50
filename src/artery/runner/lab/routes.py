"""Routes of a lab: every shortest way from every device to every card, equal ones side by side."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from artery.runner.lab.shape import End, Host, Shape, Wire


@dataclass(frozen=True, slots=True)
class Hop:
    """The next hop: out of an ``interface`` to the neighbour with the address ``via``."""

    via: str
    interface: str


@dataclass(frozen=True, slots=True)
class Route:
    """All equal next hops to the card at ``target``; a host sends from its address ``source``."""

    target: str
    hops: tuple[Hop, ...]
    source: str = ""


_Near = Mapping[str, list[tuple[End, End]]]


def routes(shape: Shape, down: Collection[int] = ()) -> dict[str, list[Route]]:
    """Return the routes of every device over the wires that are not ``down`` (their numbers).

    Cards do not pass on what is for others. A host reaches card c of another host by its own card
    c where there is a way, so that rails stay rails. What cannot be reached has no route.
    """
    near = _neighbours(shape.wires, down)
    cards = {card.address for host in shape.hosts for card in host.cards}
    found: dict[str, list[Route]] = {device: [] for device in shape.devices}
    for host in shape.hosts:
        for number, card in enumerate(host.cards):
            distance = _distances(near, card.address, cards)
            for switch in shape.switches:
                hops = _hops(near, distance, switch.address)
                if hops:
                    found[switch.name].append(Route(card.address, hops))
            for other in shape.hosts:
                if other is not host:
                    route = _from_host(near, distance, other, number, card.address)
                    found[other.name] += [route] if route else []
    return found


def _neighbours(wires: tuple[Wire, ...], down: Collection[int]) -> _Near:
    """Return, by address, the near and far ends of the wires that are up."""
    near: defaultdict[str, list[tuple[End, End]]] = defaultdict(list)
    for number, wire in enumerate(wires):
        if number not in down:
            near[wire.lower.address].append((wire.lower, wire.upper))
            near[wire.upper.address].append((wire.upper, wire.lower))
    return near


def _distances(near: _Near, target: str, cards: Collection[str]) -> dict[str, int]:
    """Return the wires from each address to ``target``, through switches only."""
    distance = {target: 0}
    queue = deque([target])
    while queue:
        here = queue.popleft()
        if here in cards and here != target:
            continue
        for _, far in near.get(here, ()):
            if far.address not in distance:
                distance[far.address] = distance[here] + 1
                queue.append(far.address)
    return distance


def _hops(near: _Near, distance: Mapping[str, int], here: str) -> tuple[Hop, ...]:
    """Return the neighbours that are one wire closer to the target."""
    if here not in distance:
        return ()
    return tuple(
        Hop(far.address, end.interface)
        for end, far in near.get(here, ())
        if distance.get(far.address, -1) == distance[here] - 1
    )


def _from_host(
    near: _Near, distance: Mapping[str, int], host: Host, number: int, target: str
) -> Route | None:
    """Return the route from a host by its card of that ``number``, else by the nearest other."""
    own = host.cards[number % len(host.cards)]
    able = [card for card in host.cards if card.address in distance]
    if not able:
        return None
    card = own if own in able else min(able, key=lambda one: distance[one.address])
    return Route(target, _hops(near, distance, card.address), card.address)
