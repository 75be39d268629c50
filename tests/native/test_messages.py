"""The message engine against closed forms, and its twin against it, to the picosecond."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from artery.errors import UsageError
from artery.native.gates import at_times, by_dependencies, listed
from artery.native.messages import WHOLE, Transport, messages, twin
from artery.native.work import Links, Played, Transfers, Work, duration
from tests.native.compiled import use
from tests.native.works import over_star, random_work, same, star, steps_over_star

Play = Callable[[Work, Transport], Played]
RATE, LATENCY = 50 * 10**9, 500_000
MESSAGE = Transport(segment=0)


@pytest.fixture(params=["messages", None], ids=["c", "twin"])
def play(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Play:
    use(monkeypatch, request.param)
    return messages


def alone(size: int, hops: int, rates: list[int] | None = None) -> Work:
    links = Links(np.array(rates or [RATE] * hops), np.full(hops, LATENCY))
    path = np.arange(hops, dtype=np.int32)
    transfers = Transfers(np.array([size]), np.zeros(1, np.int32), np.array([0, hops]), path)
    return Work(links, transfers, at_times(np.zeros(1, np.int64)))


def incast(senders: int, size: int) -> Work:
    source = np.arange(senders)
    target = np.full(senders, senders)
    transfers = over_star(source, target, np.full(senders, size), senders + 1)
    gates = at_times(np.zeros(senders, np.int64))
    return Work(star(senders + 1, RATE, LATENCY), transfers, gates)


@pytest.mark.parametrize("size", [0, 1, 65_536, 5 * 10**9])
def test_alone_a_message_takes_its_size_and_every_latency(play: Play, size: int) -> None:
    done = play(alone(size, 4), MESSAGE)
    assert done.makespan == duration(size, RATE) + 4 * LATENCY
    assert done.sent is not None
    assert done.sent[0] == duration(size, RATE)
    assert done.bytes.tolist() == [size] * 4


@pytest.mark.parametrize(("packet", "each"), [(0, 0), (4096, 4096), (WHOLE, 10**6)])
def test_a_switch_keeps_back_one_packet_per_hop(play: Play, packet: int, each: int) -> None:
    done = play(alone(10**6, 3), Transport(0, 1, packet))
    assert done.makespan == duration(10**6, RATE) + 2 * duration(each, RATE) + 3 * LATENCY


@pytest.mark.parametrize("packet", [0, 4096])
def test_the_slowest_link_of_a_path_decides(play: Play, packet: int) -> None:
    rates = [RATE, RATE // 4, RATE]
    done = play(alone(10**6, 3, rates), Transport(0, 1, packet))
    passed_on = duration(packet, RATE) * 2
    assert done.makespan == duration(10**6, RATE // 4) + passed_on + 3 * LATENCY


def test_a_window_smaller_than_the_path_holds_the_rate_down(play: Play) -> None:
    segment, window, count = 10_000, 4, 400
    done = play(alone(segment * count, 2), Transport(segment, window))
    there_and_back = duration(segment, RATE) + 4 * LATENCY
    expected = count // window * there_and_back
    assert done.makespan == pytest.approx(expected, rel=0.01)
    assert expected > 2 * duration(segment * count, RATE)


@pytest.mark.parametrize("transport", [MESSAGE, Transport(), Transport(packet=4096)])
@pytest.mark.parametrize("senders", [2, 8, 32])
def test_incast_shares_the_last_link(play: Play, senders: int, transport: Transport) -> None:
    size = 4_000_000
    done = play(incast(senders, size), transport)
    assert done.makespan == pytest.approx(senders * duration(size, RATE) + 2 * LATENCY, rel=1e-3)
    assert done.bytes.tolist() == [size] * senders + [0] * (senders + 1) + [senders * size]


@pytest.mark.parametrize("transport", [MESSAGE, Transport()])
def test_a_ring_takes_its_closed_form(play: Play, transport: Transport) -> None:
    ranks, size = 16, 16 * 2**20
    source = np.tile(np.arange(ranks), 2 * (ranks - 1))
    step = np.repeat(np.arange(2 * (ranks - 1)), ranks)
    chunk = size // ranks
    work = steps_over_star(
        source, (source + 1) % ranks, step, size=chunk, rate=RATE, latency=LATENCY
    )
    expected = 2 * (ranks - 1) * (duration(chunk, RATE) + 2 * LATENCY)
    assert play(work, transport).makespan == pytest.approx(expected, rel=1e-3)


def halving_doubling(ranks: int, size: int) -> tuple[Work, int]:
    """Return it over a star, and its closed form."""
    levels = ranks.bit_length() - 1
    away = [1 << k for k in range(levels)]
    away = away[::-1] + away
    rank = np.arange(ranks)
    source = np.tile(rank, 2 * levels)
    target = np.concatenate([rank ^ distance for distance in away])
    step = np.repeat(np.arange(2 * levels), ranks)
    sizes = np.array([size * distance // ranks for distance in away])
    work = steps_over_star(source, target, step, size=sizes[step], rate=RATE, latency=LATENCY)
    return work, sum(duration(int(one), RATE) + 2 * LATENCY for one in sizes)


@pytest.mark.parametrize("transport", [MESSAGE, Transport(), Transport(packet=4096)])
def test_halving_and_doubling_takes_its_closed_form(play: Play, transport: Transport) -> None:
    work, expected = halving_doubling(32, 64 * 2**20)
    assert play(work, transport).makespan == pytest.approx(expected, rel=1e-3)


def test_a_tree_takes_depth_times_one_hop(play: Play) -> None:
    """A binary tree broadcast of a message: each level sends twice, one after the other."""
    ranks, size = 15, 10**6
    target = np.arange(1, ranks)
    parent = (target - 1) // 2
    counts = np.where(parent > 0, 1, 0)
    gates = by_dependencies(
        np.concatenate([[0], np.cumsum(counts)]),
        (parent[parent > 0] - 1).astype(np.int32),
        np.ones(int(counts.sum()), np.int32),
        np.zeros(ranks - 1, np.int64),
    )
    transfers = over_star(parent, target, np.full(ranks - 1, size), ranks)
    done = play(Work(star(ranks, RATE, LATENCY), transfers, gates), MESSAGE)
    assert done.makespan == 3 * (2 * duration(size, RATE) + 2 * LATENCY)


def test_slow_ranks_hold_their_successors_back(play: Play) -> None:
    ranks, late = 4, 7_000_000
    source = np.arange(ranks)
    steps = (source, (source + 1) % ranks, source * 0)
    work = steps_over_star(*steps, size=1000, rate=RATE, latency=LATENCY)
    delay = np.zeros(work.gates.count.size, np.int64)
    delay[2] = late
    slow = work._replace(gates=replace(work.gates, delay=delay))
    plain, done = play(work, MESSAGE), play(slow, MESSAGE)
    assert (done.opened - plain.opened)[4:].tolist() == [0, 0, late - 2 * LATENCY, late]


@pytest.mark.parametrize(("other", "makespan"), [(1, 3), (-1, None)])
def test_what_has_not_left_takes_the_other_path_or_stalls(
    play: Play, other: int, makespan: int | None
) -> None:
    """Four segments over a link that fails as the third would leave; the other path is free."""
    segment = 100_000
    each = duration(segment, RATE)
    links = Links(np.full(2, RATE), np.zeros(2, np.int64), np.array([2 * each, 2**62]))
    transfers = Transfers(
        np.array([4 * segment]),
        np.zeros(1, np.int32),
        np.array([0, 1, 2]),
        np.array([0, 1], np.int32),
        other=np.array([other], np.int32),
    )
    done = play(Work(links, transfers, at_times(np.zeros(1, np.int64))), Transport(segment, 8))
    assert done.bytes.tolist() == [2 * segment, 2 * segment if other >= 0 else 0]
    assert (done.unfinished, done.makespan) == ((0, 4 * each) if makespan else (1, 0))
    assert done.delivered is not None
    assert done.delivered[0] == (4 * each if makespan else -1)


def test_segments_spread_over_paths_share_them(play: Play) -> None:
    """Four paths of one fourth each: together as fast as the link into them."""
    segment, count = 10_000, 400
    rates = np.array([RATE, *[RATE // 4] * 4])
    transfers = Transfers(
        np.array([segment * count]),
        np.zeros(1, np.int32),
        np.arange(0, 9, 2),
        np.array([0, 1, 0, 2, 0, 3, 0, 4], np.int32),
        spread=np.array([4], np.int32),
    )
    links = Links(rates, np.zeros(5, np.int64))
    work = Work(links, transfers, at_times(np.zeros(1, np.int64)))
    done = play(work, Transport(segment, 64))
    assert done.makespan == pytest.approx(duration(segment * count, RATE), rel=0.01)
    assert done.bytes[1:].tolist() == [segment * count // 4] * 4


def test_the_twin_agrees_to_the_picosecond(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, "messages")
    random = np.random.default_rng(1)
    stalled = 0
    for _ in range(2000):
        work = random_work(random)
        transport = Transport(
            int(random.choice([0, 1000, 50_000, 65_536])),
            int(random.integers(1, 9)),
            int(random.choice([0, 4096, WHOLE])),
            int(random.integers(1, 6)),
        )
        one = messages(work, transport)
        same(one, twin(work, transport))
        stalled += one.unfinished > 0
    assert stalled > 100


def test_the_twin_agrees_on_thousands_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enough that far events wait in the buckets of the calendar, near and very far ones."""
    use(monkeypatch, "messages")
    random = np.random.default_rng(3)
    hosts, n = 40, 5000
    source, target = random.integers(0, hosts, (2, n))
    size = random.integers(0, 10 ** random.integers(1, 8, n))
    release = random.integers(0, 10 ** random.integers(1, 12, n))
    transfers = over_star(source, target, size, hosts)
    work = Work(star(hosts, RATE, LATENCY), transfers, at_times(release))
    for transport in (MESSAGE, Transport(65_536, 4)):
        same(messages(work, transport), twin(work, transport))


