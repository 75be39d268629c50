"""The links upwards that a part-filled last domain reaches, by the cables that are really there."""

from __future__ import annotations

import numpy as np
import pytest

from artery.cluster.fat_tree import FatTree, Level
from artery.cluster.part_filled import links_of_last
from artery.cluster.stages import fat_tree_edges, stages
from artery.core.link import Link

CARD = Link("card", "infiniband", bandwidth=50e9, efficiency=1.0, latency=0.0)


def tree(*levels: Level, cards: int = 8, rails: bool = False) -> FatTree:
    return FatTree(CARD, cards, levels, latency=1e-6, hop=1e-6, rails=rails)


WIDE = tree(Level("leaf", 32), Level("spine", None, taper=3.0))
"""Groups of 32 nodes with 256 cards, over leaves of 64 ports, 48 of them down: six leaves."""


@pytest.mark.parametrize(
    ("nodes", "share"),
    [(64, 1.0), (63, 1.0), (48, 0.5), (38, 1 / 3), (37, 1 / 6), (33, 1 / 6)],
)
def test_of_a_group_of_leaves_those_in_use_count(nodes: int, share: float) -> None:
    """43 cards to a leaf: one node of eight takes one leaf, six (48 cards) take two."""
    assert links_of_last(WIDE, nodes) == pytest.approx((1.0, share))


def test_on_rails_one_node_reaches_all_leaves_of_its_group() -> None:
    rails = tree(Level("leaf", 32), Level("spine", None, taper=3.0), rails=True)
    assert links_of_last(rails, 33) == (1.0, 1.0)


def test_a_rack_reaches_all_switches_of_its_pod_and_so_all_its_links() -> None:
    llama = tree(Level("rack", 2), Level("pod", 384, radix=576), Level("top", None, 7.0, 576))
    assert links_of_last(llama, 384 + 2) == (1.0, 1.0, 1.0)


def test_shares_are_of_the_switches_above_that_cables_lead_to() -> None:
    """Pods whose leaves see but some of the pod's switches: counted from the cables."""
    pods = tree(Level("leaf", 32), Level("pod", 64, radix=16), Level("top", None, 4.0, 64))
    nodes = 64 + 1  # the last pod: one node, on one leaf
    found = stages(pods, nodes)
    assert found[1].windows > 1
    lower, upper = fat_tree_edges(pods, nodes)
    first = nodes * pods.cards
    last_leaves = np.unique(upper[(lower >= 64 * pods.cards) & (lower < first)])
    reached = np.unique(upper[np.isin(lower, last_leaves)])
    assert links_of_last(pods, nodes)[2] == pytest.approx(len(reached) / found[1].group)
