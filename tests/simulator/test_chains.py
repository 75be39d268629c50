"""What first slices wait for inside nodes, counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from artery.core.arrays import Ints
from artery.native.coupled import coupled
from artery.native.pipelines import Pipelines
from artery.native.work import PICOSECONDS, Links
from artery.simulator.coupled.chains import Chains, passed_both_ways

CHIPS, RATE, LATENCY = 4, 10**9, 1000
SLICE = 1000
"""A slice takes a microsecond on a port inside the node."""


def chains(slices: int, *, far: int = RATE) -> tuple[Links, Pipelines, Ints]:
    """Return four trees in a node of four chips, chained from each of them on, and their nodes.

    Edge i of a chain goes out by port (head + i) of the node; the last one leaves it, by a card of
    the tree's own of rate ``far``; then all edges are passed back.
    """
    way = [[(head + place) % CHIPS for place in range(CHIPS - 1)] for head in range(CHIPS)]
    port = [[*there, CHIPS + head] for head, there in enumerate(way)]
    back = [[CHIPS + 4 + p for p in there] for there in port]
    link = np.stack([port, back], axis=1).ravel()
    edges = len(link)
    next_ = np.arange(edges) + 1
    last = np.arange(edges) % CHIPS == CHIPS - 1
    rate = np.array(([RATE] * CHIPS + [far] * CHIPS) * 2)
    amount = np.full(CHIPS, slices * SLICE)
    return (
        Links(rate, np.full(len(rate), LATENCY)),
        Pipelines(
            np.arange(edges + 1),
            link.astype(np.int32),
            np.arange(0, edges + 1, CHIPS),
            np.arange(0, 2 * CHIPS + 1, 2),
            np.zeros(CHIPS, np.int64),
            amount,
            amount,
            np.full(CHIPS, SLICE),
            toward=np.where(last, -1, next_),
        ),
        np.where(last, -1, 0),
    )


@pytest.mark.parametrize(("slices", "others"), [(1, 0), (2, 2), (3, 3), (9, 3)])
def test_a_slice_waits_for_one_of_each_chain_less_far_along(slices: int, others: int) -> None:
    """At place i: none, one, two; of one slice each the others have all gone, of two the last."""
    links, pipes, home = chains(slices)
    late = Chains.of(pipes, home).late(links, pipes)
    each = SLICE * PICOSECONDS / RATE
    assert late == pytest.approx(np.full(CHIPS, others * each))


def test_nobody_waits_for_what_a_port_sends_in_any_case() -> None:
    """Where ports of the node hold the trees back, only what is slow outside comes after them."""
    links, pipes, home = chains(9, far=100 * RATE)
    steady = coupled(links, pipes)
    found = Chains.of(pipes, home).outside(links, pipes, steady)
    assert found == pytest.approx(np.full(CHIPS, 9 * SLICE * PICOSECONDS / (100 * RATE)))
    links, pipes, home = chains(9, far=RATE // 10)
    steady = coupled(links, pipes)
    assert np.array_equal(Chains.of(pipes, home).outside(links, pipes, steady), steady.flow)


def test_stars_are_no_trees_passed_both_ways() -> None:
    _, pipes, _ = chains(1)
    assert passed_both_ways(pipes).all()
    star = Pipelines(
        pipes.start, pipes.link, pipes.wave, pipes.pipe, pipes.depth, pipes.amount, pipes.behind,
        pipes.segment, toward=np.full(len(pipes.link), -1),
    )  # fmt: skip
    assert not passed_both_ways(star).any()
