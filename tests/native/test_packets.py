"""The packet engine: flow control against what is known of it, and against the message engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from artery.errors import UsageError
from artery.native.gates import at_times
from artery.native.messages import Transport, messages
from artery.native.packets import Control, Ports, packets, twin
from artery.native.work import Links, Played, Transfers, Work, duration
from tests.native.compiled import use
from tests.native.works import over_star, random_work, same, star

Play = Callable[[Work, Ports], Played]
RATE, LATENCY = 50 * 10**9, 500_000
LOSSLESS = Ports(window=2048, control="pause", xoff=400_000, xon=300_000, headroom=150_000)
"""Headroom: what is under way when the pause is heard, 2·latency·rate, and two units. A window
of 8 MB is none: it never stops a source here."""


@pytest.fixture(params=["packets", None], ids=["c", "twin"])
def play(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Play:
    use(monkeypatch, request.param)
    return packets


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch) -> Play:
    use(monkeypatch, "packets")
    return packets


def beside_incast(senders: int, size: int, *, spread: bool = False) -> Work:
    """Return an incast and, as last transfer, a victim that shares one link with it.

    Sender 0 and the victim are on one leaf; its link to the leaf of the receivers carries both.
    The other senders have links of their own. Spread, the victim takes three free links instead.
    """
    up = [[0, 2, 6, 10]] + [[12 + i, 10] for i in range(senders - 1)]
    paths = [*up, [1, 2, 6, 11], [1, 3, 7, 11], [1, 4, 8, 11], [1, 5, 9, 11]]
    first = np.arange(senders + 1, dtype=np.int32)
    spreads = np.ones(senders + 1, np.int32)
    if spread:
        first[senders], spreads[senders] = senders + 1, 3
    transfers = Transfers(
        np.full(senders + 1, size),
        first,
        np.cumsum([0, *map(len, paths)]),
        np.concatenate(paths).astype(np.int32),
        spreads,
    )
    links = Links(np.full(11 + senders, RATE), np.full(11 + senders, LATENCY))
    return Work(links, transfers, at_times(np.zeros(senders + 1, np.int64)))


def share(done: Played, size: int) -> float:
    """Return the victim's rate as a part of the link's."""
    assert done.delivered is not None
    return size / int(done.delivered[-1]) * 1e12 / RATE


@pytest.mark.parametrize("control", ["pause", "credit"])
@pytest.mark.parametrize("senders", [4, 8, 16])
def test_a_stopped_port_holds_the_victim_down(fast: Play, senders: int, control: Control) -> None:
    """A source without a window (RoCE) fills every buffer: the victim gets C/k."""
    size = 20_000_000
    done = fast(beside_incast(senders, size), replace(LOSSLESS, control=control))
    assert share(done, size) == pytest.approx(1 / senders, rel=0.05)
    assert (done.unfinished, done.overflow) == (0, 0)


@pytest.mark.parametrize("senders", [4, 16])
def test_without_flow_control_the_victim_gets_the_rest(fast: Play, senders: int) -> None:
    size = 20_000_000
    done = fast(beside_incast(senders, size), Ports())
    assert share(done, size) > 0.7


def test_spread_over_other_paths_the_victim_is_free(fast: Play) -> None:
    size = 20_000_000
    assert share(fast(beside_incast(8, size, spread=True), LOSSLESS), size) > 0.95


@pytest.mark.parametrize("control", ["pause", "credit"])
@pytest.mark.parametrize(("unit", "window"), [(16_384, 512), (65_536, 128)])
@pytest.mark.parametrize("senders", [4, 8, 16])
def test_segments_tell_the_same_as_packets(
    fast: Play, senders: int, unit: int, window: int, control: Control
) -> None:
    size = 20_000_000
    work = beside_incast(senders, size)
    rules = replace(LOSSLESS, control=control)
    fine = fast(work, rules)
    coarse = fast(work, replace(rules, unit=unit, window=window))
    assert share(coarse, size) == pytest.approx(share(fine, size), rel=0.05)
    assert coarse.makespan == pytest.approx(fine.makespan, rel=0.05)


def test_too_little_headroom_is_told(fast: Play) -> None:
    work = beside_incast(8, 5_000_000)
    assert fast(work, replace(LOSSLESS, headroom=20_000)).overflow > 0


def test_credit_never_fills_more_than_the_buffer(play: Play) -> None:
    """What waits for the incast's link is at most a buffer per port into the switch."""
    senders, buffer = 4, 100_000
    source = np.arange(senders)
    transfers = over_star(source, source * 0 + senders, source * 0 + 10**6, senders + 1)
    gates = at_times(np.zeros(senders, np.int64))
    work = Work(star(senders + 1, RATE, LATENCY), transfers, gates)
    done = play(work, Ports(control="credit", xoff=buffer))
    free = play(work, Ports())
    assert done.queue[-1] <= senders * buffer < free.queue[-1]
    first = duration(4096, RATE) + 2 * LATENCY
    assert done.makespan == senders * duration(10**6, RATE) + first