def test_the_twin_agrees_on_1024_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, "messages")
    work, _ = halving_doubling(1024, 2**24)
    same(messages(work, MESSAGE), twin(work, MESSAGE))


def test_a_chain_of_gates_is_the_same_listed(play: Play) -> None:
    work, _ = halving_doubling(8, 10**7)
    chained = play(work, Transport())
    assert work.gates.chain == 8
    assert not work.gates.then.size
    same(play(work._replace(gates=listed(work.gates)), Transport()), chained)


def test_times_are_left_out_where_nobody_asks(play: Play) -> None:
    work = incast(3, 1000)
    done = messages(work, MESSAGE, times=False)
    assert (done.sent, done.delivered) == (None, None)
    assert done.makespan == play(work, MESSAGE).makespan


def test_busy_is_the_time_that_the_bytes_take() -> None:
    done = twin(incast(3, 12_345_678_901), MESSAGE)
    links = incast(3, 1).links
    assert done.busy(links).tolist() == [duration(int(b), RATE) for b in done.bytes]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"link": np.array([0, 9, 1, 4], np.int32)}, "link: 9 found"),
        ({"size": np.array([-1, 1])}, "size: -1 found"),
        ({"path": np.array([0, 2], np.int32)}, "path and spread: 2 found"),
        ({"start": np.array([0, 3, 2])}, "start: must rise"),
        ({"other": np.zeros(3, np.int32)}, "other: 3 entries"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(change: dict[str, np.ndarray], text: str) -> None:
    good = incast(2, 5)
    whole = {name: getattr(good.transfers, name) for name in Transfers.__slots__}
    with pytest.raises(UsageError, match=text):
        messages(good._replace(transfers=Transfers(**{**whole, **change})), MESSAGE)
