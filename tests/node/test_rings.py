from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest

from artery.node.rings import disjoint_cycles, disjoint_rings, edges_of


def complete(size: int, links: int = 1) -> dict[tuple[int, int], int]:
    return dict.fromkeys(combinations(range(size), 2), links)


@pytest.mark.parametrize(("size", "cycles"), [(3, 1), (5, 2), (7, 3)])
def test_an_odd_complete_graph_decomposes_into_cycles(size: int, cycles: int) -> None:
    # Walecki: K_n with n odd is the union of (n-1)/2 Hamiltonian cycles.
    assert disjoint_rings(complete(size), size) == 2 * cycles


@pytest.mark.parametrize(("size", "cycles"), [(4, 1), (6, 2), (8, 3)])
def test_an_even_complete_graph_leaves_one_matching(size: int, cycles: int) -> None:
    assert disjoint_rings(complete(size), size) == 2 * cycles


def test_two_chips_ring_on_every_link() -> None:
    assert disjoint_rings({(0, 1): 3}, 2) == 3


def test_doubled_links_carry_twice_the_rings() -> None:
    ring = {(0, 1): 2, (1, 2): 2, (2, 3): 2, (0, 3): 2}
    assert disjoint_rings(ring, 4) == 4


def test_a_line_has_no_ring() -> None:
    assert disjoint_rings({(0, 1): 1, (1, 2): 1}, 3) == 0


@pytest.mark.parametrize("group", [0, 1])
def test_one_chip_needs_no_ring(group: int) -> None:
    assert disjoint_rings(complete(4), group) == 0


def test_many_links_with_some_missing_end_in_a_packing() -> None:
    """One damaged row of ``nvidia-smi topo -m`` on a switched node: 18 links a pair, 16, or 1."""
    links = dict.fromkeys(combinations(range(8), 2), 18)
    links |= {(chip, 5): 16 for chip in range(5)} | {(1, 4): 1}
    found = disjoint_cycles(links, 8)
    used = Counter(edge for cycle in found for edge in edges_of(cycle))
    assert all(used[edge] <= links[edge] for edge in used)
    assert len(found) > 40, "of at most 60"