def test_fair_queues_share_by_transfer(play: Play) -> None:
    """Two transfers from one host and one from another meet: FIFO halves, fair queues third."""
    links = Links(np.array([RATE, RATE, RATE]), np.full(3, LATENCY))
    transfers = Transfers(
        np.array([2_000_000, 2_000_000, 2_000_000]),
        np.array([0, 0, 1], np.int32),
        np.array([0, 2, 4]),
        np.array([0, 2, 1, 2], np.int32),
    )
    work = Work(links, transfers, at_times(np.zeros(3, np.int64)))
    fifo, fair = play(work, Ports(window=4096)), play(work, Ports(window=4096, fair=True))
    assert fifo.delivered is not None
    assert fair.delivered is not None
    each = duration(2_000_000, RATE)
    assert fifo.delivered[2] == pytest.approx(2 * each, rel=0.02)
    assert fair.delivered[2] == pytest.approx(3 * each, rel=0.02)


def test_marking_keeps_queues_short(play: Play) -> None:
    """A packet sent through the incast's link, once it is under way, waits much less."""
    senders, late = 4, 400_000_000
    source = np.arange(senders + 1)
    size = np.array([8_000_000] * senders + [4096])
    transfers = over_star(source, source * 0 + senders + 1, size, senders + 2)
    gates = at_times(np.array([0] * senders + [late]))
    work = Work(star(senders + 2, RATE, LATENCY), transfers, gates)
    plain, marked = play(work, Ports()), play(work, Ports(mark=200_000))
    assert plain.delivered is not None
    assert marked.delivered is not None
    assert marked.delivered[-1] - late < (plain.delivered[-1] - late) / 2
    assert plain.makespan <= marked.makespan < 1.1 * plain.makespan


def test_classes_are_stopped_apart(fast: Play) -> None:
    """The victim in a class of its own passes the stopped incast."""
    size, senders = 20_000_000, 8
    work = beside_incast(senders, size)
    classes = np.zeros(senders + 1, np.int32)
    classes[-1] = 1
    apart = work._replace(transfers=replace(work.transfers, classes=classes))
    assert share(fast(apart, LOSSLESS), size) > 0.8


def test_a_circle_of_full_buffers_locks_up(play: Play) -> None:
    """Three links in a circle, each path over two of them: credits run out everywhere."""
    links = Links(np.full(3, RATE), np.full(3, LATENCY))
    path = np.array([0, 1, 2, 1, 2, 0, 2, 0, 1], np.int32)
    transfers = Transfers(
        np.full(3, 10**6), np.arange(3, dtype=np.int32), np.array([0, 3, 6, 9]), path
    )
    work = Work(links, transfers, at_times(np.zeros(3, np.int64)))
    done = play(work, Ports(control="credit", xoff=8192, window=64))
    assert done.unfinished == 3
    assert play(work, Ports()).unfinished == 0


