"""A domain as its traffic sees it: cables that always share their load drawn as one.

Chips spread what they send over all NVSwitches, packet by packet, and over all cables that they
have to one neighbour. For paths such a bundle is one link of the total bandwidth.
"""

from __future__ import annotations

from dataclasses import replace

from artery.core.link import Link
from artery.node.scale_up import Cable, ScaleUp, bundle

SHARED = "nvswitch"
"""Name of a group of switches over which every chip spreads all its traffic."""


def trunked(domain: ScaleUp) -> ScaleUp:
    """Return the domain with its NVSwitches as one, and parallel cables as one of their sum."""
    place = _merged(domain)
    total: dict[tuple[int, int], list[Link]] = {}
    for one, other, index in domain.cables:
        ends = (place[one], place[other])
        key = ends if ends in total or ends[::-1] not in total else ends[::-1]
        total.setdefault(key, []).append(domain.links[index])
    links: list[Link] = []
    cables: list[Cable] = []
    for (one, other), parts in total.items():
        link = _sum(parts)
        if link not in links:
            links.append(link)
        cables.append((one, other, links.index(link)))
    return replace(
        domain,
        groups=tuple(
            replace(group, count=1) if group.name == SHARED else group for group in domain.groups
        ),
        links=tuple(links),
        cables=tuple(cables),
        seats=tuple(tuple(place[seat] for seat in row) for row in domain.seats),
    )


def _merged(domain: ScaleUp) -> list[int]:
    """Return the new number of every vertex of the domain."""
    place = list(range(domain.chips))
    new = domain.chips
    for group in domain.groups:
        shared = group.name == SHARED
        place += [new] * group.count if shared else range(new, new + group.count)
        new += 1 if shared else group.count
    return place


def _sum(parts: list[Link]) -> Link:
    """Return one link with what all ``parts`` reach together."""
    if len(parts) == 1:
        return parts[0]
    reached = sum(part.bandwidth * part.efficiency for part in parts)
    return bundle(parts[0], reached / parts[0].efficiency)
