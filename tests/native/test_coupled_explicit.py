"""Pipes as one variable each, against every single message of them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from artery.native.coupled import coupled
from artery.native.fluid import fluid
from artery.native.messages import Transport, messages
from artery.native.pipelines import Pipelines
from artery.native.work import Links, Work
from tests.native.compiled import use
from tests.native.pipelines import as_messages, as_pipelines, fabric, ring_paths
from tests.native.trees import tree_messages, tree_pipelines, trees

RINGS = tuple(product((64, 128), (0.0, 0.05), (False, True), (16_000, 250_000, 4_000_000)))
"""Ranks, share of uplinks gone, placed at random, bytes of a chunk."""
TREES = tuple(product((16, 64), (0.0, 0.05), (False, True), (0, 1)))
"""Ranks, share of uplinks gone, placed at random, seed of the hash."""


def time_of(links: Links, pipes: Pipelines) -> int:
    """Return when the last pipe ends, ps."""
    with pytest.MonkeyPatch.context() as patch:
        use(patch, "coupled")
        return int(coupled(links, pipes).time.max())


def queued(work: Work) -> int:
    """Return how long whole messages take through queues, ps."""
    with pytest.MonkeyPatch.context() as patch:
        use(patch, "messages")
        return messages(work, Transport(segment=0)).makespan


def flowing(work: Work) -> int:
    """Return how long the messages take at fair rates, ps."""
    with pytest.MonkeyPatch.context() as patch:
        use(patch, "coupled")
        return fluid(work).played.makespan


def test_a_hashed_ring_is_as_slow_as_its_messages() -> None:
    errors = []
    for ranks, failed, shuffled, chunk in RINGS:
        net = fabric(ranks, 8, 8, failed=failed, seed=1)
        order = np.random.default_rng(ranks).permutation(ranks) if shuffled else np.arange(ranks)
        paths = [ring_paths(net, order, ranks)]
        short = time_of(net.links, as_pipelines(paths, chunk))
        errors.append(abs(short / queued(as_messages(net.links, paths, chunk)) - 1))
    assert np.median(errors) <= 0.01
    assert max(errors) <= 0.03


def test_hashed_trees_are_as_slow_as_their_messages() -> None:
    # Queues do not share a link evenly between two trees, so that one may end a tenth later.
    segments, segment = 64, 2**19
    queues: list[float] = []
    flows: list[float] = []
    for ranks, failed, shuffled, seed in TREES:
        net = fabric(ranks, 8, 8, failed=failed, seed=1)
        order = np.random.default_rng(ranks).permutation(ranks) if shuffled else np.arange(ranks)
        both = trees(net, (order, np.roll(order, 1)[::-1]), seed)
        short = time_of(net.links, tree_pipelines(both, segments * segment, segment))
        work = tree_messages(net.links, both, segments, segment)
        queues.append(abs(short / queued(work) - 1))
        flows.append(abs(short / flowing(work) - 1))
    assert np.median(flows) <= 0.01
    assert max(flows) <= 0.05
    assert np.median(queues) <= 0.01
    assert max(queues) <= 0.12


def test_two_jobs_interleaved_on_the_same_leaves_slow_each_other() -> None:
    net, chunk = fabric(64, 8, 4, failed=0.0, seed=1), 4_000_000
    paths = [ring_paths(net, np.arange(job, 64, 2), job) for job in range(2)]
    alone = [time_of(net.links, as_pipelines([one], chunk)) for one in paths]
    both = time_of(net.links, as_pipelines(paths, chunk))
    assert both > max(alone)
    assert both == pytest.approx(queued(as_messages(net.links, paths, chunk)), rel=0.03)