def random_rules(random: np.random.Generator) -> Ports:
    unit = int(random.choice([4096, 10_000, 65_536]))
    controls: tuple[Control, ...] = ("none", "pause", "credit")
    return Ports(
        unit,
        int(random.integers(1, 20)),
        int(random.choice([0, 4096, 10**9])),
        controls[random.integers(3)],
        int(random.integers(unit, 10 * unit)),
        int(random.integers(0, unit)),
        int(random.integers(0, 3 * unit)),
        fair=bool(random.random() < 0.3),
        mark=int(random.choice([0, 20_000])),
        least=int(random.integers(1, 6)),
    )


def by_link(random: np.random.Generator, rules: Ports, links: int) -> Ports:
    """Return the rules with a buffer of its own at every link."""
    xoff = random.integers(rules.unit, 10 * rules.unit, links)
    return replace(
        rules,
        xoff=xoff,
        xon=xoff - random.integers(0, rules.unit, links),
        headroom=random.integers(0, 3 * rules.unit, links),
    )


def test_the_twin_agrees_to_the_picosecond(fast: Play) -> None:
    random = np.random.default_rng(5)
    held = 0
    for number in range(1000):
        work, rules = random_work(random), random_rules(random)
        if number % 2:
            rules = by_link(random, rules, work.links.rate.size)
        done = fast(work, rules)
        same(done, twin(work, rules))
        held += done.idle is not None and bool(done.idle.any())
    assert held > 20


def test_what_holds_no_bytes_is_sent_too(play: Play) -> None:
    """Messages of 0 bytes behind another in a busy port's queue, and before one."""
    size = np.array([4096, 0, 0, 4096])
    transfers = over_star(np.zeros(4, int), np.ones(4, int), size, 2)
    work = Work(star(2, RATE, LATENCY), transfers, at_times(np.zeros(4, np.int64)))
    assert play(work, Ports()).unfinished == 0


def test_a_held_up_port_says_for_how_long(play: Play) -> None:
    """The link of victim and sender stands still half its time, but for what buffers hold."""
    size, senders = 8_000_000, 4
    done = play(beside_incast(senders, size), replace(LOSSLESS, xoff=50_000, xon=40_000))
    assert done.idle is not None
    moved = duration(2 * size, RATE)
    assert done.idle[6] == pytest.approx(done.makespan - moved, rel=0.06)
    assert not done.idle[[10, 11]].any()


def test_endless_queues_are_the_message_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Queues played one by one, or a free moment per link: the same picosecond."""
    use(monkeypatch, None)
    random = np.random.default_rng(7)
    for _ in range(300):
        work = random_work(random, fails=False)
        transfers = replace(work.transfers, spread=None, size=work.transfers.size + 1)
        links = replace(work.links, latency=work.links.latency + 1)
        work = work._replace(transfers=transfers, links=links)
        rules = replace(random_rules(random), control="none", fair=False, mark=0)
        one = messages(work, Transport(rules.unit, rules.window, rules.packet, rules.least))
        other = packets(work, rules)
        for name in ("sent", "delivered", "opened", "bytes"):
            assert np.array_equal(getattr(one, name), getattr(other, name)), name


@pytest.mark.parametrize(
    ("rules", "text"),
    [
        (lambda: Ports(unit=0), "at least 1"),
        (lambda: Ports(control="pause", xoff=1, xon=2), "xon: 2"),
        (lambda: Ports(control="credit", xoff=100), "must hold a unit"),
        (lambda: Ports(xoff=np.zeros(2, np.int64)).buffers(3), "2 entries, must be 3"),
    ],
)
def test_rules_that_make_no_sense_are_refused(rules: Callable[[], Ports], text: str) -> None:
    with pytest.raises(UsageError, match=text):
        rules()
