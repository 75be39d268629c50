"""What a failed part takes with it: the chips that it cuts off or slows down."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from artery.cluster.design import Design


@dataclass(frozen=True, slots=True)
class Blast:
    """One failed ``part`` (``leaf``, ``spine``, ``core``, ``card``, ``card-optic``, ``up-optic``).

    ``chips_cut`` lose their own card's way into the network, ``nodes_cut`` every way; a chip
    that keeps its way but shares what is left is in ``chips_slowed``, and loses up to
    ``bandwidth_lost`` of it.
    """

    part: str
    chips_cut: int
    nodes_cut: int
    chips_slowed: int
    bandwidth_lost: float


def blasts(design: Design, links_per_optic: int) -> tuple[Blast, ...]:
    """Return the blast radius of every part; an optic of a switch ends ``links_per_optic`` links.

    An ``up-optic`` is one at a leaf, on its way to the spines.
    """
    leaf = design.tiers[0]
    under = min(design.chips, leaf.down)
    lone = design.planes == 1
    nodes_cut = ceil(under / design.rails) if design.kind == "tor" else 0
    if lone and design.rails == 1:
        nodes_cut = under
    found = [
        Blast("card", 1, int(design.rails == 1), 0, 0.0),
        Blast("card-optic", 1, int(design.rails == 1), 0, 0.0),
        Blast(
            "leaf",
            under if lone else 0,
            nodes_cut,
            0 if lone else under,
            1.0 if lone else 1 / design.planes,
        ),
    ]
    if leaf.up:
        lost = min(links_per_optic, leaf.up) / leaf.up / design.planes
        found.append(Blast("up-optic", 0, 0, under, lost))
        found += _upper(design)
    return tuple(found)


def _upper(design: Design) -> list[Blast]:
    """Return the blasts of a spine and of a core."""
    under_leaves = design.tiers[0].down * design.group_leaves
    spines = design.tiers[1].switches // (design.trees * design.pods)
    found = [
        Blast(
            "spine",
            0,
            0,
            min(design.chips, design.pod_groups * under_leaves),
            1 / spines / design.planes,
        )
    ]
    if len(design.tiers) > 2:
        cores = design.tiers[2].switches // design.trees
        in_tree = min(design.chips, design.groups * under_leaves)
        found.append(Blast("core", 0, 0, in_tree, 1 / cores / design.planes))
    return found
