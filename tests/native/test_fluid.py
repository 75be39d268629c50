"""The fluid engine against closed forms, against full solves, and its twin against it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from artery.errors import UsageError
from artery.native.fluid import ENDLESS, NO_CHANGES, Changes, Flowed, fluid, twin
from artery.native.gates import at_times, by_dependencies
from artery.native.maxmin import maxmin
from artery.native.repair import Repair
from artery.native.work import Gates, Links, Transfers, Work, duration
from tests.native.compiled import use
from tests.native.pipelines import fabric, halving_doubling
from tests.native.works import over_star, random_work, same, star, steps_over_star

Play = Callable[..., Flowed]
RATE, LATENCY = 50 * 10**9, 500_000


@pytest.fixture(params=["fluid", None], ids=["c", "twin"])
def play(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Play:
    use(monkeypatch, request.param)
    return fluid


def over(paths: list[list[int]], sizes: list[int], rates: list[int]) -> Work:
    """Return transfers that all start at once, transfer t over ``paths[t]``."""
    n = len(sizes)
    transfers = Transfers(
        np.array(sizes),
        np.arange(n, dtype=np.int32),
        np.cumsum([0, *(len(path) for path in paths)]),
        np.array([link for path in paths for link in path], np.int32),
    )
    return Work(Links(np.array(rates), np.zeros(len(rates), np.int64)), transfers, at_once(n))


def at_once(n: int) -> Gates:
    return at_times(np.zeros(n, np.int64))


def sent(flowed: Flowed) -> list[int]:
    times = flowed.played.sent
    assert times is not None
    return [int(time) for time in times]


@pytest.mark.parametrize("size", [0, 1, 65_536, 5 * 10**9])
def test_alone_a_transfer_takes_its_size_and_every_latency(play: Play, size: int) -> None:
    work = over([[0, 1, 2]], [size], [RATE] * 3)
    done = play(work._replace(links=replace(work.links, latency=np.full(3, LATENCY))))
    assert sent(done) == [duration(size, RATE)]
    assert done.played.makespan == duration(size, RATE) + 3 * LATENCY
    assert done.played.bytes.tolist() == [size] * 3


@pytest.mark.parametrize("senders", [2, 7, 32])
def test_incast_shares_the_last_link(play: Play, senders: int) -> None:
    size, hosts = 4 * 2**20, senders + 1
    transfers = over_star(
        np.arange(senders), np.full(senders, senders), np.full(senders, size), hosts
    )
    done = play(Work(star(hosts, RATE, LATENCY), transfers, at_once(senders)))
    assert done.played.makespan == duration(senders * size, RATE) + 2 * LATENCY


def test_what_one_leaves_the_other_takes(play: Play) -> None:
    # 1 and 3 GB on one 1 GB/s link: both at half rate until 2 s, then the second alone until 4 s.
    done = play(over([[0], [0]], [10**9, 3 * 10**9], [10**9]))
    assert sent(done) == [2 * 10**12, 4 * 10**12]


def test_a_freed_share_is_felt_far_away(play: Play) -> None:
    # Links of 2, 2 and 3 GB/s; a on 0, b on 0 and 1, c on 1 and 2, d on 2. At first all have
    # 1 GB/s but d, 2. When a ends at 1 s, b and c are still held by link 1, and nothing moves.
    done = play(
        over([[0], [0, 1], [1, 2], [2]], [10**9, 3 * 10**9, 4 * 10**9, 8 * 10**9],
             [2 * 10**9, 2 * 10**9, 3 * 10**9])
    )  # fmt: skip
    # b ends at 3 s; c, with 1 GB left, gets 1.5 GB/s, and so does d, with 2 GB left.
    assert sent(done)[:3] == [10**12, 3 * 10**12, 3 * 10**12 + 666_666_666_667]
    # c ends at 3.667 s; d has had 1 GB of its 2 and gets 3 GB/s for the rest.
    assert sent(done)[3] == pytest.approx(4 * 10**12, abs=2)


@pytest.mark.parametrize("ranks", [2, 5, 16])
def test_a_ring_takes_its_steps(play: Play, ranks: int) -> None:
    steps, chunk = 2 * (ranks - 1), 10**6
    rank, step = np.tile(np.arange(ranks), steps), np.repeat(np.arange(steps), ranks)
    work = steps_over_star(rank, (rank + 1) % ranks, step, size=chunk, rate=RATE, latency=LATENCY)
    done = play(work)
    assert done.played.makespan == steps * (duration(chunk, RATE) + 2 * LATENCY)
    assert (done.played.bytes == steps * chunk).all()
    assert done.filled == steps * ranks  # no flow is looked at twice


def test_a_link_down_stops_what_has_no_other_path(play: Play) -> None:
    changes = Changes(np.array([10**12]), np.zeros(1, np.int32), np.zeros(1, np.int64))
    done = play(over([[0], [1]], [2 * 10**9, 10**9], [10**9, 10**9]), changes)
    assert sent(done) == [-1, 10**12]
    assert done.played.unfinished == 1
    assert done.played.bytes.tolist() == [10**9, 10**9]


def test_a_link_that_comes_back(play: Play) -> None:
    changes = Changes(
        np.array([10**12, 4 * 10**12]), np.zeros(2, np.int32), np.array([0, 2 * 10**9])
    )
    done = play(over([[0]], [3 * 10**9], [10**9]), changes)
    assert sent(done) == [5 * 10**12]


def test_a_transfer_moves_to_its_other_path_with_what_is_left(play: Play) -> None:
    work = over([[0], [1]], [2 * 10**9, 4 * 10**9], [10**9, 10**9])
    other = np.array([1, -1], np.int32)
    failing = replace(work.links, fails=np.array([10**12, 2**62]))
    done = play(Work(failing, replace(work.transfers, other=other), work.gates))
    # 1 GB left of the first; both share link 1 until 3 s, when the second has 2 GB left.
    assert sent(done) == [3 * 10**12, 5 * 10**12]
    assert done.played.bytes.tolist() == [10**9, 5 * 10**9]


def test_background_takes_its_share_and_never_ends(play: Play) -> None:
    done = play(over([[0], [0]], [ENDLESS, 10**9], [10**9]))
    assert sent(done) == [-1, 2 * 10**12]
    assert done.played.unfinished == 0
    assert done.played.bytes.tolist() == [2 * 10**9]


def test_a_sprayed_transfer_is_as_fast_as_its_paths_together(play: Play) -> None:
    paths, spread = [[0, 1, 4], [0, 2, 4], [0, 3, 4]], np.array([3, 1, 1], np.int32)
    work = over(paths, [3 * 10**9, 0, 0], [3 * 10**9, 10**9, 10**9, 10**9, 3 * 10**9])
    done = play(work._replace(transfers=replace(work.transfers, spread=spread)))
    assert sent(done)[0] == pytest.approx(10**12, abs=2)
    assert done.played.bytes.tolist() == [3 * 10**9, 10**9, 10**9, 10**9, 3 * 10**9]


def test_a_weight_is_what_a_transfer_takes(play: Play) -> None:
    # The first takes 3 for each byte: both get 1 GB/s of a 4 GB/s link.
    work = over([[0], [0]], [10**9, 10**9], [4 * 10**9])
    done = play(work, NO_CHANGES, np.array([3.0, 1.0]))
    assert sent(done) == [10**12, 10**12]
    assert done.played.bytes.tolist() == [4 * 10**9]


def test_a_transfer_waits_for_those_before_it(play: Play) -> None:
    work = over([[0], [0], [0]], [10**9] * 3, [10**9])
    gates = by_dependencies(
        np.array([0, 0, 1, 2]),
        np.array([0, 1], np.int32),
        np.array([0, 1]),
        np.array([0, 0, 250]),
    )
    links = Links(np.array([10**9]), np.array([LATENCY]))
    done = play(Work(links, work.transfers, gates))
    assert sent(done) == [10**12, 2 * 10**12, 3 * 10**12 + LATENCY + 250]


def test_epsilon_joins_what_happens_at_almost_the_same_time(play: Play) -> None:
    n, size = 40, 10**7
    random = np.random.default_rng(5)
    source, target = np.tile(np.arange(8), 5), random.integers(0, 8, n)
    transfers = over_star(source, target, size + random.integers(0, 1000, n), 8)
    work = Work(star(8, RATE, LATENCY), transfers, at_once(n))
    exact, near = play(work), play(work, epsilon=10**6)
    assert near.batches < exact.batches
    assert near.played.makespan == pytest.approx(exact.played.makespan, rel=0.002)
    assert (np.abs(near.played.bytes - exact.played.bytes) <= 1).all()


def random_changes(random: np.random.Generator, links: int) -> Changes:
    count = int(random.integers(0, 4))
    return Changes(
        random.integers(0, 10**8, count),
        random.integers(0, links, count).astype(np.int32),
        random.integers(0, 3, count) * 20 * 10**9,
    )


@given(st.integers(0, 10**6))
def test_both_cores_agree_to_the_picosecond(seed: int) -> None:
    random = np.random.default_rng(seed)
    for _ in range(40):
        work = random_work(random)
        changes = random_changes(random, work.links.rate.size)
        weights = random.random() < 0.3
        weight = random.uniform(0.1, 3, work.transfers.link.size) if weights else None
        epsilon = int(random.integers(0, 2) * random.integers(0, 10**6))
        answers = []
        for core in ("fluid", None):
            with pytest.MonkeyPatch.context() as patch:
                use(patch, core)
                answers.append(fluid(work, changes, weight, epsilon=epsilon))
        same(answers[0].played, answers[1].played)
        assert replace(answers[0], played=answers[1].played) == answers[1]
        assert answers[0].unfair == 0


def test_both_cores_agree_on_a_thousand_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    net = fabric(1024, 32, 32, failed=0.01, seed=0)
    use(monkeypatch, "fluid")
    fast = fluid(halving_doubling(net, 2**26, seed=1))
    slow = twin(halving_doubling(net, 2**26, seed=1), NO_CHANGES, None, 0)
    same(fast.played, slow.played)
    assert fast.unfair == slow.unfair == 0


@given(st.integers(0, 10**6))
def test_every_rate_is_that_of_a_full_solve(seed: int) -> None:
    random = np.random.default_rng(seed)
    solves = 0

    def checked(repair: Repair, begun: list[int], seeds: dict[int, bool]) -> bool:
        nonlocal solves
        fair = settle(repair, begun, seeds)
        flowing = [flow for flow in repair.flows if flow.active]
        start = np.cumsum([0, *(len(flow.hops) for flow in flowing)])
        hops = [hop for flow in flowing for hop in flow.hops]
        full = maxmin(
            start,
            np.array([link for link, _ in hops], np.int32),
            np.array([wire.capacity for wire in repair.wires]),
            np.array([part for _, part in hops]) if repair.weighted else None,
        )
        assert [flow.rate for flow in flowing] == pytest.approx(full.rate.tolist(), rel=1e-6)
        solves += bool(flowing)
        return fair

    settle = Repair.settle
    with pytest.MonkeyPatch.context() as patch:
        use(patch, None)
        patch.setattr(Repair, "settle", checked)
        for _ in range(4):
            work = random_work(random)
            changes = random_changes(random, work.links.rate.size)
            twin(work, changes, None, 0)
    assert solves


@given(st.integers(0, 10**6))
def test_every_byte_crosses_every_link_of_its_path(seed: int) -> None:
    work = random_work(np.random.default_rng(seed), fails=False)
    transfers = replace(work.transfers, spread=None)
    done = twin(work._replace(transfers=transfers), NO_CHANGES, None, 0)
    expected = np.zeros(work.links.rate.size, np.int64)
    for size, path in zip(transfers.size, transfers.path, strict=True):
        expected[transfers.link[transfers.start[path] : transfers.start[path + 1]]] += size
    assert done.played.bytes.tolist() == expected.tolist()
    assert done.played.unfinished == 0


@pytest.mark.parametrize(
    ("changes", "weight", "epsilon", "rule"),
    [
        (([0], [5], [0]), None, 0, "a link's number"),
        (([-1], [0], [0]), None, 0, "not be negative"),
        (([0, 1], [0], [0]), None, 0, "of one length"),
        (([], [], []), [1.0, 1.0], 0, "one for each hop"),
        (([], [], []), [0.0], 0, "must be positive"),
        (([], [], []), None, -1, "epsilon"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(
    changes: tuple[list[int], ...], weight: list[float] | None, epsilon: int, rule: str
) -> None:
    time, link, rate = changes
    weights = None if weight is None else np.array(weight)
    given_ = Changes(np.array(time), np.array(link, np.int32), np.array(rate))
    with pytest.raises(UsageError, match=rule):
        fluid(over([[0]], [1], [1]), given_, weights, epsilon=epsilon)
