"""The fabric of a system as single cables between named devices with numbered ports.

Hosts are ``node0001`` with cards ``nic0``, ``nic1``, ...; switches are named after their tier and
numbered from 1. What lies inside a node is left out.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from artery.core.cabling import Cable, Cabling, Device, End
from artery.core.system import System


class NoFabricError(ValueError):
    """The system has no switches between its nodes."""


def cabling_of(system: System) -> Cabling:
    """Return the cables from the cards of ``system`` upwards; rates are those of the lines.

    Raises :class:`NoFabricError` for one node, or a system without network cards.
    """
    names, kinds, cards = _named(system)
    edges = system.wiring()
    fabric = np.array([kind in ("nic", "switch") for kind in kinds], dtype=np.bool_)
    inside = fabric[edges.source] & fabric[edges.target] & (edges.source < edges.target)
    if "nic" not in kinds or not inside.any():
        raise NoFabricError(system.name)
    ports: Counter[str] = Counter()
    cables = []
    for one, other, link in zip(
        edges.source[inside].tolist(),
        edges.target[inside].tolist(),
        edges.link[inside].tolist(),
        strict=True,
    ):
        ends = []
        for vertex in (one, other):
            card = cards.get(vertex, "")
            key = f"{names[vertex]} {card}"
            ports[key] += 1
            ends.append(End(names[vertex], str(ports[key]), card))
        cables.append(Cable(ends[0], ends[1], rate=system.links[link].bandwidth))
    used = dict.fromkeys(end.device for cable in cables for end in (cable.one, cable.other))
    hosts = {names[vertex] for vertex in cards}
    devices = tuple(Device(one, one, "host" if one in hosts else "switch") for one in used)
    return Cabling(system.name, "system", devices, tuple(cables))


def _named(system: System) -> tuple[list[str], list[str], dict[int, str]]:
    """Return the name and the kind of every vertex, and the card that a vertex is."""
    names: list[str] = []
    kinds: list[str] = []
    cards: dict[int, str] = {}
    # Switches inside a node come before the cards, those of the fabric after them.
    seen_cards = False
    for group in system.groups:
        first = len(names)
        kind = group.kind if seen_cards or group.kind != "switch" else "inner"
        if group.kind == "nic":
            seen_cards = True
            per_node = max(1, group.count // system.nodes)
            names += [f"node{number // per_node + 1:04d}" for number in range(group.count)]
            cards |= {first + number: f"nic{number % per_node}" for number in range(group.count)}
        else:
            width = max(3, len(str(group.count)))
            names += [
                group.name if group.own else f"{group.name}{number + 1:0{width}d}"
                for number in range(group.count)
            ]
        kinds += [kind] * group.count
    return names, kinds, cards
