"""Pipes as one variable each, against closed forms and full solves."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from artery.errors import UsageError
from artery.native import coupled as engine
from artery.native.coupled import coupled
from artery.native.fluid import NO_CHANGES, fluid
from artery.native.gates import at_times
from artery.native.pipelines import Pipelines
from artery.native.work import Links, Transfers, Work, duration
from tests.native.compiled import use
from tests.native.pipelines import HOP, RATE, SOFTWARE, as_pipelines, fabric
from tests.native.pipelines import ring_paths as ring


@pytest.fixture(autouse=True, params=["coupled", None], ids=["c", "twin"])
def _core(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, request.param)


def uniform(count: int, rate: int = RATE, latency: int = HOP) -> Links:
    return Links(np.full(count, rate), np.full(count, latency))


def one_pipe(paths: list[list[int]], depth: int, **bytes_: int) -> Pipelines:
    count = len(paths)
    return Pipelines(
        start=np.cumsum([0, *(len(path) for path in paths)]),
        link=np.array([link for path in paths for link in path], np.int32),
        wave=np.array([0, count]),
        pipe=np.array([0, 1]),
        depth=np.array([depth]),
        amount=np.array([bytes_["amount"]]),
        behind=np.array([bytes_["behind"]]),
        segment=np.array([bytes_["segment"]]),
    )


@pytest.mark.parametrize("ranks", [2, 7, 64])
def test_a_free_ring_takes_its_steps(ranks: int) -> None:
    steps, chunk = 2 * (ranks - 1), 10**6
    paths = [[2 * rank, 2 * rank + 1] for rank in range(ranks)]
    pipes = one_pipe(paths, steps, amount=steps * chunk, behind=chunk, segment=chunk)
    answer = coupled(uniform(2 * ranks), pipes)
    assert answer.time.tolist() == [steps * (duration(chunk, RATE) + 2 * HOP)]
    assert (answer.bytes == steps * chunk).all()


def test_a_ring_waits_for_the_link_that_most_of_its_edges_cross() -> None:
    # Three of four edges cross link 4: three chunks per step, 60 us, far beyond the 21 us of a hop.
    paths = [[0, 4], [1, 4], [2, 4], [3]]
    pipes = one_pipe(paths, 6, amount=6 * 10**6, behind=10**6, segment=10**6)
    answer = coupled(uniform(5), pipes)
    assert answer.time.tolist() == [6 * 3 * duration(10**6, RATE)]
    assert answer.crossings.tolist() == [3]


def test_slow_hops_of_a_ring_add_up() -> None:
    # One edge is 100 us long: a byte meets it once in each of two rounds but for two steps less.
    links = Links(np.full(4, RATE), np.array([10**8, HOP, HOP, HOP]))
    pipes = one_pipe([[0], [1], [2], [3]], 6, amount=6000, behind=1000, segment=1000)
    mean = (10**8 + 3 * HOP) / 4 + duration(1000, RATE)
    assert coupled(links, pipes).time[0] == pytest.approx(6 * mean, abs=1)


def test_segments_hide_the_latency_of_a_ring() -> None:
    paths = [[rank] for rank in range(8)]
    whole = one_pipe(paths, 14, amount=14 * 10**6, behind=10**6, segment=10**6)
    cut = one_pipe(paths, 14, amount=14 * 10**6, behind=10**6, segment=10**4)
    assert coupled(uniform(8), whole).time[0] == 14 * (duration(10**6, RATE) + HOP)
    assert coupled(uniform(8), cut).time[0] == 14 * duration(10**6, RATE)


def test_a_tree_fills_along_its_longest_chain_and_then_flows() -> None:
    # 3 -> 2 -> 1 -> 0 and 4 -> 0, up over links 0 to 3, down over links 4 to 7.
    amount, segment = 10**8, 10**5
    up = [[0], [1], [2], [3]]  # of ranks 1, 2, 3, 4
    pipes = Pipelines(
        start=np.arange(9),
        link=np.array([*(link for path in up for link in path), 4, 5, 6, 7], np.int32),
        wave=np.array([0, 4, 8]),
        pipe=np.array([0, 2]),
        depth=np.zeros(1, np.int64),
        amount=np.array([amount]),
        behind=np.array([amount]),
        segment=np.array([segment]),
        toward=np.array([-1, 0, 1, -1, -1, 4, 5, -1]),
    )
    answer = coupled(uniform(8), pipes)
    assert answer.fill.tolist() == [6 * (duration(segment, RATE) + HOP)]
    expected = answer.fill[0] + duration(amount - segment, RATE)
    assert answer.time[0] == pytest.approx(expected, abs=1)


def test_two_rings_share_a_link_until_one_has_ended() -> None:
    # Both cross link 0, the second with two edges: 3 of its bytes for each byte of r. 1 GB/s.
    paths = [[[0], [1]], [[0], [0]]]
    pipes = Pipelines(
        start=np.arange(5),
        link=np.array([link for path in paths for edge in path for link in edge], np.int32),
        wave=np.array([0, 2, 4]),
        pipe=np.array([0, 1, 2]),
        depth=np.array([2, 2]),
        amount=np.array([10**9, 2 * 10**9]),
        behind=np.array([5 * 10**8, 10**9]),
        segment=np.zeros(2, np.int64),
    )
    answer = coupled(Links(np.array([10**9, 10**9]), np.zeros(2, np.int64)), pipes)
    # r = 1/3 GB/s for both until 3 s; then the second has 1 GB left at 1/2 GB/s.
    assert answer.flow.tolist() == pytest.approx([3 * 10**12, 5 * 10**12], abs=2)
    assert answer.flowed.unfair == 0
    later = replace(pipes, release=np.array([0, 10 * 10**12]))
    assert coupled(Links(np.array([10**9, 10**9]), np.zeros(2, np.int64)), later).flow.tolist() == [
        10**12,
        4 * 10**12,
    ]


@given(st.integers(0, 10**6))
def test_leaving_out_links_that_cannot_be_full_changes_nothing(seed: int) -> None:
    random = np.random.default_rng(seed)
    links, pipes, edges = (int(random.integers(2, top)) for top in (40, 6, 12))
    rate = random.integers(1, 9, links) * 10**9
    hops = random.integers(1, 4, pipes * edges)
    amount = random.integers(1, 10**9, pipes)
    crossed = np.concatenate([random.permutation(links)[: min(links, n)] for n in hops])
    start = np.cumsum([0, *np.minimum(hops, links)])
    given_ = Pipelines(
        start, crossed.astype(np.int32), np.arange(pipes + 1) * edges, np.arange(pipes + 1),
        np.full(pipes, 3), amount, np.zeros(pipes, np.int64), np.zeros(pipes, np.int64),
    )  # fmt: skip
    ends = start[np.arange(pipes + 1) * edges]
    every = [np.unique(crossed[a:b], return_counts=True) for a, b in pairwise(ends)]
    transfers = Transfers(
        amount, np.arange(pipes, dtype=np.int32), np.cumsum([0, *(one.size for one, _ in every)]),
        np.concatenate([one for one, _ in every]).astype(np.int32),
    )  # fmt: skip
    latency = np.zeros(links, np.int64)
    weight = np.concatenate([count for _, count in every]).astype(np.float64)
    work = Work(Links(rate, latency), transfers, at_times(np.zeros(pipes, np.int64)))
    full = fluid(work, NO_CHANGES, weight)
    assert full.played.sent is not None
    answer = coupled(Links(rate, latency), given_)
    assert np.abs(answer.flow - full.played.sent).max() <= 2
    assert answer.bytes == pytest.approx(full.played.bytes, abs=2)


def test_software_latency_counts_once_a_hop() -> None:
    net = fabric(16, 8, 8, failed=0.0, seed=0)
    inside = [ring(net, np.arange(8), 0)]
    answer = coupled(net.links, as_pipelines(inside, 1000))
    assert answer.time[0] == 14 * (SOFTWARE + 2 * HOP + duration(1000, RATE))


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"wave": np.array([0, 1])}, "wave: must rise"),
        ({"link": np.array([0, 9], np.int32)}, "a link's number"),
        ({"segment": np.array([9])}, "segment"),
        ({"depth": np.zeros(1, np.int64)}, "needed for trees"),
        ({"depth": np.zeros(2, np.int64)}, "depth: 2 entries"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(change: dict[str, np.ndarray], rule: str) -> None:
    pipes = one_pipe([[0], [1]], 2, amount=4, behind=2, segment=1)
    with pytest.raises(UsageError, match=rule):
        coupled(uniform(2), replace(pipes, **change))


def test_pipes_taken_together_are_as_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    net = fabric(64, 8, 8, failed=0.05, seed=1)
    groups = np.random.default_rng(0).permutation(64).reshape(8, 8)
    rings_ = as_pipelines([ring(net, group, seed) for seed, group in enumerate(groups)], 10**6)
    together = coupled(net.links, rings_)
    monkeypatch.setattr("artery.native.crossed.CHUNK", 1)
    apart = coupled(net.links, rings_)
    for name in ("time", "fill", "flow", "bytes", "crossings"):
        assert np.array_equal(getattr(together, name), getattr(apart, name)), name
    assert len(set(together.time.tolist())) > 1


def test_a_rank_alone_and_nothing_to_send_take_no_time() -> None:
    alone = one_pipe([[]], 0, amount=0, behind=0, segment=0)
    empty = one_pipe([[0], [1]], 2, amount=0, behind=0, segment=0)
    assert coupled(uniform(1), replace(alone, toward=np.array([-1]))).time.tolist() == [0]
    assert coupled(uniform(2), empty).time.tolist() == [0]


def test_of_very_many_pipes_those_that_end_together_change_the_rates_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # One link, 1 to 200 kB each and one of 40 MB: in turn each short one ends and the rates change.
    count, long = 201, 40 * 10**6
    amount = np.array([*range(1_000, 201_000, 1_000), long])
    pipes = replace(
        one_pipe([[0]], 1, amount=1, behind=1, segment=1),
        start=np.arange(count + 1), link=np.zeros(count, np.int32), wave=np.arange(count + 1),
        pipe=np.arange(count + 1), depth=np.ones(count, np.int64), amount=amount,
        behind=np.ones(count, np.int64), segment=np.ones(count, np.int64),
    )  # fmt: skip
    exact = coupled(uniform(1), pipes)
    monkeypatch.setattr(engine, "EXACT", 0)
    monkeypatch.setattr(engine, "CROSSED", 0)
    several = coupled(uniform(1), pipes)
    assert exact.flowed.batches > 200
    assert several.flowed.batches <= 2 * engine.LEAST_PARTS
    # No end is late by more than the part of the long one's 40 MB / rate that they share.
    part = duration(long, RATE) // engine.LEAST_PARTS
    assert (several.time - exact.time >= -1).all()
    assert (several.time - exact.time <= 2 * part).all()
