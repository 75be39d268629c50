"""The message engine with finite buffers: against packets, and against itself without them."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
import pytest

from artery.errors import UsageError
from artery.native.messages import Buffers, Transport, messages, twin
from artery.native.packets import Ports, packets
from artery.native.work import Work
from tests.native.compiled import use
from tests.native.test_packets import LATENCY, RATE, beside_incast, share
from tests.native.works import random_work, same

ROOM = 400_000
TRANSPORT = Transport(window=64, packet=4096)
"""A window of 2 MiB is more than the buffers hold: only they stop a source, as with RoCE."""


def buffers(work: Work, control: Literal["pause", "credit"], room: int = ROOM) -> Buffers:
    links = work.links
    flying = 2 * links.latency * (links.rate // 10**6) // 10**6 + 2 * TRANSPORT.segment
    full = np.full(links.rate.size, room)
    return Buffers(control, full, full * 3 // 4, flying)


@pytest.mark.parametrize("control", ["pause", "credit"])
@pytest.mark.parametrize("senders", [4, 8, 16])
def test_a_victim_gets_what_packets_give_it(
    senders: int, control: Literal["pause", "credit"], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behind a stopped port C/k, within 5 % of the packet engine with the same buffers."""
    use(monkeypatch, "packets")
    size = 20_000_000
    work = beside_incast(senders, size)
    room = buffers(work, control)
    fine = packets(
        work,
        Ports(window=512, control=control, xoff=room.xoff, xon=room.xon, headroom=room.headroom),
    )
    done = messages(work, TRANSPORT, room)
    assert share(done, size) == pytest.approx(1 / senders, rel=0.05)
    assert share(done, size) == pytest.approx(share(fine, size), rel=0.05)
    assert done.makespan == pytest.approx(fine.makespan, rel=0.05)
    assert (done.unfinished, done.overflow) == (0, 0)


def test_spread_the_victim_is_near_its_fair_share(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, "packets")
    work = beside_incast(8, 20_000_000, spread=True)
    assert share(messages(work, TRANSPORT, buffers(work, "pause")), 20_000_000) > 0.9


def test_marks_keep_buffers_from_filling(monkeypatch: pytest.MonkeyPatch) -> None:
    """Congestion notification (DCQCN's aim): the victim keeps most of what pausing takes."""
    use(monkeypatch, "packets")
    size = 20_000_000
    work = beside_incast(8, size)
    room = buffers(work, "pause")
    paused, marked = (messages(work, TRANSPORT, one) for one in (room, replace(room, mark=100_000)))
    assert paused.idle is not None
    assert marked.idle is not None
    assert share(marked, size) > 2 * share(paused, size)
    assert marked.idle.sum() < paused.idle.sum() / 4


def test_buffers_that_never_fill_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """To the picosecond what endless buffers give, in both forms of the loops."""
    use(monkeypatch, None)
    random = np.random.default_rng(11)
    for _ in range(300):
        work = random_work(random, fails=False)
        links = replace(work.links, latency=work.links.latency + 1)
        size = work.transfers.size + 1
        work = work._replace(links=links, transfers=replace(work.transfers, spread=None, size=size))
        transport = Transport(int(random.choice([1000, 32_768])), int(random.integers(1, 9)))
        wide = buffers(work, "pause", 2**50)
        endless, held = messages(work, transport), messages(work, transport, wide)
        for name in ("sent", "delivered", "opened", "bytes"):
            assert np.array_equal(getattr(endless, name), getattr(held, name)), name
        assert held.idle is not None
        assert not held.idle.any()


def test_the_twin_agrees_to_the_picosecond(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, "packets")
    random = np.random.default_rng(13)
    held = 0
    for number in range(500):
        work = random_work(random)
        transport = Transport(
            int(random.choice([4096, 32_768])),
            int(random.integers(1, 20)),
            int(random.choice([0, 4096])),
            int(random.integers(1, 6)),
        )
        room = buffers(work, "credit" if number % 2 else "pause", 40_000)
        done = messages(work, transport, room)
        same(done, twin(work, transport, room))
        held += done.idle is not None and bool(done.idle.any())
    assert held > 20


def test_messages_that_are_not_cut_are_refused() -> None:
    work = beside_incast(4, 1000)
    with pytest.raises(UsageError, match="must be cut"):
        messages(work, Transport(segment=0), buffers(work, "pause"))


def test_the_rates_of_this_file_are_those_of_the_packets() -> None:
    """Headroom is what flies while a pause travels, there and back, and two segments."""
    room = buffers(beside_incast(4, 1000), "pause")
    assert room.headroom[0] == 2 * LATENCY * RATE // 10**12 + 2 * 32_768
