"""Steps and bytes of each algorithm, against identities and against trees drawn node by node."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from artery.collective.groups import Groups, gather
from artery.collective.halving import halving_doubling, pat
from artery.collective.hierarchical import hierarchical
from artery.collective.in_switch import collnet, nvls, nvls_tree
from artery.collective.placement import packed
from artery.collective.ring import ring
from artery.collective.tree import tree, tree_depth, tree_share
from artery.collective.work import Work
from artery.core.pricing import Collective
from tests.collective.systems import LIBRARY, cluster

HALVES: tuple[Collective, Collective] = ("all_gather", "reduce_scatter")


def groups(*ranks: int, per_node: int = 8) -> Groups:
    chips = 1024
    return gather(
        cluster(chips, per_node=per_node),
        LIBRARY,
        packed(chips),
        np.array(ranks),
        np.ones(len(ranks), dtype=np.int64),
        concurrent=False,
    )


@pytest.mark.parametrize(
    ("algorithm", "ranks"),
    [
        (ring, (2, 8, 16, 100, 1024)),
        (hierarchical, (2, 8, 16, 100, 1024)),
        # Other counts fold to a power of two, once for both halves.
        (halving_doubling, (2, 8, 16, 128, 1024)),
    ],
)
def test_all_reduce_is_reduce_scatter_and_all_gather(
    algorithm: Callable[[Groups, Collective], Work], ranks: tuple[int, ...]
) -> None:
    found = groups(*ranks)
    whole = algorithm(found, "all_reduce")
    one, other = (algorithm(found, half) for half in HALVES)
    for name in ("inner_steps", "outer_steps", "inner_bytes", "outer_bytes"):
        total = getattr(one, name) + getattr(other, name)
        np.testing.assert_allclose(getattr(whole, name), total)


def test_ring_takes_two_rounds_and_no_byte_more_than_needed() -> None:
    found = groups(8, 64)
    work = ring(found, "all_reduce")
    assert (work.inner_steps + work.outer_steps).tolist() == [14, 126]
    assert work.outer_steps.tolist() == [0, 14]
    # Patarasu and Yuan 2009: 2(n-1)/n of the size is the least any all-reduce can send.
    assert work.inner_bytes.tolist() == [2 * 7 / 8, 2 * 63 / 64]
    assert ring(found, "broadcast").inner_bytes.tolist() == [1, 1]


def test_halving_takes_logarithmic_steps_for_the_same_bytes() -> None:
    found = groups(8, per_node=8)
    assert halving_doubling(found, "all_reduce").inner_steps == 6
    assert (
        halving_doubling(found, "all_reduce").inner_bytes == ring(found, "all_reduce").inner_bytes
    )
    spread = groups(16, per_node=1)
    assert pat(spread, "all_gather").outer_steps == 4
    assert pat(spread, "all_gather").outer_bytes == 15 / 16


def test_a_switch_that_adds_takes_each_byte_once() -> None:
    found = groups(5, 8, 16)
    assert nvls(found, "all_reduce").inner_bytes[:2].tolist() == [1 + 1 / 5, 1 + 1 / 8]
    assert nvls_tree(found, "all_reduce").outer_bytes.tolist() == [0, 0, 1]
    assert collnet(found, "all_reduce").outer_bytes.tolist() == [0, 0, 1]
    assert collnet(groups(1024), "all_reduce").outer_bytes == 1


def test_bus_bandwidth_of_nvls_stays_above_eight_chips() -> None:
    # NVIDIA GTC 2025: 850 GB/s on 8 B200 and on 32 chips of an NVL72.
    eight, more = (nvls(groups(n, per_node=64), "all_reduce").inner_bytes[0] for n in (8, 32))
    assert (2 * 31 / 32) / more == pytest.approx((2 * 7 / 8) / eight)


def test_tree_steps() -> None:
    work = tree(groups(16, 1024), "all_reduce")
    assert work.inner_steps.tolist() == [14, 14]
    assert work.outer_steps.tolist() == [2, 14]
    assert tree_depth(np.array([1.0, 2, 3, 4, 5, 128])).tolist() == [0, 1, 2, 2, 3, 7]


def edges(node: int, nodes: int) -> int:
    """Count the edges of ``node`` in NCCL's binary tree (src/graph/trees.cc, ncclGetBtree)."""
    bit = 1
    while bit < nodes and not bit & node:
        bit <<= 1
    if node == 0:
        return int(nodes > 1)
    low = bit >> 1
    children = 1 if low else 0
    while low and node + low >= nodes:
        low >>= 1
    return 1 + children + (1 if low else 0)


@pytest.mark.parametrize("nodes", [2, 3, 4, 5, 6, 7, 8, 12, 31, 32, 100, 128])
def test_the_busiest_node_of_two_trees(nodes: int) -> None:
    """Half the size goes each way over every edge; the second tree is mirrored or shifted."""
    loads = [
        edges(node, nodes)
        + edges(nodes - 1 - node if nodes % 2 == 0 else (node - 1) % nodes, nodes)
        for node in range(nodes)
    ]
    assert max(loads) / 2 == tree_share(np.array([float(nodes)]))[0]
    assert sum(loads) / 2 == pytest.approx(2 * (nodes - 1))
