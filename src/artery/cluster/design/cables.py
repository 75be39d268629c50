"""A design as single cables: every link with its ends, its length and its part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from artery.cluster.design import Design
from artery.cluster.design.bill import Parts
from artery.cluster.design.hall import Hall, Places, distance, places
from artery.core.cabling import Cable, Cabling, Device, End
from artery.core.parts import Optic

Wire = tuple[str, str, str, int, int]
"""Lower device, its card (empty: a switch), upper device, and the racks of both."""


def cables(design: Design, hall: Hall, parts: Parts) -> Cabling:
    """Return the cables of ``design``, ports numbered from 1 on every device.

    Hosts are ``node0001`` with cards ``nic0`` and so on; switches of separate trees have the rail
    or plane before their name. Copper is used where it reaches, as in the bill.
    """
    there = places(design, hall)
    ports: Counter[str] = Counter()
    lengths: dict[tuple[int, int], float] = {}
    found = []
    for tree in range(design.trees):
        for lower, card, upper, one, other in _wires(design, tree, there):
            if (one, other) not in lengths:
                lengths[one, other] = _length((one, other), there, hall)
            length = lengths[one, other]
            optic = parts.card_optic if card else parts.optic
            ends = []
            for name, of in ((lower, card), (upper, "")):
                ports[f"{name} {of}"] += 1
                ends.append(End(name, str(ports[f"{name} {of}"]), of))
            part = _part(length, parts, optic)
            found.append(Cable(ends[0], ends[1], design.rate, length, part))
    names = dict.fromkeys(end.device for cable in found for end in (cable.one, cable.other))
    hosts = {cable.one.device for cable in found if cable.one.card}
    devices = tuple(Device(one, one, "host" if one in hosts else "switch") for one in names)
    return Cabling(design.name, "design", devices, tuple(found))


def _wires(design: Design, tree: int, there: Places) -> Iterator[Wire]:
    """Yield the cables of one tree, tier by tier."""
    before = ""
    if design.trees > 1:
        before = f"{'rail' if design.kind == 'rail-only' else 'plane'}{tree + 1}-"
    cards = (tree,) if design.kind == "rail-only" else range(design.rails)
    by_rail = design.kind in ("rail", "dual-plane")
    for node in range(design.nodes):
        group = node // design.group_nodes
        for card in cards:
            leaf = group * design.group_leaves + (card if by_rail else 0)
            racks = int(there.node[node]), int(there.group[group])
            yield (f"node{node + 1:04d}", f"nic{card}", f"{before}leaf{leaf + 1:04d}", *racks)
    if len(design.tiers) > 1:
        yield from _to_spines(design, before, there)
    if len(design.tiers) > 2:
        yield from _to_cores(design, before, there)


def _to_spines(design: Design, before: str, there: Places) -> Iterator[Wire]:
    spines = design.tiers[1].switches // (design.trees * design.pods)
    for leaf in range(design.groups * design.group_leaves):
        group = leaf // design.group_leaves
        pod = group // design.pod_groups
        racks = int(there.group[group]), int(there.pod[pod])
        for link in range(design.tiers[0].up):
            spine = pod * spines + link % spines
            yield (f"{before}leaf{leaf + 1:04d}", "", f"{before}spine{spine + 1:04d}", *racks)


def _to_cores(design: Design, before: str, there: Places) -> Iterator[Wire]:
    spines = design.tiers[1].switches // (design.trees * design.pods)
    in_set, shared = design.core_sets
    for spine in range(design.pods * spines):
        pod, index = divmod(spine, spines)
        racks = int(there.pod[pod]), there.core
        for link in range(design.tiers[1].up):
            core = index // shared * in_set + link % in_set
            yield (f"{before}spine{spine + 1:04d}", "", f"{before}core{core + 1:04d}", *racks)


def _length(racks: tuple[int, int], there: Places, hall: Hall) -> float:
    one, other = (np.array([rack], dtype=np.int64) for rack in racks)
    return round(float(distance(one, other, there.row, hall)[0]), 1)


def _part(length: float, parts: Parts, optic: Optic) -> str:
    """Return the first copper that reaches, else the optic."""
    return next((one.name for one in parts.copper if length <= one.reach.low), optic.name)
