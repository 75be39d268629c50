"""Token buckets per link: rates, shares, latencies, and a real ring that follows them."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from artery.answers.bench import bench_collectives
from artery.answers.systems import system_of
from artery.core.system import System
from artery.errors import InputError
from artery.runner.executor import pacer as pacer_module
from artery.runner.executor.pacer import Pacer

RATE = 25e6
"""B/s of every network card: 200 Mbit/s."""

SLOW = ("fabric.nic.bandwidth='25 MB/s per direction'", "fabric.nic.efficiency=1")
MS = 1e-3
SIZE, RANKS = 4 * 2**20, 4
MODEL = 2 * (RANKS - 1) / RANKS * SIZE / RATE
"""Seconds of a ring of all cards."""


@pytest.fixture(scope="module")
def system() -> System:
    """Four hosts under one switch, one card each: its host's bus, then the card, then the switch.

    A slower card is 25 MB/s on both of its links; the bus is a thousand times faster.
    """
    return system_of("ethernet-10g:4", SLOW)


@pytest.fixture
def pacer(system: System, tmp_path: Path) -> Iterator[Pacer]:
    made = Pacer.of(system, range(4), tmp_path / "pace")
    yield made
    made.close()


def test_a_message_takes_its_bytes_over_the_rate_and_the_latency_of_its_path(pacer: Pacer) -> None:
    now = time.monotonic() + 1
    left, arrives = pacer.reserve(0, 1, 250_000, now)
    assert left - now == pytest.approx(10 * MS, rel=1e-6)
    assert 14e-6 < arrives - left < 17e-6  # 15 us of the catalog, and buses of 0.35 us


def test_one_behind_the_other_on_one_link_side_by_side_on_two(pacer: Pacer) -> None:
    now = time.monotonic() + 1
    first, _ = pacer.reserve(0, 1, 250_000, now)
    same_sender, _ = pacer.reserve(0, 2, 250_000, now)
    same_receiver, _ = pacer.reserve(3, 1, 250_000, now)
    elsewhere, _ = pacer.reserve(2, 3, 250_000, now)
    back, _ = pacer.reserve(1, 0, 250_000, now)
    assert first - now == pytest.approx(10 * MS)
    assert same_sender - now == pytest.approx(20 * MS)
    assert same_receiver - now == pytest.approx(20 * MS)
    assert elsewhere - now == pytest.approx(10 * MS)
    assert back - now == pytest.approx(10 * MS)  # cables carry both ways at once


def test_pieces_of_two_flows_in_turn_share_a_link_evenly(pacer: Pacer) -> None:
    start = time.monotonic() + 1
    ready = {1: start, 2: start}
    for _ in range(100):
        for target, when in list(ready.items()):
            ready[target], _ = pacer.reserve(0, target, 2500, when)
    # 2 x 250 kB over 25 MB/s; the first ends one piece (0.1 ms) before.
    assert ready[2] - start == pytest.approx(20 * MS)
    assert ready[1] - start == pytest.approx(19.9 * MS)


def test_buckets_are_shared_through_the_file(system: System, tmp_path: Path) -> None:
    one, two = (Pacer.of(system, range(4), tmp_path / "pace") for _ in range(2))
    now = time.monotonic() + 1
    one.reserve(0, 1, 250_000, now, step=3)
    left, _ = two.reserve(0, 2, 250_000, now)
    assert left - now == pytest.approx(20 * MS)
    assert two.arrived(0, 1, 3) == pytest.approx(now + 10 * MS + 15 * 1e-6, abs=2e-6)
    one.close()
    two.close()


def test_idle_links_save_nothing_up(pacer: Pacer) -> None:
    now = time.monotonic() + 1
    pacer.reserve(0, 1, 250_000, now)
    left, _ = pacer.reserve(0, 1, 250_000, now + 5)
    assert left - now - 5 == pytest.approx(10 * MS)


def test_who_is_far_behind_is_slow_himself(pacer: Pacer) -> None:
    now = time.monotonic()
    left, _ = pacer.reserve(0, 1, 250_000, now - 60)
    assert left - now == pytest.approx(10 * MS - pacer_module.BEHIND, abs=50 * MS)


def test_a_rank_alone_on_its_chip_needs_no_link(system: System, tmp_path: Path) -> None:
    made = Pacer.of(system, (2, 2), tmp_path / "pace")
    now = time.monotonic() + 1
    assert made.reserve(0, 1, 10**9, now) == (now, now)
    made.close()


def test_chips_that_are_not_there_are_refused(system: System, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has 4 chips, numbered from 0, take a system of at least"):
        Pacer.of(system, (0, 4), tmp_path / "pace")
    assert not (tmp_path / "pace").exists()


def test_a_ring_takes_two_n_minus_one_in_n_of_the_size(pacer: Pacer) -> None:
    """2(n-1)/n of the size over the rate of a card (Patarasuk and Yuan, 2009), by the clock given.

    What has come is passed on; the latency of the path comes on top of each of the six steps.
    """
    begin = time.monotonic() + 1
    ready = [begin] * RANKS
    for step in range(2 * (RANKS - 1)):
        sent = [pacer.reserve(rank, (rank + 1) % RANKS, SIZE // RANKS, ready[rank], step)
                for rank in range(RANKS)]  # fmt: skip
        ready = [sent[rank - 1][1] for rank in range(RANKS)]
    latency = 2 * (RANKS - 1) * 16e-6
    assert max(ready) - begin == pytest.approx(MODEL + latency, abs=12e-6)


@pytest.mark.real
def test_no_paced_ring_is_faster_than_its_links(capsys: pytest.CaptureFixture[str]) -> None:
    """However late the operating system wakes a rank up: no more than the links let through.

    How much longer it takes depends on who else computes: that is printed, and not judged.
    """
    answer = bench_collectives(
        "all_reduce", ranks=RANKS, sizes=str(SIZE), algorithm="ring", on="ethernet-10g:4",
        overrides=SLOW, paced=True, warmup=1, repeats=5, timeout=120.0,
    )  # fmt: skip
    assert answer is not None
    assert answer.paced == "ethernet-10g"
    assert [row.wrong for row in answer.rows] == [0]
    times = answer.rows[0].times
    with capsys.disabled():
        said = f"{times.median / MODEL:.3f}; load {os.getloadavg()[0]:.1f}"
        sys.stderr.write(f"\npaced ring / model: {said}\n")
    assert times.least >= MODEL
